#include "analysis/retirement_groups.h"

#include "analysis/offset_counts.h"
#include "analysis/two_sample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace skid::analysis {
namespace {

/// The least width of the compared skids, in multiples of the modulus.
constexpr double kFewestPeriods = 4;
/// The least number of offsets with many samples. Groups make many peaks.
constexpr double kFewestPeaks = 3;
constexpr double kStrongestP = 0.001;
constexpr double kSmallestExcess = 0.05;
constexpr double kNearlyTheLargest = 0.95;
/// The largest offset that is counted: longer than any runway, and far from an overflow.
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
  // The moving average takes 2 half + 1 offsets; with an even modulus the outermost count by half.
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
  // 1 / concentration is the number of offsets with samples, in which those with few hardly count.
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
