// Recordings with samples on chosen instructions of any binary, described in JSON:
//   {"binary": FILE, "seed": N, "machine": as in a model, "buffers": as in a model, "events": [
//     {"event": NAME, "type": N, "config": N, "period": N,
//      or "breakpoint": {"address": N, "access": "rw", "w" or "x"} for type and config,
//      "levels": [{"level": 0 to 3, "kernel": share of samples in kernel mode, "places": [
//        {"symbol": NAME, "offset": N, or "address": N (link-time), or "category": NAME of
//         docs/instructions.md with "instructions": N of them and "function": NAME,
//         "samples": N, "exact": EXACT_IP, true at levels 2 and 3,
//         "branches": [[from, to], ...], link-time addresses, newest branch first}]}]}]}
// N may be "0x" and hexadecimal digits for "config", "address" and "offset". Where one place of a
// level has branches, all samples of the level have a branch stack.
#pragma once

#include "src/events/event.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/branch_entry.h"
#include "src/perfdata/recording_writer.h"
#include "src/perfdata/sample.h"
#include "src/support/file.h"
#include "src/synth/model.h"
#include "tests/support/standard.h"

namespace skid::test {

/// Samples at one instruction, or at some of a category.
struct Place {
  std::string symbol;  ///< empty: `address` or `category`
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> address;  ///< link-time
  std::optional<instructions::Category> category;
  std::string function;            ///< whose instructions of the category; empty: of any
  std::uint64_t instructions = 1;  ///< how many of the category, chosen at random
  std::uint64_t samples = 0;       ///< of all of them together
  bool exact = false;
  std::vector<perfdata::BranchEntry> branches;  ///< link-time addresses, newest first
};

struct PlacedLevel {
  int level = 0;
  double kernel = 0;  ///< share of all samples that are in kernel mode, below 1
  std::vector<Place> places;
};

struct PlacedEvent {
  std::string name;  ///< without level and modifiers
  std::string modifiers;
  perfdata::Attribute attribute;  ///< type, config and what a breakpoint has
  std::uint64_t period = 0;
  std::vector<PlacedLevel> levels;
};

struct Placement {
  std::uint64_t seed = 1;
  std::filesystem::path binary;
  machine::Machine machine;
  synth::Buffers buffers;
  std::vector<PlacedEvent> events;
};

/// Reads a placement. A relative path of its binary starts at `directory`. Throws exceptions of
/// nlohmann::json and Error for one that is not as above.
Placement parse_placement(const std::string& text, const std::filesystem::path& directory);

/// Samples that were put at one address, with the same branches.
struct PlacedSamples {
  std::uint64_t address = 0;  ///< link-time; of kernel samples as recorded
  std::uint64_t ip = 0;       ///< as recorded
  std::string symbol;         ///< empty: none
  std::uint64_t offset = 0;
  bool kernel = false;
  bool exact = false;
  std::uint64_t samples = 0;
  std::vector<perfdata::BranchEntry> branches;  ///< of each of them, as recorded
  instructions::Categories categories;          ///< of the instruction alone
  /// By the catalogue, of the instruction, and of the other one where it is half of a macro-fused
  /// pair. nullopt where the sample is no evidence that it caused the event (below level 2, not
  /// exact, in the kernel), where no catalogue covers the CPU, where nothing decodes, and where the
  /// instruction that a jump may be fused with is before its symbol.
  std::optional<instructions::Verdict> verdict;
};

struct PlacedTruth {
  std::string event, requested;
  perfdata::Attribute attribute;  ///< as recorded
  std::uint64_t samples = 0;
  std::vector<PlacedSamples> places;
};

/// Writes the recording of a placement. `file`: open for writing; `path` names it in errors. Throws
/// Error where the binary does not have the places, or the file cannot be written.
std::vector<PlacedTruth> write_placement(const Placement& placement, FileDescriptor file,
                                         const std::filesystem::path& path,
                                         const perfdata::WritingChoices& choices);

/// The truth of the recording, as the text of a JSON file.
std::string placement_truth_json(const Placement& placement, const std::string& file,
                                 const std::vector<PlacedTruth>& truth);

}  // namespace skid::test
