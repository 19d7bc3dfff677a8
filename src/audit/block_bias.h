// Whether the samples of an event are spread evenly over instructions that cause it equally often:
// the samples at the instructions of a block that each cause it exactly once, and their bias.
#pragma once

#include "analysis/delay.h"
#include "analysis/evenness.h"
#include "analysis/not_judged.h"
#include "analysis/statistics.h"
#include "src/audit/file_judge.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/instructions/counted.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace skid::measure {
struct RecordedEvent;
}  // namespace skid::measure

namespace skid::perfdata {
class SampleKind;
}  // namespace skid::perfdata

namespace skid::audit {

class FunctionCode;
struct FunctionBlocks;

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
  double expected() const {
    return static_cast<double>(samples()) / static_cast<double>(places.size());
  }
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

/// A delay from overflow to record, in instructions, at least `low` and at most `high`.
struct DelayRange {
  std::uint64_t low = 1, high = 1;
};

/// What a delay from overflow to record makes of a loop (docs/method.md, "Delay").
struct LoopShadow {
  DelayRange delay;            ///< all of which give the same shares
  std::vector<double> shares;  ///< by place, of overflows everywhere; 0: cannot be sampled
  /// By place, for the overflows that occurred; `shares` for a period that is not fixed. Empty: a
  /// fixed period with too few pairs of samples.
  std::vector<double> expected;
  /// The chance of samples that differ as much from `expected`; nullopt: a fixed period.
  std::optional<double> p = {};
  std::optional<double> predicted = {};  ///< share of next samples; of a fixed period

  /// Whether another period would give other shares.
  bool is_locked() const;
};

/// How the samples of a loop, or of a block that is in none, follow each other.
struct LoopFinding {
  LoopSamples samples;
  std::optional<analysis::SampleOrder> order = {};  ///< nullopt: not of a fixed period, or too few
  bool is_locked = false;            ///< by the order; its p is adjusted for all loops
  analysis::SamplePairs pairs = {};  ///< without distances: not of PEBS, or not computed
  std::optional<analysis::Delay> delay = {};
  std::optional<LoopShadow> shadow = {};  ///< where a delay is given
};

/// A block whose samples were judged.
struct BlockFinding {
  std::string module;    ///< path as recorded
  std::string function;  ///< empty: no symbol
  BlockSamples samples;
  analysis::BlockEvenness evenness = {};
  std::size_t loop = 0;  ///< of BlockBias::loops, in which it is
};

/// The bias within the blocks of one event.
struct BlockBias {
  std::optional<analysis::Interval> misplaced = {};  ///< nullopt: no block was judged
  /// Why no block was judged, as a key and in words.
  std::string_view reason = {}, reason_text = {};
  std::uint64_t samples = 0;  ///< in the judged blocks
  std::size_t judged = 0;     ///< blocks
  std::size_t biased = 0;
  std::vector<LoopFinding> loops = {};    ///< of all judged blocks
  std::vector<BlockFinding> blocks = {};  ///< biased ones first, then by misplaced samples
};

/// Judges together at least one block, whose evenness is not yet set. `loops`: of all blocks,
/// judged. `top`: the most blocks to keep.
BlockBias judge_blocks(std::vector<BlockFinding> blocks, std::vector<LoopFinding> loops,
                       std::size_t top);

/// What samples at a place of a file are to the blocks there.
enum class InBlocks : std::uint8_t {
  no,
  judged,
  inexact,  ///< blocks with such samples are not judged
};

/// A sample of an event with a fixed period, in the order of the recording.
struct OrderedSample {
  std::int32_t tid = 0;
  /// Samples with equal numbers are of one CPU, and no record was lost or throttled between them.
  std::uint64_t stretch = 0;
  symbols::FileLocation location;  ///< kNoFile where blocks are not judged by the sample
};

/// Blocks are judged where samples of the event show the instruction that caused it, and it is
/// known which instructions cause it exactly once.
class EventBlocks {
 public:
  EventBlocks() = default;
  explicit EventBlocks(const measure::RecordedEvent& event);

  /// Whether any blocks are judged.
  bool judges() const noexcept { return reason_.empty(); }
  InBlocks in_blocks(perfdata::SampleKind kind) const noexcept;
  /// From overflow to record; nullopt: not known.
  void set_delay(std::optional<DelayRange> delay) { delay_ = delay; }

  /// Counts samples to be judged by their blocks, by what prevents it; none: nothing.
  void count(NotJudged reason, std::uint64_t samples) { by_reason_[reason] += samples; }

  /// Whether the order of samples shows something.
  bool needs_order() const { return has_period_ && judges(); }
  void add_ordered(const OrderedSample& sample) { ordered_.push_back(sample); }

  /// Adds the blocks of a function. `path`, `file`: of its module, as recorded. `samples`: of the
  /// function, by link-time address.
  void add(const std::string& path, symbols::FileIndex file, const FileJudge::Blocks& function,
           const SamplesByAddress& samples);

  /// Judges all blocks together, and by the order of samples their loops, once all functions and
  /// samples are added, which are moved from. `top`: the most blocks to keep.
  BlockBias judge(std::size_t top);

 private:
  struct PlaceNumber {
    std::size_t loop = 0;
    std::uint32_t place = 0;
  };
  std::size_t loop_of(const AddressRange& block, std::size_t first, std::size_t end) const;
  void refuse(NotJudged reason);
  void take_order();
  void judge_loops();

  std::string_view reason_ = "not_once", reason_text_;  ///< why no blocks are judged
  EvenEvent even_;
  bool has_period_ = false;
  std::uint64_t pebs_period_ = 0;  ///< 0: not by PEBS with a fixed period, delays are not computed
  std::optional<DelayRange> delay_;
  std::vector<BlockFinding> blocks_;
  std::vector<LoopFinding> loops_;
  /// Of the places of `loops_` that have samples, by file and offset.
  std::map<symbols::FileLocation, PlaceNumber> numbers_;
  std::map<NotJudged, std::uint64_t> by_reason_;
  std::vector<OrderedSample> ordered_;
};

}  // namespace skid::audit
