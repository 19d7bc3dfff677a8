// Collects the blocks of an event, and judges what the order of samples shows about its loops.
// docs/audit.md, "The order of samples", and docs/method.md, "Delay" and "Shadow", have the method.
//
// Example: a loop with five loads at the distances 2, 2, 1, 2, 1 (instructions from each to the
// next, from the last one to the first of the next iteration; block_samples.cpp has its code). A
// PEBS counter does not record the load at which it overflows, but the first one that retires at
// least T instructions later (T: the delay). With T = 2:
//
//   load                             0     1     2     3     4
//   instructions to the next one     2     2     1     2     1
//   after an overflow at it,
//   the recorded load is             1     2     4     4     1
//   share of samples if overflows
//   are at all loads equally often   0    2/5   1/5    0    2/5     LoopShadow::shares
//
// Loads 0 and 3 cannot be sampled with any period.
//
// With a fixed period P the counter restarts when a record is written: after a sample of load a it
// overflows at load (a + P) mod 5. So the next sample can follow from the previous one, and the
// period can lock to the loop. Pairs of consecutive samples show at which loads the counter
// overflowed (SamplePairs), and from these follow the delay T and the expected shares. Only samples
// of one thread on one CPU, with no record lost between them and both in the loop, are a pair
// (take_order()).
#include "src/audit/event_blocks.h"

#include "analysis/delay.h"
#include "analysis/distributions.h"
#include "analysis/event_identity.h"
#include "src/code/function_code.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/instructions/counted.h"
#include "src/measure/event_description.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample_kind.h"
#include "src/support/address.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace skid::audit {
namespace {

using events::Counted;

/// Returns what a delay makes of a loop; nullopt if delays of the range give different shares.
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

}  // namespace

EventBlocks::EventBlocks(const measure::RecordedEvent& event)
    : pebs_period_(measure::events_to_record(event) == 1 ? event.period.value_or(0) : 0) {
  const int level = event.precise.recorded;
  const NotJudged unknown = event.unknown_causes;
  if (unknown != NotJudged::none && unknown != NotJudged::unknown_cause) {
    refuse(unknown);
    return;
  }
  const auto once = events::caused_once_by(*event.entry);
  if (!once) {
    reason_text_ = "not an event that certain instructions cause exactly once";
    return;
  }
  if (level == 0) {
    refuse(NotJudged::level_0);
    return;
  }
  const bool needs_causes = *once == Counted::loads || *once == Counted::stores;
  if (needs_causes && event.causes.empty()) {
    refuse(NotJudged::unknown_cause);
    return;
  }
  const bool most_are_exact = 2 * event.exact >= event.samples;
  even_ = {*once, event.causes, level == 1 && !most_are_exact ? Rule::predecessor : Rule::sampled};
  reason_ = {};
}

void EventBlocks::refuse(NotJudged reason) {
  reason_ = name_of(reason);
  reason_text_ = describe(reason);
}

InBlocks EventBlocks::in_blocks(perfdata::SampleKind kind) const noexcept {
  if (!judges() || kind.mode() != perfdata::CpuMode::user) return InBlocks::no;
  const bool needs_exact = even_.rule == Rule::sampled;
  if (kind.exact() == needs_exact) return InBlocks::judged;
  return needs_exact ? InBlocks::inexact : InBlocks::no;
}

void EventBlocks::add(const std::string& path, symbols::FileIndex file,
                      const FileJudge::Blocks& function, const SamplesByAddress& samples) {
  FunctionSamples judged = samples_of(*function.code, function.blocks, even_, samples);
  if (judged.blocks.empty()) return;
  const std::size_t first = loops_.size();
  for (LoopSamples& loop : judged.loops) loops_.push_back({std::move(loop)});
  const std::size_t end = loops_.size();
  for (BlockSamples& block : judged.blocks) {
    std::size_t loop = loop_of(block.range, first, end);
    if (loop == end) {
      loop = loops_.size();
      loops_.push_back({{block, {}}});
    }
    blocks_.push_back({path, function.function, std::move(block), {}, loop});
  }
  for (std::size_t loop = first; loop < loops_.size(); ++loop) {
    const auto& places = loops_[loop].samples.all.places;
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      std::uint64_t sampled = places[i].address;
      if (even_.rule == Rule::predecessor) {
        sampled += function.code->steps()[*function.code->find(sampled)].length;
      }
      const auto at = samples.find(sampled);
      if (at != samples.end()) numbers_[{file, at->second.offset}] = {loop, i};
    }
  }
}

std::size_t EventBlocks::loop_of(const AddressRange& block, std::size_t first,
                                 std::size_t end) const {
  const auto at = [&](std::size_t i) { return loops_.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto after = std::upper_bound(at(first), at(end), block.begin,
                                      [](std::uint64_t address, const LoopFinding& loop) {
                                        return address < loop.samples.all.range.begin;
                                      });
  if (after == at(first)) return end;
  const auto loop = after - 1;
  if (block.end > loop->samples.all.range.end) return end;
  return static_cast<std::size_t>(loop - loops_.begin());
}

void EventBlocks::take_order() {
  std::ranges::stable_sort(ordered_, {}, &OrderedSample::tid);
  for (LoopFinding& loop : loops_) {
    const auto& distances = loop.samples.distances;
    loop.pairs.distances = distances;
    loop.pairs.iteration = std::accumulate(distances.begin(), distances.end(), std::uint64_t{0});
  }
  std::vector<std::uint32_t> run;
  std::size_t of_loop = 0;
  const auto end_run = [&] {
    if (run.empty()) return;
    analysis::SamplePairs& pairs = loops_[of_loop].pairs;
    for (std::size_t i = 1; i < run.size() && !pairs.distances.empty(); ++i) {
      pairs.add(run[i - 1], run[i], pebs_period_);
    }
    run.clear();
  };
  const OrderedSample* last = nullptr;
  for (const OrderedSample& sample : ordered_) {
    const auto number = numbers_.find(sample.location);
    const bool is_place = number != numbers_.end();
    const bool goes_on = last != nullptr && last->tid == sample.tid &&
                         last->stretch == sample.stretch && is_place &&
                         number->second.loop == of_loop;
    if (!goes_on) end_run();
    last = &sample;
    if (!is_place) continue;
    of_loop = number->second.loop;
    run.push_back(number->second.place);
  }
  end_run();
}

void EventBlocks::judge_loops() {
  if (!ordered_.empty()) take_order();
  for (LoopFinding& loop : loops_) {
    if (!loop.pairs.distances.empty()) loop.delay = analysis::delay_of(loop.pairs, {});
    if (delay_ && !loop.samples.distances.empty()) loop.shadow = shadow_of(loop, *delay_);
  }
}

BlockBias EventBlocks::judge(std::size_t top) {
  if (!blocks_.empty()) {
    judge_loops();
    return judge_blocks(std::move(blocks_), std::move(loops_), top);
  }
  if (judges()) {
    reason_ = "no_block";
    reason_text_ = "no block of code with two instructions to compare has enough samples";
    const auto most =
        std::ranges::max_element(by_reason_, {}, [](const auto& one) { return one.second; });
    if (most != by_reason_.end() && most->first != NotJudged::none) refuse(most->first);
  }
  return {.reason = reason_, .reason_text = reason_text_};
}

}  // namespace skid::audit
