#include "analysis/evenness.h"

#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/delay.h"
#include "analysis/measurement.h"
#include "analysis/target_map.h"
#include "analysis/two_sample.h"
#include "analysis/wording.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

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

/// `cell_of`: the cell of an instruction, from the number of those before it.
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

void decide(Evenness& evenness, const std::string& what, const std::string& where) {
  using Verdict = Evenness::Verdict;
  const double p = evenness.test.p;
  evenness.verdict = p < kUneven ? Verdict::uneven : p < kEven ? Verdict::undecided : Verdict::even;
  evenness.evidence =
      fmt::format("{}: {}, chi-square {}, largest ratio to the even share {:.3g}{}", what,
                  name_of(evenness.verdict), p_text(p), evenness.largest_ratio, where);
}

/// What explains an uneven distribution: the period locks to the loop, or a shadow.
std::string delay_of(const std::optional<Delay>& delay) {
  if (!delay || delay->low <= 1) return {};
  return fmt::format(
      "; a delay of {} instructions from overflow to record predicts {} of next samples",
      range_of(*delay), percent(delay->predicted));
}

Evenness of_triggers(const Description& description, const Basis& basis, const Figures& figures) {
  const Bias& bias = *figures.bias;
  const std::size_t triggers = figures.triggers.size();
  Evenness evenness;
  // A guest's kernel asks for a counter, and the host decides which one it gets. A recording
  // without its run does not show whether it is of a guest.
  evenness.promised = !description.run.empty() && !description.cpu.hypervisor;
  evenness.test = bias;
  std::uint64_t all = 0, most = 0;
  for (const TriggerCount& trigger : figures.triggers) {
    all += trigger.samples;
    most = std::max(most, trigger.samples);
  }
  evenness.largest_ratio =
      static_cast<double>(most) / static_cast<double>(all) * static_cast<double>(triggers);
  const std::string what = fmt::format("samples of {} triggers", triggers);
  if (figures.contract.verdict != Verdict::kept) {
    evenness.evidence = fmt::format(
        "{}: undecided, the contract is {}, so that it is uncertain which trigger caused a sample",
        what, name_of(figures.contract.verdict));
  } else if (const std::string reason = resonance_of(description, basis); !reason.empty()) {
    evenness.evidence = what + ": " + reason;
  } else {
    double misplaced = 0;
    const double even = 1 / static_cast<double>(triggers);
    for (const TriggerCount& trigger : figures.triggers) {
      const double share = static_cast<double>(trigger.samples) / static_cast<double>(all);
      misplaced += std::max(0.0, share - even);
    }
    decide(evenness, what, fmt::format(", {} misplaced", percent(misplaced)));
    if (evenness.verdict == Evenness::Verdict::uneven) {
      evenness.evidence += delay_of(figures.delay);
      if (misplaced < kFewestMisplaced) evenness.verdict = Evenness::Verdict::undecided;
    }
  }
  return evenness;
}

std::optional<Evenness> of_instructions(const Description& description, const Basis& basis) {
  const Geometry& geometry = *basis.geometry;
  const auto found = test_of_instructions(basis.tally.instructions, geometry.lowest_offset,
                                          geometry.highest_offset);
  if (!found) return std::nullopt;
  Evenness evenness;
  evenness.of = Evenness::Of::instructions;
  evenness.test = found->test;
  evenness.largest_ratio = found->largest_ratio;
  const std::string what = fmt::format("samples of {} instructions",
                                       geometry.highest_offset - geometry.lowest_offset + 1);
  const std::string reason = resonance_of(description, basis);
  if (!reason.empty()) {
    evenness.evidence = what + ": " + reason;
    return evenness;
  }
  const std::string first = signed_number(found->first);
  const std::string step =
      found->step > 1 ? fmt::format(" of one instruction in {}", found->step) : "";
  decide(evenness, what,
         found->last > found->first
             ? fmt::format("{} from {} to {}", step, first, signed_number(found->last))
             : " at " + first);
  return evenness;
}

constexpr double kFewestPeriods = 4;
/// Groups are many peaks; so few of them have nothing in between.
constexpr double kFewestPeaks = 3;
constexpr double kStrongestP = 0.001;
constexpr double kSmallestExcess = 0.05;
constexpr double kNearlyTheLargest = 0.95;
/// Farther than any runway reaches, and no offset near it overflows.
constexpr std::int64_t kFarthest = std::int64_t{1} << 32;

OffsetCounts skids_of(const OffsetCounts& offsets, std::optional<std::int64_t> censored_from) {
  OffsetCounts skids;
  const auto& counts = offsets.counts();
  for (auto it = counts.upper_bound(0); it != counts.end(); ++it) {
    if (it->first > kFarthest || (censored_from && it->first >= *censored_from)) break;
    skids.add(it->first, it->second);
  }
  return skids;
}

std::optional<Residues::Excess> excess_of(const OffsetCounts& skids, int modulus) {
  // The moving average takes 2 half + 1 offsets; of an even modulus the outermost count by half.
  const std::int64_t half = modulus / 2;
  const double outermost = modulus % 2 == 0 ? 0.5 : 1;
  const std::int64_t first = skids.counts().begin()->first;
  const std::int64_t last = skids.counts().rbegin()->first;
  const std::int64_t mode = skids.mode();
  const auto is_compared = [&](std::int64_t offset) {
    return offset - half >= first && offset + half <= last && std::abs(offset - mode) > half;
  };
  std::vector<double> seen(static_cast<std::size_t>(modulus));
  std::vector<double> expected(static_cast<std::size_t>(modulus));
  for (const auto& [offset, count] : skids.counts()) {
    const auto samples = static_cast<double>(count);
    for (std::int64_t at = offset - half; at <= offset + half; ++at) {
      if (!is_compared(at)) continue;
      const auto residue = static_cast<std::size_t>(at % modulus);
      const bool is_outermost = std::abs(at - offset) == half;
      expected[residue] += samples * (is_outermost ? outermost : 1) / modulus;
      if (at == offset) seen[residue] += samples;
    }
  }
  const double all_seen = std::accumulate(seen.begin(), seen.end(), 0.0);
  const double all_expected = std::accumulate(expected.begin(), expected.end(), 0.0);
  if (all_seen == 0) return std::nullopt;
  double share = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    expected[i] *= all_seen / all_expected;
    if (expected[i] < kFewestExpected) return std::nullopt;
    share += std::abs(seen[i] - expected[i]) / 2 / all_seen;
  }
  return Residues::Excess{chi_square_test(seen, expected), share};
}

std::optional<int> strongest_of(const std::vector<Residues>& moduli) {
  std::vector<double> p;
  p.reserve(moduli.size());
  for (const Residues& residues : moduli) p.push_back(residues.excess ? residues.excess->p : 1);
  const std::vector<double> adjusted = holm(p);
  const auto stands_out = [&](std::size_t i) {
    return adjusted[i] < kStrongestP && moduli[i].excess->share >= kSmallestExcess;
  };
  double largest = 0;
  for (std::size_t i = 0; i < moduli.size(); ++i) {
    if (stands_out(i)) largest = std::max(largest, moduli[i].excess->share);
  }
  for (std::size_t i = 0; i < moduli.size(); ++i) {
    if (stands_out(i) && moduli[i].excess->share >= kNearlyTheLargest * largest) {
      return moduli[i].modulus;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string resonance_of(const Description& description, const Basis& basis) {
  const auto triggers = static_cast<double>(basis.geometry->trigger_addresses.size());
  const double events = basis.instructions_per_iteration.value_or(
      description.events_per_iteration.expected.value_or(triggers));
  if (triggers > 1 && description.path && description.path->frequency) {
    return "not judged: with a frequency the kernel sets the periods, and overflows are only "
           "roughly even; record with -c";
  }
  constexpr double kMostEvents = 1e9;
  const auto& period = description.period.requested;
  if (!period || !basis.events_to_record || !(events >= 1 && events < kMostEvents)) return {};
  const auto count = static_cast<std::uint64_t>(std::llround(events));
  const std::uint64_t distance = *period + *basis.events_to_record;
  const std::uint64_t factor = std::gcd(distance, count);
  if (factor == 1) return {};
  return fmt::format(
      "not judged: the period resonates with the loop: one event in {} is sampled, and an "
      "iteration has {}, with the common factor {}, so that some are never sampled; record with "
      "another -c",
      distance, count, factor);
}

std::optional<InstructionTest> test_of_instructions(const OffsetCounts& offsets,
                                                    std::int64_t lowest, std::int64_t highest) {
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
  InstructionTest result{chi_square_test(places.seen, places.expected),
                         places.ratio(places.largest()), lowest + largest * width};
  result.last = largest == cells - 1 ? highest : result.first + width - 1;
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
    result = {test, ratio, lowest + static_cast<std::int64_t>(residues.largest()), highest,
              modulus};
  }
  result.test.p = std::min(1.0, result.test.p * tests);
  return result;
}

std::optional<Evenness> evenness_of(const Description& description, const Basis& basis,
                                    const Figures& figures) {
  const int level = description.precise.recorded;
  if (!basis.geometry || basis.level_three != LevelThree::distinct || level < 2) {
    return std::nullopt;
  }
  if (basis.instructions_per_iteration && basis.geometry->trigger_addresses.size() == 1) {
    return of_instructions(description, basis);
  }
  if (level == 3 && figures.bias) return of_triggers(description, basis, figures);
  return std::nullopt;
}

std::string comparison_of(const Evenness& level_2, const Evenness& level_3) {
  const auto part = [](const Evenness& of) {
    std::string text = fmt::format("{} ({}", name_of(of.verdict), p_text(of.test.p));
    if (of.verdict == Evenness::Verdict::uneven) {
      text += fmt::format(", largest ratio to the even share {:.3g}", of.largest_ratio);
    }
    return text + ")";
  };
  return fmt::format("samples of instructions executed equally often: level 3 {}, level 2 {}",
                     part(level_3), part(level_2));
}

std::optional<RetirementGroups> retirement_groups_of(const OffsetCounts& offsets,
                                                     std::optional<std::int64_t> censored_from) {
  const OffsetCounts skids = skids_of(offsets, censored_from);
  if (skids.empty()) return std::nullopt;
  const std::int64_t mode = skids.mode();
  OffsetCounts compared;
  for (const auto& [offset, count] : skids.counts()) {
    if (offset != mode) compared.add(offset, count);
  }
  const auto width = static_cast<double>(compared.quantile(0.95) - compared.quantile(0.05));
  // The number of offsets with samples, where those with few of them hardly count.
  const bool few_peaks = compared.empty() || 1 / compared.concentration() < kFewestPeaks;
  RetirementGroups groups;
  for (int modulus = kSmallestModulus; modulus <= kLargestModulus; ++modulus) {
    Residues& residues = groups.moduli.emplace_back();
    residues.modulus = modulus;
    residues.counts.resize(static_cast<std::size_t>(modulus));
    for (const auto& [offset, count] : skids.counts()) {
      residues.counts[static_cast<std::size_t>(offset % modulus)] += count;
    }
    if (width >= kFewestPeriods * modulus && !few_peaks)
      residues.excess = excess_of(skids, modulus);
  }
  groups.strongest = strongest_of(groups.moduli);
  return groups;
}

}  // namespace skid::analysis
