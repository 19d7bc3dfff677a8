// The blocks and loops with samples of an event, collected function by function.
#pragma once

#include "src/audit/block_bias.h"
#include "src/audit/block_samples.h"
#include "src/audit/event_rule.h"
#include "src/audit/file_judge.h"
#include "src/audit/ordered_samples.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skid::audit {

class EventBlocks {
 public:
  EventBlocks() = default;
  /// `pebs_period`: of an event with a fixed period whose records are written by PEBS; 0: delays
  /// are not computed. `delay`: as for judge_blocks().
  EventBlocks(BlockRule rule, std::uint64_t pebs_period, std::optional<DelayRange> delay)
      : rule_(std::move(rule)), pebs_period_(pebs_period), delay_(delay) {}

  const BlockRule& rule() const { return rule_; }

  /// Counts samples to be judged by their blocks, by what prevents it; none: nothing.
  void count(NotJudged reason, std::uint64_t samples) { by_reason_[reason] += samples; }

  /// Adds the blocks of a function. `path`, `file`: of its module, as recorded. `samples`: of the
  /// function, by link-time address.
  void add(const std::string& path, symbols::FileIndex file, const FileJudge::Blocks& function,
           const SamplesByAddress& samples);

  /// Adds what the order of samples shows of the loops, once all functions are added.
  void add_order(std::span<const OrderedSample> samples);

  /// Judges what was added, which is moved from. `top`: as for judge_blocks().
  BlockBias judge(std::size_t top);

 private:
  struct PlaceNumber {
    std::size_t loop = 0;
    std::uint32_t place = 0;
  };

  std::size_t loop_of(const AddressRange& block, std::size_t first, std::size_t end) const;

  BlockRule rule_;
  std::uint64_t pebs_period_ = 0;
  std::optional<DelayRange> delay_;
  std::vector<BlockFinding> blocks_;
  std::vector<LoopFinding> loops_;
  /// Of the places of `loops_` that have samples, by file and offset.
  std::map<std::pair<symbols::FileIndex, std::uint64_t>, PlaceNumber> numbers_;
  std::map<NotJudged, std::uint64_t> by_reason_;
};

}  // namespace skid::audit
