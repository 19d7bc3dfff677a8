// The blocks and loops with samples of an event, collected function by function, and their bias.
#pragma once

#include "src/audit/block_bias.h"
#include "src/audit/file_judge.h"
#include "src/measure/event_description.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::audit {

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
