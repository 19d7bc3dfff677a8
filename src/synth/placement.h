// Samples on chosen instructions of any binary. docs/synth.md tells the JSON that chooses them.
#pragma once

#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/recording_writer.h"
#include "src/support/file.h"
#include "src/synth/model.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::synth {

inline constexpr const char* kPlacementSchema = "skidscan.placement/1";
inline constexpr const char* kPlacementTruthSchema = "skidscan.placement-truth/1";

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
  Buffers buffers;
  std::vector<PlacedEvent> events;
};

/// Reads a placement; its binary is looked for beside it where its path is relative. Throws
/// InputError naming the file, the key, what was found and what is allowed.
Placement read_placement(const std::filesystem::path& path);
/// The same of a text; `name` stands for the file in messages.
Placement parse_placement(std::string_view text, const std::string& name,
                          const std::filesystem::path& directory);

/// Samples that were put at one address.
struct PlacedSamples {
  std::uint64_t address = 0;  ///< link-time; of kernel samples as recorded
  std::uint64_t ip = 0;       ///< as recorded
  std::string symbol;         ///< empty: none
  std::uint64_t offset = 0;
  bool kernel = false;
  bool exact = false;
  std::uint64_t samples = 0;
  instructions::Categories categories;  ///< of the instruction alone
  /// By the catalogue, of the instruction, and of the other one where it is half of a macro-fused
  /// pair. nullopt where the sample does not say that it caused the event (below level 2, not
  /// exact, in the kernel), where the CPU is in no catalogue, where nothing decodes, and where what
  /// a jump may be fused with lies in front of its symbol.
  std::optional<events::Verdict> verdict;
};

struct PlacedTruth {
  std::string event, requested;
  perfdata::Attribute attribute;  ///< as recorded
  std::uint64_t samples = 0;
  std::vector<PlacedSamples> places;
};

/// Writes the recording of a placement. `file`: open for writing; `path` names it in errors. Throws
/// Error where the binary has not what is asked for, or the file cannot be written.
std::vector<PlacedTruth> write_placement(const Placement& placement, FileDescriptor file,
                                         const std::filesystem::path& path,
                                         const perfdata::WritingChoices& choices);

/// What is true of it, as the text of a file.
std::string placement_truth_json(const Placement& placement, const std::string& file,
                                 const std::vector<PlacedTruth>& truth);

}  // namespace skid::synth
