#include "analysis/bias.h"

#include "analysis/distributions.h"

#include <algorithm>
#include <numeric>

namespace skid::analysis {

Bias pearson_of(std::span<const std::uint64_t> samples) {
  const auto all = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  const std::vector<double> expected(
      samples.size(), static_cast<double>(all) / static_cast<double>(samples.size()));
  const ChiSquareTest test =
      chi_square_test(std::vector<double>(samples.begin(), samples.end()), expected);
  Bias bias;
  bias.chi_square = test.statistic;
  bias.degrees = test.degrees;
  bias.p = test.p;
  const auto [fewest, most] = std::ranges::minmax_element(samples);
  if (*fewest > 0) bias.largest_ratio = static_cast<double>(*most) / static_cast<double>(*fewest);
  return bias;
}

std::optional<Bias> bias_of(std::span<const TriggerCount> triggers) {
  if (triggers.size() < 2) return std::nullopt;
  std::vector<std::uint64_t> samples;
  for (const TriggerCount& trigger : triggers) samples.push_back(trigger.samples);
  const auto all = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  if (static_cast<double>(all) < kFewestExpected * static_cast<double>(samples.size())) {
    return std::nullopt;
  }
  return pearson_of(samples);
}

}  // namespace skid::analysis
