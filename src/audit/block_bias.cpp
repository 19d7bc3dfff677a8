#include "src/audit/block_bias.h"

#include "analysis/distributions.h"
#include "analysis/measurement.h"
#include "analysis/two_sample.h"
#include "src/audit/file_code.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace skid::audit {
namespace {

using events::Counted;
using instructions::Category;
using instructions::Flow;

/// How many events each execution of an instruction causes.
enum class Events { none, one, unknown };

Events events_of_access(const Step& step, bool accesses, const EvenEvent& event) {
  const bool may_cause = accesses || step.categories.contains(Category::prefetch);
  const auto verdict = events::verdict_on(event.causes, step.categories);
  if (!may_cause) {
    return verdict == events::Verdict::never || !step.accesses_memory() ? Events::none
                                                                        : Events::unknown;
  }
  const bool is_certain = verdict == events::Verdict::can && !step.is_conditional &&
                          !step.categories.contains(Category::str_load) &&
                          !step.categories.contains(Category::io);
  return is_certain ? Events::one : Events::unknown;
}

Events events_of(const Step& step, const EvenEvent& event) {
  const bool is_branch = step.categories.contains(Category::branch) && step.flow != Flow::next;
  const bool is_jcc = can_be_second(step.fusion);
  switch (event.once) {
    case Counted::instructions:
      return Events::one;
    case Counted::loads:
      return events_of_access(step, step.loads, event);
    case Counted::stores:
      return events_of_access(step, step.stores, event);
    case Counted::branches:
      return is_branch ? Events::one : Events::none;
    case Counted::conditional_branches:
      // Others than Jcc: LOOP, JRCXZ.
      return is_jcc ? Events::one : is_branch ? Events::unknown : Events::none;
    case Counted::taken_branches:
      if (step.flow == Flow::jump) return Events::one;
      return is_branch ? Events::unknown : Events::none;
    default:
      return Events::unknown;
  }
}

/// Of the steps [begin, end).
AddressRange range_of(const FunctionCode& code, std::size_t begin, std::size_t end) {
  return {code.address_of(begin), code.address_of(end - 1) + code.steps()[end - 1].length};
}

/// The certain places of a basic block.
struct Part {
  std::vector<PlaceSamples> places;
  std::vector<std::size_t> steps;  ///< of the places
  bool is_complete = true;         ///< no other instruction may cause the event
  std::uint64_t samples = 0;
};

struct Counter {
  const FunctionCode& code;
  const EvenEvent& event;
  const SamplesByAddress& samples;

  /// nullopt: instructions done in parts cause several events, or are sampled between two parts. Or
  /// the block has inexact samples: those of its last instructions, if it is longer than what the
  /// kernel decodes (PEBS_FIXUP_SIZE in arch/x86/events/intel/ds.c).
  std::optional<Part> count(const BasicBlock& block) const {
    Part part;
    for (std::size_t i = block.begin; i < block.end;) {
      const bool is_pair = i + 1 < block.end && is_pair_at(i);
      if (code.steps()[i].is_in_parts || has_inexact_at(i)) return std::nullopt;
      if (is_pair && has_inexact_at(i + 1)) return std::nullopt;
      const std::size_t next = i + (is_pair ? 2 : 1);
      if (const auto place = place_of(block, i, is_pair)) {
        part.places.push_back(*place);
        part.steps.push_back(next - 1);
        part.samples += place->samples;
      } else {
        for (std::size_t step = i; step < next; ++step) {
          part.is_complete &= events_of(code.steps()[step], event) == Events::none;
        }
      }
      i = next;
    }
    return part;
  }

  bool is_pair_at(std::size_t first) const {
    return fuses(code.steps()[first].fusion, code.steps()[first + 1].fusion);
  }

  std::optional<PlaceSamples> place_of(const BasicBlock& block, std::size_t i, bool is_pair) const {
    const auto& steps = code.steps();
    const Events first = events_of(steps[i], event);
    if (is_pair) {
      // One sample may stand for both events of a pair that is fused and causes two.
      const Events second = events_of(steps[i + 1], event);
      const bool is_one = (first == Events::one && second == Events::none) ||
                          (first == Events::none && second == Events::one);
      if (!is_one || event.rule != Rule::sampled) return std::nullopt;
      return PlaceSamples{code.address_of(i + 1), samples_at(i) + samples_at(i + 1)};
    }
    // Half of a pair whose other half is in another block, or before the function.
    const bool may_be_second =
        can_be_second(steps[i].fusion) && i == block.begin && (i == 0 || is_pair_at(i - 1));
    const bool may_be_first = i + 1 == block.end && i + 1 < steps.size() && is_pair_at(i);
    if (first != Events::one || may_be_first || may_be_second) return std::nullopt;
    if (event.rule == Rule::sampled) return PlaceSamples{code.address_of(i), samples_at(i)};
    // The next instruction was sampled, which must be in the block.
    if (i + 1 == block.end) return std::nullopt;
    return PlaceSamples{code.address_of(i), samples_at(i + 1)};
  }

  std::uint64_t samples_at(std::size_t index) const {
    const auto found = samples.find(code.address_of(index));
    return found == samples.end() ? 0 : found->second.samples;
  }

  bool has_inexact_at(std::size_t index) const {
    const auto found = samples.find(code.address_of(index));
    return found != samples.end() && found->second.has_inexact;
  }
};

using Parts = std::span<const std::optional<Part>>;

/// Consecutive parts as one; nullopt where one of them is.
std::optional<Part> joined(Parts parts, std::size_t first, std::size_t last) {
  Part all;
  for (const auto& part : parts.subspan(first, last + 1 - first)) {
    if (!part) return std::nullopt;
    all.places.insert(all.places.end(), part->places.begin(), part->places.end());
    all.steps.insert(all.steps.end(), part->steps.begin(), part->steps.end());
    all.is_complete &= part->is_complete;
    all.samples += part->samples;
  }
  return all;
}

/// A loop of the steps [begin, end).
LoopSamples loop_samples(const FunctionCode& code, std::size_t begin, std::size_t end, Part& part) {
  constexpr std::size_t kMostPlaces = 64;  // time and memory grow with its square
  LoopSamples loop{{range_of(code, begin, end), std::move(part.places)}, {}};
  const auto& steps = part.steps;
  if (!part.is_complete || steps.size() > kMostPlaces) return loop;
  for (std::size_t i = 1; i < steps.size(); ++i) loop.distances.push_back(steps[i] - steps[i - 1]);
  loop.distances.push_back(steps.front() - begin + end - steps.back());
  return loop;
}

/// The most samples that each place would have if `blocks` were one block; infinite where unknown.
double executions_of(const std::optional<std::vector<std::size_t>>& blocks, Parts parts) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (!blocks) return kUnknown;
  double sum = 0;
  for (const std::size_t index : *blocks) {
    const auto& part = parts[index];
    if (!part || part->places.empty()) return kUnknown;
    // The upper end of an interval for the expected number. It is 3 where no sample was seen.
    const auto seen = static_cast<double>(part->samples);
    sum += (seen + 2 * std::sqrt(seen) + 3) / static_cast<double>(part->places.size());
  }
  return sum;
}

/// Whether the blocks of a loop execute equally often, but for what the samples cannot show.
bool is_even(const Loop& loop, Parts parts) {
  double places = 0, samples = 0;
  for (std::size_t i = loop.first; i <= loop.last; ++i) {
    if (!parts[i]) continue;
    places += static_cast<double>(parts[i]->places.size());
    samples += static_cast<double>(parts[i]->samples);
  }
  const double in = executions_of(loop.sources, parts);
  const double out = executions_of(loop.destinations, parts);
  // A shadow can starve either of them; where one is unknown, the other is relied on.
  const double most = std::isinf(in) || std::isinf(out) ? std::min(in, out) : std::max(in, out);
  // A largest difference d between counts adds at most n (d / m)^2 / 4 to Pearson's statistic of n
  // samples with m a place: up to 1/4 is allowed.
  return most <= std::sqrt(samples) / places;
}

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

}  // namespace

std::uint64_t BlockSamples::samples() const {
  return std::accumulate(
      places.begin(), places.end(), std::uint64_t{0},
      [](std::uint64_t sum, const PlaceSamples& place) { return sum + place.samples; });
}

double BlockSamples::largest_ratio() const {
  const auto most =
      std::ranges::max_element(places, {}, [](const auto& one) { return one.samples; });
  return static_cast<double>(most->samples) / expected();
}

FunctionSamples samples_of(const FunctionCode& code, const FunctionBlocks& blocks,
                           const EvenEvent& event, const SamplesByAddress& samples) {
  const Counter counter{code, event, samples};
  const std::span<const BasicBlock> basic = blocks.basic;
  std::vector<std::optional<Part>> parts;
  parts.reserve(basic.size());
  for (const BasicBlock& block : basic) parts.push_back(counter.count(block));
  FunctionSamples found;
  auto loop = blocks.loops.begin();
  for (std::size_t first = 0, last = 0; first < parts.size(); first = last + 1) {
    last = first;
    if (loop != blocks.loops.end() && loop->first == first) {
      if (is_even(*loop, parts)) last = loop->last;
      ++loop;
    }
    auto part = joined(parts, first, last);
    if (!part || part->places.size() < 2 || part->samples < kFewestOfBlock) continue;
    found.blocks.push_back(
        {range_of(code, basic[first].begin, basic[last].end), std::move(part->places)});
  }
  for (const Loop& one : blocks.loops) {
    if (auto part = joined(parts, one.first, one.last); part && part->places.size() >= 2) {
      found.loops.push_back(loop_samples(code, basic[one.first].begin, basic[one.last].end, *part));
    }
  }
  return found;
}

bool LoopShadow::is_locked() const {
  constexpr double kMost = 0.05;  // of the samples at a place
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i] - shares[i]));
  }
  return predicted.value_or(0) > 0.5 && largest > kMost;
}

EventBlocks::EventBlocks(const measure::RecordedEvent& event)
    : has_period_(event.period.value_or(0) > 0),
      pebs_period_(measure::is_pebs(event) ? event.period.value_or(0) : 0) {
  const measure::EventKnowledge& knowledge = event.knowledge;
  const int level = event.precise.recorded;
  auto known = measure::causes_of(knowledge);
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
  const bool most_are_exact = 2 * event.exact >= event.samples;
  even_ = {*once, std::move(known.causes),
           level == 1 && !most_are_exact ? Rule::predecessor : Rule::sampled};
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

/// The loop that contains a block; `end` if none does. The loops from `first` to `end` are disjoint
/// and ascending.
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
  std::vector<analysis::SampleOrderTest> tests(loops_.size());
  for (LoopFinding& loop : loops_) {
    if (pebs_period_ == 0) break;
    const auto& distances = loop.samples.distances;
    loop.pairs.distances = distances;
    loop.pairs.iteration = std::accumulate(distances.begin(), distances.end(), std::uint64_t{0});
  }
  std::vector<std::uint32_t> run;
  std::size_t of_loop = 0;
  const auto end_run = [&] {
    if (run.empty()) return;
    tests[of_loop].add(run);
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
  for (std::size_t i = 0; i < tests.size(); ++i) loops_[i].order = tests[i].finish();
}

void EventBlocks::judge_loops() {
  if (!ordered_.empty()) take_order();
  std::vector<double> p;
  for (LoopFinding& loop : loops_) {
    if (!loop.pairs.distances.empty()) loop.delay = analysis::delay_of(loop.pairs, {});
    if (delay_ && !loop.samples.distances.empty()) loop.shadow = shadow_of(loop, *delay_);
    if (loop.order) p.push_back(loop.order->p);
  }
  // The test of order is of all loops at once.
  const std::vector<double> adjusted = analysis::holm(p);
  std::size_t next = 0;
  for (LoopFinding& loop : loops_) {
    if (loop.order) loop.is_locked = analysis::is_locked(*loop.order, adjusted[next++]);
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

BlockBias judge_blocks(std::vector<BlockFinding> blocks, std::vector<LoopFinding> loops,
                       std::size_t top) {
  BlockBias bias{.judged = blocks.size(), .loops = std::move(loops)};
  std::vector<std::vector<std::uint64_t>> counts;
  for (const BlockFinding& block : blocks) {
    auto& of_block = counts.emplace_back();
    for (const PlaceSamples& place : block.samples.places) of_block.push_back(place.samples);
    bias.samples += block.samples.samples();
  }
  const analysis::ProfileEvenness evenness = analysis::evenness_of_blocks(counts);
  bias.misplaced = evenness.misplaced;
  bias.biased = evenness.biased;
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].evenness = evenness.blocks[i];
  std::ranges::stable_sort(blocks, [](const BlockFinding& a, const BlockFinding& b) {
    return std::tuple(b.evenness.is_biased, b.evenness.excess()) <
           std::tuple(a.evenness.is_biased, a.evenness.excess());
  });
  if (blocks.size() > top) blocks.resize(top);
  bias.blocks = std::move(blocks);
  return bias;
}

}  // namespace skid::audit
