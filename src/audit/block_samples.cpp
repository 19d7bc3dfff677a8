#include "src/audit/block_samples.h"

#include "src/instructions/instruction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace skid::audit {
namespace {

using events::OncePer;
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
    case OncePer::instruction:
      return Events::one;
    case OncePer::load:
      return events_of_access(step, step.loads, event);
    case OncePer::store:
      return events_of_access(step, step.stores, event);
    case OncePer::branch:
      return is_branch ? Events::one : Events::none;
    case OncePer::conditional_branch:
      // Others than Jcc: LOOP, JRCXZ.
      return is_jcc ? Events::one : is_branch ? Events::unknown : Events::none;
    case OncePer::taken_branch:
      if (step.flow == Flow::jump) return Events::one;
      return is_branch ? Events::unknown : Events::none;
  }
  return Events::unknown;
}

/// The certain places of a basic block.
struct Part {
  std::vector<PlaceSamples> places;
  std::vector<std::size_t> steps;  ///< of the places
  bool is_complete = true;         ///< no other instruction may cause the event
  std::uint64_t samples = 0;
};

class Counter {
 public:
  Counter(const FunctionCode& code, const EvenEvent& event, const SamplesByAddress& samples)
      : code_(code), event_(event), samples_(samples) {}

  /// nullopt: instructions done in parts cause several events, or are sampled between two parts; or
  /// it has inexact samples, which are those of its last instructions if it is longer than what
  /// the kernel decodes (PEBS_FIXUP_SIZE in arch/x86/events/intel/ds.c).
  std::optional<Part> count(const BasicBlock& block) const {
    Part part;
    for (std::size_t i = block.begin; i < block.end;) {
      const bool is_pair = i + 1 < block.end && is_pair_at(i);
      if (code_.steps()[i].is_in_parts || has_inexact_at(i)) return std::nullopt;
      if (is_pair && has_inexact_at(i + 1)) return std::nullopt;
      const std::size_t next = i + (is_pair ? 2 : 1);
      if (const auto place = place_of(block, i, is_pair)) {
        part.places.push_back(*place);
        part.steps.push_back(next - 1);
        part.samples += place->samples;
      } else {
        for (std::size_t step = i; step < next; ++step) {
          part.is_complete &= events_of(code_.steps()[step], event_) == Events::none;
        }
      }
      i = next;
    }
    return part;
  }

 private:
  bool is_pair_at(std::size_t first) const {
    return fuses(code_.steps()[first].fusion, code_.steps()[first + 1].fusion);
  }

  std::optional<PlaceSamples> place_of(const BasicBlock& block, std::size_t i, bool is_pair) const {
    const auto& steps = code_.steps();
    const Events first = events_of(steps[i], event_);
    if (is_pair) {
      // Of a pair that is fused and causes two events one sample may stand for both.
      const Events second = events_of(steps[i + 1], event_);
      const bool is_one = (first == Events::one && second == Events::none) ||
                          (first == Events::none && second == Events::one);
      if (!is_one || event_.rule != Rule::sampled) return std::nullopt;
      return PlaceSamples{code_.address_of(i + 1), samples_at(i) + samples_at(i + 1)};
    }
    // Half of a pair whose other half is in another block, or before the function.
    const bool may_be_second =
        can_be_second(steps[i].fusion) && i == block.begin && (i == 0 || is_pair_at(i - 1));
    const bool may_be_first = i + 1 == block.end && i + 1 < steps.size() && is_pair_at(i);
    if (first != Events::one || may_be_first || may_be_second) return std::nullopt;
    if (event_.rule == Rule::sampled) return PlaceSamples{code_.address_of(i), samples_at(i)};
    // The next instruction was sampled, which must be in the block.
    if (i + 1 == block.end) return std::nullopt;
    return PlaceSamples{code_.address_of(i), samples_at(i + 1)};
  }

  std::uint64_t samples_at(std::size_t index) const {
    const auto found = samples_.find(code_.address_of(index));
    return found == samples_.end() ? 0 : found->second.samples;
  }

  bool has_inexact_at(std::size_t index) const {
    const auto found = samples_.find(code_.address_of(index));
    return found != samples_.end() && found->second.has_inexact;
  }

  const FunctionCode& code_;
  const EvenEvent& event_;
  const SamplesByAddress& samples_;
};

/// Basic blocks that are joined to blocks.
class Joined {
 public:
  explicit Joined(std::vector<std::optional<Part>> parts)
      : parts_(std::move(parts)), first_(parts_.size()), slack_(parts_.size()) {
    std::iota(first_.begin(), first_.end(), std::size_t{0});
    for (const auto& part : parts_) {
      sums_.push_back(part ? Sum{part->places.size(), part->samples} : Sum{});
    }
  }

  std::size_t root(std::size_t part) {
    while (first_[part] != part) part = first_[part] = first_[first_[part]];
    return part;
  }

  void join(const Join& join, const std::vector<Loop>& loops) {
    const std::size_t from = root(join.from), to = root(join.to);
    if (from == to) return;
    const double slack =
        slack_[from] + slack_[to] + (join.loop ? entries_of(loops[*join.loop]) : 0);
    const Sum both{sums_[from].places + sums_[to].places, sums_[from].samples + sums_[to].samples};
    // A difference d between the counts of two halves adds n (d / m)^2 / 4 to Pearson's statistic
    // of n samples with m a place: up to 1/4 is allowed.
    const auto places = static_cast<double>(both.places);
    const double each = static_cast<double>(both.samples) / places;
    if (slack > 0 && !(slack <= std::sqrt(each / places))) return;
    first_[to] = from;
    sums_[from] = both;
    slack_[from] = slack;
  }

  const std::optional<Part>& part(std::size_t index) const { return parts_[index]; }

 private:
  struct Sum {
    std::size_t places = 0;
    std::uint64_t samples = 0;
  };

  /// At most so many samples each place would have if it were executed whenever the loop is
  /// entered; infinite where unknown.
  double entries_of(const Loop& loop) const {
    const double in = executions_of(loop.sources), out = executions_of(loop.destinations);
    // A shadow can starve either of them; where one is unknown, the other is relied on.
    return std::isinf(in) || std::isinf(out) ? std::min(in, out) : std::max(in, out);
  }

  double executions_of(const std::optional<std::vector<std::size_t>>& blocks) const {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    if (!blocks) return kUnknown;
    double sum = 0;
    for (const std::size_t index : *blocks) {
      const auto& part = parts_[index];
      if (!part || part->places.empty()) return kUnknown;
      // The upper end of an interval for the number that is to be expected; of none it is 3.
      const auto seen = static_cast<double>(part->samples);
      sum += (seen + 2 * std::sqrt(seen) + 3) / static_cast<double>(part->places.size());
    }
    return sum;
  }

  std::vector<std::optional<Part>> parts_;
  std::vector<std::size_t> first_;
  std::vector<double> slack_;
  std::vector<Sum> sums_;
};

/// Whether basic blocks are a loop of straight code: each falls through to the next one, the last
/// one branches to the first, and no other branch stays inside.
bool is_straight_loop(const FunctionCode& code, std::span<const BasicBlock> blocks) {
  const std::uint64_t begin = code.address_of(blocks.front().begin);
  const std::size_t last = blocks.back().end - 1;
  if (code.target_of(last) != begin || code.steps()[last].flow == Flow::call) return false;
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    const std::size_t end = blocks[i].end - 1;
    const Step& step = code.steps()[end];
    const bool falls = step.flow == Flow::next || step.flow == Flow::conditional;
    if (!falls || step.calls_kernel || blocks[i].end != blocks[i + 1].begin) return false;
    const auto target = code.target_of(end);
    if (target && *target >= begin && *target <= code.address_of(last)) return false;
  }
  return true;
}

}  // namespace

std::uint64_t BlockSamples::samples() const {
  return std::accumulate(
      places.begin(), places.end(), std::uint64_t{0},
      [](std::uint64_t sum, const PlaceSamples& place) { return sum + place.samples; });
}

double BlockSamples::expected() const {
  return static_cast<double>(samples()) / static_cast<double>(places.size());
}

double BlockSamples::largest_ratio() const {
  const auto most =
      std::max_element(places.begin(), places.end(),
                       [](const auto& a, const auto& b) { return a.samples < b.samples; });
  return static_cast<double>(most->samples) / expected();
}

std::vector<BlockSamples> samples_of_blocks(const FunctionCode& code, const FunctionBlocks& blocks,
                                            const EvenEvent& event,
                                            const SamplesByAddress& samples) {
  const Counter counter(code, event, samples);
  std::vector<std::optional<Part>> parts;
  parts.reserve(blocks.basic.size());
  for (const BasicBlock& block : blocks.basic) parts.push_back(counter.count(block));
  Joined joined(std::move(parts));
  for (const bool in_loop : {false, true}) {
    for (const Join& join : blocks.joins) {
      if (join.loop.has_value() == in_loop) joined.join(join, blocks.loops);
    }
  }
  std::vector<std::optional<BlockSamples>> by_root(blocks.basic.size());
  std::vector<bool> is_left_out(blocks.basic.size());
  for (std::size_t i = 0; i < blocks.basic.size(); ++i) {
    const std::size_t root = joined.root(i);
    const auto& part = joined.part(i);
    const BasicBlock& basic = blocks.basic[i];
    const std::uint64_t end = code.address_of(basic.end - 1) + code.steps()[basic.end - 1].length;
    auto& block = by_root[root];
    if (!block) block = BlockSamples{{code.address_of(basic.begin), end}, {}};
    block->range.end = end;
    is_left_out[root] = is_left_out[root] || !part;
    if (part) {
      block->places.insert(block->places.end(), part->places.begin(), part->places.end());
    }
  }
  std::vector<BlockSamples> judged;
  for (std::size_t i = 0; i < by_root.size(); ++i) {
    if (!by_root[i] || is_left_out[i] || by_root[i]->places.size() < 2) continue;
    if (by_root[i]->samples() >= kFewestOfBlock) judged.push_back(std::move(*by_root[i]));
  }
  std::sort(judged.begin(), judged.end(), [](const BlockSamples& a, const BlockSamples& b) {
    return a.range.begin < b.range.begin;
  });
  return judged;
}

std::vector<LoopSamples> samples_of_loops(const FunctionCode& code, const FunctionBlocks& blocks,
                                          const EvenEvent& event, const SamplesByAddress& samples) {
  const Counter counter(code, event, samples);
  const std::span<const BasicBlock> basic = blocks.basic;
  constexpr std::size_t kMostBlocks = 64, kMostPlaces = 64;  // time and memory grow with squares
  std::vector<LoopSamples> loops;
  for (std::size_t last = 0; last < basic.size(); ++last) {
    const auto target = code.target_of(basic[last].end - 1);
    if (!target || *target > code.address_of(basic[last].begin)) continue;
    const auto first = std::lower_bound(basic.begin(), basic.end(), *target,
                                        [&](const BasicBlock& block, std::uint64_t address) {
                                          return code.address_of(block.begin) < address;
                                        });
    if (first == basic.end() || code.address_of(first->begin) != *target) continue;
    const auto begin = static_cast<std::size_t>(first - basic.begin());
    if (last - begin >= kMostBlocks) continue;
    const auto of_loop = basic.subspan(begin, last + 1 - begin);
    if (!is_straight_loop(code, of_loop)) continue;
    LoopSamples loop;
    std::vector<std::size_t> steps;
    bool is_whole = true, is_complete = true;
    for (const BasicBlock& block : of_loop) {
      const auto part = counter.count(block);
      is_whole &= part.has_value();
      if (!part) break;
      loop.all.places.insert(loop.all.places.end(), part->places.begin(), part->places.end());
      steps.insert(steps.end(), part->steps.begin(), part->steps.end());
      is_complete &= part->is_complete;
    }
    if (!is_whole || steps.size() < 2) continue;
    const std::size_t end = of_loop.back().end;
    loop.all.range = {*target, code.address_of(end - 1) + code.steps()[end - 1].length};
    if (is_complete && steps.size() <= kMostPlaces) {
      for (std::size_t i = 1; i < steps.size(); ++i) {
        loop.distances.push_back(steps[i] - steps[i - 1]);
      }
      loop.distances.push_back(steps.front() - of_loop.front().begin + end - steps.back());
    }
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace skid::audit
