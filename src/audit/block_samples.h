// The samples at the instructions of a block that each cause an event exactly once.
#pragma once

#include "src/audit/rule.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/instructions/counted.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace skid::code {
class FunctionCode;
}  // namespace skid::code

namespace skid::audit {

struct FunctionBlocks;

/// Samples at an address.
struct SampledAt {
  std::uint64_t samples = 0;
  std::uint64_t offset = 0;  ///< offset of the address in the file
  /// Whether other samples are there, without EXACT_IP although it is needed. The event of such a
  /// sample can be that of any instruction before the address.
  bool has_inexact = false;
};
using SamplesByAddress = std::unordered_map<std::uint64_t, SampledAt>;

/// An event that instructions cause exactly once, and the rule by which a sample identifies the
/// instruction that caused it.
struct EvenEvent {
  events::Counted once = events::Counted::other;  ///< result of events::caused_once_by()
  std::vector<events::Cause> causes;              ///< set for events of loads and stores
  Rule rule = Rule::none;                         ///< sampled or predecessor
};

/// The samples of an instruction, or of a pair that may be fused.
struct PlaceSamples {
  std::uint64_t address = 0;  ///< address of the instruction; of a pair its second half
  std::uint64_t samples = 0;

  friend bool operator==(const PlaceSamples&, const PlaceSamples&) = default;
};

/// Instructions that execute equally often, and the places of those that cause the event.
struct BlockSamples {
  AddressRange range;
  std::vector<PlaceSamples> places;  ///< at least two, ascending

  std::uint64_t samples() const;
  /// Returns the number of samples that each place has if they are even.
  double expected() const {
    return static_cast<double>(samples()) / static_cast<double>(places.size());
  }
  /// Returns the most samples of a place over the expected number; at least 1.
  double largest_ratio() const;
};

/// Blocks with fewer samples are not judged.
inline constexpr std::uint64_t kFewestOfBlock = 10;

struct LoopSamples {
  BlockSamples all;  ///< the places of all blocks of a Loop
  /// Instructions from each place to the next, from the last one to the first of the next
  /// iteration. Empty: other instructions may cause the event, or more than 64 do.
  std::vector<std::uint64_t> distances;
};

struct FunctionSamples {
  /// The blocks that can be judged, ascending; blocks with inexact samples are not among them. The
  /// basic blocks of a loop are one block, if the samples show that they execute equally often.
  std::vector<BlockSamples> blocks;
  std::vector<LoopSamples> loops;  ///< loops with at least two places, disjoint and ascending
};

/// Assigns the samples of an event to the blocks of a function. `samples`: by link-time address.
FunctionSamples samples_of(const code::FunctionCode& code, const FunctionBlocks& blocks,
                           const EvenEvent& event, const SamplesByAddress& samples);

}  // namespace skid::audit
