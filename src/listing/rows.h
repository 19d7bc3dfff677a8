// The rows of a listing: instructions of interest with their context, and ranges of the others.
#pragma once

#include "src/events/event.h"
#include "src/listing/listing.h"
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
  address,      ///< a sampled address of which the code is not known
  inside,       ///< addresses that are not the first byte of an instruction
  not_decoded,  ///< addresses past the end of the file, or after the decoded part of a function
};
/// "stretch" is a folded range in JSON and CSV.
SKID_NAMES(RowKind, "instruction", "stretch", "address", "inside", "not_decoded")

struct Row {
  RowKind kind = RowKind::instruction;
  Part part = Part::function;
  AddressRange range;            ///< empty for `inside` and `not_decoded`
  std::size_t instructions = 1;  ///< of a range
  /// The instruction, or the repeated instruction of a range; else empty.
  std::string text;
  /// Destination of a direct jump or call out of the function: "memcpy+0x10"; else empty.
  std::string destination;
  /// Of a target, distances of the first and the last instruction from the trigger.
  std::optional<std::int64_t> first_offset, last_offset;
  std::optional<std::size_t> trigger;         ///< which of a target's, from 0; with `part` trigger
  std::optional<symbols::SourceLine> source;  ///< of an instruction or address
  std::vector<Count> counts;                  ///< by requested column
  /// Verdict on the instruction, or the repeated instruction of a range; nullopt if not judged. By
  /// requested column.
  std::vector<std::optional<events::Verdict>> verdicts;
};

struct Folding {
  /// Instructions that are shown on either side of a target's trigger, or of a sampled instruction.
  std::size_t context = 8;
  bool all = false;                      ///< nothing is folded
  std::set<std::uint64_t> anchors = {};  ///< addresses that are shown as sampled ones are
};

/// The code of some columns (indices of `listing.columns`) as rows by address, followed by the
/// samples that are not at an instruction. The counts of all rows add up to
/// `code.total(column)`.
///
/// In a function, sampled instructions are shown with their context; the ranges between them have
/// no samples. In a target, the triggers are shown with their context, in which consecutive equal
/// instructions without samples become one range; farther away, ranges double in length with the
/// distance and include their samples. The rest of a target's loop is shown where it was sampled.
std::vector<Row> rows(const Listing& listing, const Code& code,
                      std::span<const std::size_t> columns, const Folding& folding);

}  // namespace skid::listing
