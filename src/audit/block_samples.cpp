// Finds instructions of a function that execute equally often and each cause an event exactly
// once, so that they should have equally many samples. docs/audit.md, "Bias within a block", has
// the rules.
//
// Example: MEM_INST_RETIRED.ALL_LOADS at level 2, in a loop that is entered at its condition
// (tests/unit/block_bias_test.cpp). A place is an instruction, or a pair, with one event:
//
//                                                 events   samples
//   block 0              jmp condition            none
//   block 1  body:       movq -0x10(%rbp), %rax   one           51
//                        leaq 0(,%rax,4), %rdx    none
//                        movq -0x18(%rbp), %rax   one        1,614
//                        movq %rax, -0x20(%rbp)   none               only stores
//                        addq $1, -0x10(%rbp)     one        3,341
//   block 2  condition:  movq -0x10(%rbp), %rax   one            1
//                        cmpq %rax, -0x20(%rbp)   one            3   may be fused: one place, which
//                        jb body                  none               is sampled at the jump
//   block 3              movl -4(%rbp), %eax ...  one            0
//
// Blocks 1 and 2 are a Loop (function_blocks.h), but the condition executes once more than the
// body. They count as one block of five places if this is too rare to matter: the loop is left at
// most as often as block 3 executes. No sample is in block 3, so at most 3 are to be expected at a
// place that executes as often, fewer than sqrt(5010) / 5 = 14.2 (is_even()). The even count of
// each place of the joined block is 5010 / 5 = 1,002.
#include "src/audit/block_samples.h"

#include "src/audit/function_blocks.h"
#include "src/code/function_code.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace skid::audit {
namespace {

using code::FunctionCode;
using code::Step;
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
      // The conditional branches that are not Jcc are LOOP and JRCXZ.
      return is_jcc ? Events::one : is_branch ? Events::unknown : Events::none;
    case Counted::taken_branches:
      if (step.flow == Flow::jump) return Events::one;
      return is_branch ? Events::unknown : Events::none;
    default:
      return Events::unknown;
  }
}

/// Returns the addresses of the steps [begin, end).
AddressRange range_of(const FunctionCode& code, std::size_t begin, std::size_t end) {
  return {code.address_of(begin), code.address_of(end - 1) + code.steps()[end - 1].length};
}

/// The places of a basic block at which the event is certain to occur once.
struct Part {
  std::vector<PlaceSamples> places;
  std::vector<std::size_t> steps;  ///< indices of their instructions
  bool is_complete = true;         ///< no other instruction may cause the event
  std::uint64_t samples = 0;
};

struct Counter {
  const FunctionCode& code;
  const EvenEvent& event;
  const SamplesByAddress& samples;

  /// Returns the places of a block and their samples. nullopt if the block has an instruction
  /// executed in parts (several events, or sampled between parts), or inexact samples: the kernel
  /// decodes PEBS_FIXUP_SIZE bytes (arch/x86/events/intel/ds.c) and leaves later ones.
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
      // If both halves cause the event, a fused pair may have one sample for two events.
      const Events second = events_of(steps[i + 1], event);
      const bool is_one = (first == Events::one && second == Events::none) ||
                          (first == Events::none && second == Events::one);
      if (!is_one || event.rule != Rule::sampled) return std::nullopt;
      return PlaceSamples{code.address_of(i + 1), samples_at(i) + samples_at(i + 1)};
    }
    // It may be half of a pair whose other half is in another block, or before the function.
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

/// Joins consecutive parts; nullopt if one of them is nullopt.
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

/// Returns the samples of a loop, which consists of the steps [begin, end).
LoopSamples loop_samples(const FunctionCode& code, std::size_t begin, std::size_t end, Part& part) {
  constexpr std::size_t kMostPlaces = 64;  // time and memory grow with its square
  LoopSamples loop{{range_of(code, begin, end), std::move(part.places)}, {}};
  const auto& steps = part.steps;
  if (!part.is_complete || steps.size() > kMostPlaces) return loop;
  for (std::size_t i = 1; i < steps.size(); ++i) loop.distances.push_back(steps[i] - steps[i - 1]);
  loop.distances.push_back(steps.front() - begin + end - steps.back());
  return loop;
}

/// Returns an upper limit of how often the blocks execute together, in samples of one place.
/// Infinite: the samples do not show it.
double executions_of(const std::optional<std::vector<std::size_t>>& blocks, Parts parts) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (!blocks) return kUnknown;
  double sum = 0;
  for (const std::size_t index : *blocks) {
    const auto& part = parts[index];
    if (!part || part->places.empty()) return kUnknown;
    // The upper end of an interval for the expected number; 3 if there was no sample.
    const auto seen = static_cast<double>(part->samples);
    sum += (seen + 2 * std::sqrt(seen) + 3) / static_cast<double>(part->places.size());
  }
  return sum;
}

/// Whether the blocks of a loop execute equally often, except for differences that the samples
/// cannot show.
bool is_even(const Loop& loop, Parts parts) {
  double places = 0, samples = 0;
  for (std::size_t i = loop.first; i <= loop.last; ++i) {
    if (!parts[i]) continue;
    places += static_cast<double>(parts[i]->places.size());
    samples += static_cast<double>(parts[i]->samples);
  }
  const double in = executions_of(loop.sources, parts);
  const double out = executions_of(loop.destinations, parts);
  // Either side can have too few samples because of a shadow, so the larger one counts. If one side
  // is unknown, the other is relied on.
  const double most = std::isinf(in) || std::isinf(out) ? std::min(in, out) : std::max(in, out);
  // A largest difference d between counts adds at most n (d / m)^2 / 4 to Pearson's statistic of n
  // samples with m = n / K for each of K places. Up to 1/4 is allowed: d <= sqrt(n) / K.
  return most <= std::sqrt(samples) / places;
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

}  // namespace skid::audit
