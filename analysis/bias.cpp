#include "analysis/bias.h"

#include "analysis/distributions.h"

#include <algorithm>

namespace skid::analysis {
namespace {

constexpr double kFewestExpected = 5;

}  // namespace

std::optional<Bias> bias_of(std::span<const TriggerCount> triggers) {
  if (triggers.size() < 2) return std::nullopt;
  std::uint64_t all = 0;
  for (const TriggerCount& trigger : triggers) all += trigger.samples;
  const double expected = static_cast<double>(all) / static_cast<double>(triggers.size());
  if (expected < kFewestExpected) return std::nullopt;

  std::vector<double> seen;
  for (const TriggerCount& trigger : triggers) {
    seen.push_back(static_cast<double>(trigger.samples));
  }
  Bias bias;
  const ChiSquareTest test = chi_square_test(seen, std::vector<double>(seen.size(), expected));
  bias.chi_square = test.statistic;
  bias.degrees = test.degrees;
  bias.p = test.p;
  const auto [fewest, most] =
      std::minmax_element(triggers.begin(), triggers.end(),
                          [](const auto& a, const auto& b) { return a.samples < b.samples; });
  if (fewest->samples > 0) {
    bias.largest_ratio = static_cast<double>(most->samples) / static_cast<double>(fewest->samples);
  }
  return bias;
}

}  // namespace skid::analysis
