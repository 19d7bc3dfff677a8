// The samples of an event at the instructions of a block that each cause it exactly once.
#pragma once

#include "src/audit/event_rule.h"
#include "src/audit/file_code.h"
#include "src/events/causes.h"
#include "src/events/event.h"
#include "src/support/address.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace skid::audit {

/// Samples at an address.
struct SampledAt {
  std::uint64_t samples = 0;
  std::uint64_t offset = 0;  ///< of the address, in the file
  /// Whether there are other samples, without EXACT_IP where it is needed. They can be of any
  /// instruction before.
  bool has_inexact = false;
};
using SamplesByAddress = std::unordered_map<std::uint64_t, SampledAt>;

/// An event that instructions cause exactly once, and how its samples show which one did.
struct EvenEvent {
  events::Counted once = events::Counted::other;  ///< of events::caused_once_by()
  std::vector<events::Cause> causes;              ///< of loads and stores
  Rule rule = Rule::none;                         ///< sampled or predecessor
};

/// An instruction, or a pair that may be fused.
struct PlaceSamples {
  std::uint64_t address = 0;  ///< of a pair its second half, which is sampled
  std::uint64_t samples = 0;

  friend bool operator==(const PlaceSamples&, const PlaceSamples&) = default;
};

/// Instructions that execute equally often, and the places of those that cause the event.
struct BlockSamples {
  AddressRange range;
  std::vector<PlaceSamples> places;  ///< at least two, ascending

  std::uint64_t samples() const;
  /// Samples that each place has if they are even.
  double expected() const;
  /// The most samples of a place over the expected number; at least 1.
  double largest_ratio() const;
};

/// Blocks with fewer samples are not judged.
inline constexpr std::uint64_t kFewestOfBlock = 10;

struct LoopSamples {
  BlockSamples all;  ///< of all blocks of a Loop
  /// Instructions from each place to the next, from the last one to the first of the next
  /// iteration. Empty: other instructions may cause the event, or more than 64 do.
  std::vector<std::uint64_t> distances;
};

struct FunctionSamples {
  /// Those that can be judged, ascending; not those with inexact samples. The basic blocks of a
  /// loop are one, if the samples show that they execute equally often.
  std::vector<BlockSamples> blocks;
  std::vector<LoopSamples> loops;  ///< with at least two places, disjoint and ascending
};
FunctionSamples samples_of(const FunctionCode& code, const FunctionBlocks& blocks,
                           const EvenEvent& event, const SamplesByAddress& samples);

}  // namespace skid::audit
