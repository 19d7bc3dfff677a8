#include "src/audit/block_bias.h"

#include "analysis/distributions.h"
#include "analysis/two_sample.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace skid::audit {

using events::Counted;

namespace {

/// nullopt where delays of the range give different shares.
std::optional<LoopShadow> shadow_of(const LoopFinding& loop, const DelayRange& delay) {
  constexpr std::uint64_t kMostDelays = 1000;
  const auto& distances = loop.samples.distances;
  LoopShadow shadow{delay, analysis::shadowed_shares(distances, delay.low), {}};
  if (delay.high - delay.low > kMostDelays) return std::nullopt;
  for (std::uint64_t other = delay.low; other < delay.high; ++other) {
    if (analysis::shadowed_shares(distances, other + 1) != shadow.shares) return std::nullopt;
  }
  if (!loop.pairs.distances.empty()) {
    const auto overflows = analysis::overflow_shares(loop.pairs);
    if (overflows.empty()) return shadow;
    shadow.expected = analysis::shadowed_shares(distances, delay.low, overflows);
    shadow.predicted = analysis::predicted_share(loop.pairs, delay.low);
    return shadow;
  }
  shadow.expected = shadow.shares;
  std::vector<double> seen, expected;
  double rest = 0, all = 0;
  for (std::size_t i = 0; i < shadow.shares.size(); ++i) {
    const auto count = static_cast<double>(loop.samples.all.places[i].samples);
    all += count;
    if (shadow.shares[i] == 0) {
      rest += count;
    } else {
      seen.push_back(count);
      expected.push_back(shadow.shares[i]);
    }
  }
  for (double& count : expected) count *= all - rest;
  constexpr double kFew = 0.01;  // interrupts disturb the delay a little
  if (rest > kFew * all) {
    shadow.p = 0;
  } else {
    shadow.p = expected.size() < 2 ? 1 : analysis::chi_square_test(seen, expected).p;
  }
  return shadow;
}

/// The test of order is of all loops at once.
void find_locks(std::vector<LoopFinding>& loops) {
  std::vector<double> p;
  for (const LoopFinding& loop : loops) {
    if (loop.order) p.push_back(loop.order->p);
  }
  const std::vector<double> adjusted = analysis::holm(p);
  std::size_t next = 0;
  for (LoopFinding& loop : loops) {
    if (loop.order) loop.is_locked = analysis::is_locked(*loop.order, adjusted[next++]);
  }
}

}  // namespace

bool LoopShadow::is_locked() const {
  constexpr double kMost = 0.05;  // of the samples at a place
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i] - shares[i]));
  }
  return predicted.value_or(0) > 0.5 && largest > kMost;
}

BlockRule::BlockRule(const measure::RecordedEvent& event) {
  const measure::EventKnowledge& knowledge = event.knowledge;
  const int level = event.precise.recorded;
  auto known = measure::causes_of(knowledge);
  const auto refuse = [this](NotJudged reason) {
    reason_ = name_of(reason);
    reason_text_ = describe(reason);
  };
  if (known.not_judged != NotJudged::none && known.not_judged != NotJudged::unknown_cause) {
    refuse(known.not_judged);
    return;
  }
  const auto once = events::caused_once_by(knowledge.cpu, *knowledge.event);
  if (!once) {
    reason_text_ = "not an event that certain instructions cause exactly once";
    return;
  }
  if (level == 0) {
    refuse(NotJudged::level_0);
    return;
  }
  const bool needs_causes = *once == Counted::loads || *once == Counted::stores;
  if (needs_causes && known.causes.empty()) {
    refuse(NotJudged::unknown_cause);
    return;
  }
  once_ = *once;
  causes_ = std::move(known.causes);
  const bool most_are_exact = 2 * event.exact >= event.samples;
  rule_ = level == 1 && !most_are_exact ? Rule::predecessor : Rule::sampled;
  reason_ = {};
}

bool BlockRule::takes(perfdata::SampleKind kind) const noexcept {
  return judges() && kind.mode() == perfdata::CpuMode::user &&
         kind.exact() == (rule_ == Rule::sampled);
}

bool BlockRule::lacks_exact(perfdata::SampleKind kind) const noexcept {
  return judges() && kind.mode() == perfdata::CpuMode::user && rule_ == Rule::sampled &&
         !kind.exact();
}

BlockBias judge_blocks(std::vector<BlockFinding> blocks, std::vector<LoopFinding> loops,
                       const BlockRule& rule, NotJudged want, std::optional<DelayRange> delay,
                       std::size_t top) {
  BlockBias bias;
  bias.reason = rule.reason();
  bias.reason_text = rule.reason_text();
  if (blocks.empty()) {
    if (rule.judges() && want != NotJudged::none) {
      bias.reason = name_of(want);
      bias.reason_text = describe(want);
    } else if (rule.judges()) {
      bias.reason = "no_block";
      bias.reason_text = "no block of code with two instructions to compare has enough samples";
    }
    return bias;
  }
  std::vector<std::vector<std::uint64_t>> counts;
  for (const BlockFinding& block : blocks) {
    auto& of_block = counts.emplace_back();
    const double expected = block.samples.expected();
    for (const PlaceSamples& place : block.samples.places) {
      of_block.push_back(place.samples);
      bias.ratios.push_back(static_cast<double>(place.samples) / expected);
    }
    bias.samples += block.samples.samples();
  }
  const analysis::ProfileEvenness evenness = analysis::evenness_of_blocks(counts);
  bias.misplaced = evenness.misplaced;
  bias.judged = blocks.size();
  bias.biased = evenness.biased;
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].evenness = evenness.blocks[i];
  for (LoopFinding& loop : loops) {
    if (!loop.pairs.distances.empty()) loop.delay = analysis::delay_of(loop.pairs, {});
    if (delay && !loop.samples.distances.empty()) loop.shadow = shadow_of(loop, *delay);
  }
  find_locks(loops);
  bias.loops = std::move(loops);
  std::ranges::stable_sort(blocks, [](const BlockFinding& a, const BlockFinding& b) {
    return std::tuple(b.evenness.is_biased, b.evenness.excess()) <
           std::tuple(a.evenness.is_biased, a.evenness.excess());
  });
  if (blocks.size() > top) blocks.resize(top);
  bias.blocks = std::move(blocks);
  return bias;
}

}  // namespace skid::audit
