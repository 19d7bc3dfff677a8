// The bias of an event's samples within blocks of instructions that execute equally often.
#pragma once

#include "analysis/block_evenness.h"
#include "analysis/delay.h"
#include "analysis/intervals.h"
#include "src/audit/block_samples.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::audit {

/// A delay from overflow to record, in instructions, at least `low` and at most `high`.
struct DelayRange {
  std::uint64_t low = 1, high = 1;
};

/// The samples that a delay from overflow to record lets each place of a loop have
/// (docs/method.md, "Shadow").
struct LoopShadow {
  DelayRange delay;  ///< all delays of the range give the same shares
  /// Shares of the samples, by place, if the counter overflows at all places equally often; 0: the
  /// place cannot be sampled.
  std::vector<double> shares;
  /// Shares by place for the overflows that occurred; equal to `shares` if the period is not fixed.
  /// Empty: the period is fixed, and there are too few pairs of samples.
  std::vector<double> expected;
  /// The chance of samples that differ as much from `expected`; nullopt: the period is fixed.
  std::optional<double> p = {};
  /// The share of next samples that the delay predicts; nullopt: the period is not fixed.
  std::optional<double> predicted = {};

  /// Whether another period would give other shares.
  bool is_locked() const;
};

/// How the samples of a loop, or of a block outside of loops, follow each other.
struct LoopFinding {
  LoopSamples samples;
  /// Without distances: the samples are not those of PEBS, or nothing was computed.
  analysis::SamplePairs pairs = {};
  std::optional<analysis::Delay> delay = {};
  /// nullopt: no delay is given, the distances are unknown, or the delays of the range give
  /// different shares.
  std::optional<LoopShadow> shadow = {};

  /// Whether the order of samples shows that the period locks to the loop: the delay predicts at
  /// least a fifth of what independent samples leave open.
  bool follows_order() const;
  /// Whether another period would give other shares.
  bool is_locked() const { return follows_order() || (shadow && shadow->is_locked()); }
};

/// A block whose samples were judged.
struct BlockFinding {
  std::string module;    ///< path as recorded
  std::string function;  ///< empty: no symbol
  BlockSamples samples;
  analysis::BlockEvenness evenness = {};
  std::size_t loop = 0;  ///< index in BlockBias::loops of the loop that contains the block
};

/// The bias within the blocks of one event.
struct BlockBias {
  std::optional<analysis::Interval> misplaced = {};  ///< nullopt: no block was judged
  /// Why no block was judged, as a key and in words.
  std::string_view reason = {}, reason_text = {};
  std::uint64_t samples = 0;  ///< samples in the judged blocks
  std::size_t judged = 0;     ///< blocks
  std::size_t biased = 0;
  std::vector<LoopFinding> loops = {};    ///< loops of all judged blocks
  std::vector<BlockFinding> blocks = {};  ///< biased ones first, then by misplaced samples
};

/// Judges at least one block, all of them together. Their evenness is not yet set. `loops`: the
/// judged loops of all blocks. `top`: the most blocks to keep.
BlockBias judge_blocks(std::vector<BlockFinding> blocks, std::vector<LoopFinding> loops,
                       std::size_t top);

}  // namespace skid::audit
