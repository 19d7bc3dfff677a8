// The rows that show sampled code: instructions of interest with their context, and ranges of the
// others.
#pragma once

#include "src/instructions/counted.h"
#include "src/listing/sampled_code.h"
#include "src/support/address.h"
#include "src/support/names.h"
#include "src/symbols/location.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace skid::listing {

/// The part of a target.
enum class Part { function, lead_in, trigger, runway, censored, other_trigger, loop };
SKID_NAMES(Part, "function", "lead_in", "trigger", "runway", "censored", "other_trigger", "loop")

enum class RowKind {
  instruction,
  folded,       ///< a range of instructions
  address,      ///< a sampled address whose code is not known
  inside,       ///< addresses that are not the first byte of an instruction
  not_decoded,  ///< addresses past the end of the file, or after the decoded part of a function
};
/// "stretch" is a folded range in JSON and CSV.
SKID_NAMES(RowKind, "instruction", "stretch", "address", "inside", "not_decoded")

/// A row of a listing.
struct Row {
  RowKind kind = RowKind::instruction;
  Part part = Part::function;
  AddressRange range;            ///< empty for `inside` and `not_decoded`
  std::size_t instructions = 1;  ///< number of instructions in the range
  /// The instruction, or the repeated instruction of a range; else empty.
  std::string text;
  /// Destination of a direct jump or call out of the function: "memcpy+0x10"; else empty.
  std::string destination;
  /// Distances of the first and the last instruction from the trigger; nullopt outside of targets.
  std::optional<std::int64_t> first_offset, last_offset;
  std::optional<std::size_t> trigger;         ///< number of a target's trigger, from 0
  std::optional<symbols::SourceLine> source;  ///< source of an instruction or address
  std::vector<Count> counts;                  ///< samples by requested column
  /// Verdict on the instruction, or the repeated instruction of a range, by requested column;
  /// nullopt if not judged.
  std::vector<std::optional<instructions::Verdict>> verdicts;
};

/// Which instructions are shown one by one.
struct Folding {
  /// Instructions that are shown on either side of a target's trigger, or of a sampled instruction.
  std::size_t context = 8;
  bool all = false;                      ///< nothing is folded
  std::set<std::uint64_t> anchors = {};  ///< addresses that are shown like sampled ones
};

/// Returns the code of some columns (indices of `listing.columns`) as rows by address, followed by
/// the samples that are not at an instruction. The counts of all rows add up to
/// `code.total(column)`.
///
/// In a function, sampled instructions are shown with their context; the ranges between them have
/// no samples. In a target, the triggers are shown with their context, in which consecutive equal
/// instructions without samples become one range; farther away, ranges double in length with the
/// distance and include their samples. The rest of a target's loop is shown where it was sampled.
std::vector<Row> rows(const Listing& listing, const Code& code,
                      std::span<const std::size_t> columns, const Folding& folding);

}  // namespace skid::listing
