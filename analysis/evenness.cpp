// Whether samples at level 3 are distributed as their events are, which is what PDIR and PDist add
// to level 2. Two kinds of targets make events that are known to be equally frequent.
//
// Triggers: with K triggers per iteration that each cause the event once, each should have 1/K of
// the samples. Without precise distribution, a trigger that closely follows another one is in its
// shadow (delay.cpp). An example with 4 triggers and 10,000 samples, 2,500 of each to be expected:
//
//   even       2489 2531 2466 2514   chi-square 1.0, 3 degrees, p 0.81
//   shadowed   5016    0 2471 2513   chi-square 5033, p < 1e-300; 25% misplaced, largest ratio 2.01
//
// Instructions: an event that counts all instructions (INST_RETIRED.PREC_DIST) should sample each
// instruction of lead-in, trigger and runway equally often. There are many of them with few samples
// each, so adjacent ones are joined to cells with at least 5 expected samples. Joined cells are
// blind to retirement groups: with a group of four, each cell of 4 instructions has its even share
// although all of its samples are at one instruction. The remainders of their place modulo 2 to 8
// show it:
//
//   instruction   0  1  2  3 | 4  5  6  7 | 8  9 10 11   cells of 4   modulo 4
//   samples       0  0  0  6 | 0  0  0  5 | 0  0  0  7   6, 5, 7      0, 0, 0, 18
//
// The most significant of these tests counts, its p times their number (Bonferroni).
//
// Before a test is made, resonance_of() checks that even perfect hardware would sample every event.
// PEBS samples one event in P + 1 without a delay, and one in P on a counter with precise
// distribution (SDM volume 3B, "Processor Event Based Sampling" and "Precise Distribution"). With
// P + 1 = 100004 and 4 triggers it is always the same one, since 4 divides 100004. Where it is not
// known which of the two counts, neither may resonate.
//
// Definitions: docs/method.md, "Distribution at level 3" and "Resonance".
#include "analysis/evenness.h"

#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/figures.h"
#include "analysis/geometry.h"
#include "analysis/histogram.h"
#include "analysis/offset_counts.h"
#include "analysis/recording_path.h"
#include "analysis/retirement_groups.h"
#include "analysis/tally.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
namespace {

/// Samples of groups of instructions.
struct Cells {
  std::vector<double> seen, expected;

  std::size_t largest() const {
    std::size_t largest = 0;
    for (std::size_t i = 1; i < seen.size(); ++i) {
      if (ratio(i) > ratio(largest)) largest = i;
    }
    return largest;
  }
  double ratio(std::size_t i) const { return seen[i] / expected[i]; }
};

/// Counts samples by cell. `cell_of` returns the cell of an instruction from the number of
/// instructions before it.
template <typename CellOf>
Cells cells_of(const OffsetCounts& offsets, std::int64_t lowest, std::int64_t instructions,
               std::int64_t cells, CellOf cell_of) {
  Cells result{std::vector<double>(static_cast<std::size_t>(cells)),
               std::vector<double>(static_cast<std::size_t>(cells))};
  const double each = static_cast<double>(offsets.total()) / static_cast<double>(instructions);
  for (std::int64_t i = 0; i < instructions; ++i) {
    result.expected[static_cast<std::size_t>(cell_of(i))] += each;
  }
  for (const auto& [offset, count] : offsets.counts()) {
    result.seen[static_cast<std::size_t>(cell_of(offset - lowest))] += static_cast<double>(count);
  }
  return result;
}

Evenness of_triggers(const Description& description, const Basis& basis, const Figures& figures) {
  const Bias& bias = *figures.bias;
  const std::size_t triggers = figures.triggers.size();
  Evenness evenness;
  // A guest's kernel asks for a counter, and the host decides which one it gets. A recording
  // without its run does not show whether it is of a guest.
  evenness.required = !description.run.empty() && !description.cpu.hypervisor;
  evenness.test = bias;
  std::uint64_t all = 0, most = 0;
  for (const TriggerCount& trigger : figures.triggers) {
    all += trigger.samples;
    most = std::max(most, trigger.samples);
  }
  evenness.largest_ratio =
      static_cast<double>(most) / static_cast<double>(all) * static_cast<double>(triggers);
  if (figures.contract.verdict != Verdict::kept || resonance_of(description, basis)) {
    return evenness;
  }
  const double even = 1 / static_cast<double>(triggers);
  for (const TriggerCount& trigger : figures.triggers) {
    const double share = static_cast<double>(trigger.samples) / static_cast<double>(all);
    evenness.misplaced += std::max(0.0, share - even);
  }
  evenness.verdict = verdict_by(evenness.test.p);
  const bool is_little = evenness.misplaced < kFewestMisplaced;
  if (is_little && evenness.verdict == Evenness::Verdict::uneven) {
    evenness.verdict = Evenness::Verdict::undecided;
  }
  return evenness;
}

std::optional<Evenness> of_instructions(const Description& description, const Basis& basis) {
  const Geometry& geometry = *basis.geometry;
  auto evenness = test_of_instructions(basis.tally.instructions, geometry.lowest_offset,
                                       geometry.highest_offset);
  if (evenness && !resonance_of(description, basis)) {
    evenness->verdict = verdict_by(evenness->test.p);
  }
  return evenness;
}

}  // namespace

Evenness::Verdict verdict_by(double p) {
  using Verdict = Evenness::Verdict;
  return p < kUneven ? Verdict::uneven : p < kEven ? Verdict::undecided : Verdict::even;
}

std::optional<Resonance> resonance_of(const Description& description, const Basis& basis) {
  const auto triggers = static_cast<double>(basis.geometry->trigger_addresses.size());
  const double events = basis.instructions_per_iteration.value_or(
      description.events_per_iteration.expected.value_or(triggers));
  if (triggers > 1 && description.path && description.path->frequency) {
    return Resonance{.frequency = true};
  }
  constexpr double kMostEvents = 1e9;
  const auto& period = description.period.requested;
  if (!period || basis.random_period || !(events >= 1 && events < kMostEvents)) {
    return std::nullopt;
  }
  const auto count = static_cast<std::uint64_t>(std::llround(events));
  const auto& known = basis.events_to_record;
  for (std::uint64_t beyond = known.value_or(0); beyond <= known.value_or(1); ++beyond) {
    const std::uint64_t factor = std::gcd(*period + beyond, count);
    if (factor == 1) continue;
    return Resonance{.distance = *period + known.value_or(0),
                     .may_be_one_later = !known,
                     .events = count,
                     .factor = factor};
  }
  return std::nullopt;
}

std::optional<Evenness> test_of_instructions(const OffsetCounts& offsets, std::int64_t lowest,
                                             std::int64_t highest) {
  if (offsets.empty() || highest <= lowest || highest - lowest >= kLongestAxis) return std::nullopt;
  if (offsets.counts().begin()->first < lowest || offsets.counts().rbegin()->first > highest) {
    return std::nullopt;
  }
  const std::int64_t instructions = highest - lowest + 1;
  const double each = static_cast<double>(offsets.total()) / static_cast<double>(instructions);
  const double joined = std::ceil(kFewestExpected / each);
  if (2 * joined > static_cast<double>(instructions)) return std::nullopt;
  const auto width = static_cast<std::int64_t>(joined);
  // The remainder makes the last cell larger.
  const std::int64_t cells = instructions / width;
  const Cells places = cells_of(offsets, lowest, instructions, cells,
                                [&](std::int64_t i) { return std::min(i / width, cells - 1); });
  const auto largest = static_cast<std::int64_t>(places.largest());
  const std::int64_t first = lowest + largest * width;
  Evenness result{.of = Evenness::Of::instructions,
                  .test = chi_square_test(places.seen, places.expected),
                  .largest_ratio = places.ratio(places.largest()),
                  .largest = {first, largest == cells - 1 ? highest : first + width - 1}};
  int tests = 1;
  for (std::int64_t modulus = kSmallestModulus; modulus <= kLargestModulus; ++modulus) {
    if (each * static_cast<double>(instructions / modulus) < kFewestExpected) break;
    const Cells residues = cells_of(offsets, lowest, instructions, modulus,
                                    [&](std::int64_t i) { return i % modulus; });
    ++tests;
    const ChiSquareTest test = chi_square_test(residues.seen, residues.expected);
    const double ratio = residues.ratio(residues.largest());
    // Groups of four show modulo two and eight as well, with p of 0 where there are many samples.
    constexpr double kNearlyEqual = 1.01;
    const bool is_better = test.p < result.test.p ||
                           (test.p == result.test.p && ratio > kNearlyEqual * result.largest_ratio);
    if (!is_better) continue;
    result.test = test;
    result.largest_ratio = ratio;
    result.largest = {lowest + static_cast<std::int64_t>(residues.largest()), highest, modulus};
  }
  result.test.p = std::min(1.0, result.test.p * tests);
  return result;
}

std::optional<Evenness> evenness_of(const Description& description, const Basis& basis,
                                    const Figures& figures) {
  const int level = description.precise.recorded;
  if (!basis.geometry ||
      (basis.level_three != LevelThree::distinct && !basis.instructions_per_iteration) ||
      level < 2) {
    return std::nullopt;
  }
  if (basis.instructions_per_iteration && basis.geometry->trigger_addresses.size() == 1) {
    return of_instructions(description, basis);
  }
  if (level == 3 && figures.bias) return of_triggers(description, basis, figures);
  return std::nullopt;
}

}  // namespace skid::analysis
