// The blocks of one event, collected from all functions and then judged.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/block_bias.h"
#include "src/audit/block_samples.h"
#include "src/audit/file_judge.h"
#include "src/audit/rule.h"
#include "src/symbols/file_location.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid {
struct AddressRange;
}  // namespace skid

namespace skid::measure {
struct RecordedEvent;
}  // namespace skid::measure

namespace skid::perfdata {
class SampleKind;
}  // namespace skid::perfdata

namespace skid::audit {

/// How samples at a place of a file count for the blocks there.
enum class InBlocks : std::uint8_t {
  no,
  judged,
  inexact,  ///< blocks with such samples are not judged
};

/// A sample of an event with a fixed period, in the order of the recording.
struct OrderedSample {
  std::int32_t tid = 0;
  /// Samples with equal numbers were taken on one CPU, and no record was lost or throttled between
  /// them.
  std::uint64_t stretch = 0;
  symbols::FileLocation location;  ///< kNoFile where blocks are not judged by the sample
};

/// Collects the blocks of an event. They are judged if samples of the event identify the
/// instruction that caused it, and it is known which instructions cause it exactly once.
class EventBlocks {
 public:
  EventBlocks() = default;
  explicit EventBlocks(const measure::RecordedEvent& event);

  /// Whether any blocks are judged.
  bool judges() const noexcept { return reason_.empty(); }
  InBlocks in_blocks(perfdata::SampleKind kind) const noexcept;
  /// Sets the delay from overflow to record; nullopt: not known.
  void set_delay(std::optional<DelayRange> delay) { delay_ = delay; }

  /// Counts samples that were to be judged by their blocks, by what prevents it;
  /// NotJudged::none: nothing prevents it.
  void count(NotJudged reason, std::uint64_t samples) { by_reason_[reason] += samples; }

  /// Whether the order of samples is tested: the event is of PEBS, the period is fixed, and blocks
  /// are judged.
  bool needs_order() const { return pebs_period_ != 0 && judges(); }
  void add_ordered(const OrderedSample& sample) { ordered_.push_back(sample); }

  /// Adds the blocks of a function. `path`, `file`: its module, as recorded. `samples`: those of
  /// the function, by link-time address.
  void add(const std::string& path, symbols::FileIndex file, const FileJudge::Blocks& function,
           const SamplesByAddress& samples);

  /// Judges all blocks together, and their loops by the order of samples. To be called once, after
  /// all functions and samples are added, which are moved from. `top`: the most blocks to keep.
  BlockBias judge(std::size_t top);

 private:
  struct PlaceNumber {
    std::size_t loop = 0;
    std::uint32_t place = 0;
  };
  /// Returns the index of the loop that contains a block; `end` if none does. The loops from
  /// `first` to `end` are disjoint and ascending.
  std::size_t loop_of(const AddressRange& block, std::size_t first, std::size_t end) const;
  void refuse(NotJudged reason);
  void take_order();
  void judge_loops();

  std::string_view reason_ = "not_once", reason_text_;  ///< why no blocks are judged
  EvenEvent even_;
  /// The fixed period of a PEBS event; 0: there is none, and delays are not computed.
  std::uint64_t pebs_period_ = 0;
  std::optional<DelayRange> delay_;
  std::vector<BlockFinding> blocks_;
  std::vector<LoopFinding> loops_;
  /// The numbers of the places of `loops_` that have samples, by file and offset.
  std::map<symbols::FileLocation, PlaceNumber> numbers_;
  std::map<NotJudged, std::uint64_t> by_reason_;
  std::vector<OrderedSample> ordered_;
};

}  // namespace skid::audit
