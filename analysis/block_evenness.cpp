#include "analysis/block_evenness.h"

#include "analysis/confidence.h"
#include "analysis/distributions.h"
#include "analysis/two_sample.h"
#include "src/support/hash.h"
#include "src/support/random.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace skid::analysis {
namespace {

using BlockCounts = std::vector<std::uint64_t>;

std::uint64_t sum_of(const BlockCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// Returns the seed of the draws. It follows from the counts, so that equal counts are judged
/// alike.
std::uint64_t seed_of(std::span<const BlockCounts> blocks) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::uint64_t number) { hash = hashed(number, hash); };
  for (const BlockCounts& counts : blocks) {
    add(counts.size());
    for (const std::uint64_t count : counts) add(count);
  }
  return hash;
}

/// Returns p of Pearson's statistic for n samples on k places. Under evenness the statistic has the
/// mean k - 1, the variance 2 (k - 1) (n - 1) / n and the third moment
/// 4 (k - 1) (n - 1) (2 n + k - 6) / n^2, because it is linear in the number of pairs of samples at
/// one place, which are independent two by two.
double pearson_p(double chi_square, double k, double n) {
  const double variance = 2 * (k - 1) * (n - 1) / n;
  const double third = 4 * (k - 1) * (n - 1) * (2 * n + k - 6) / (n * n);
  return pearson3_upper_p((chi_square - (k - 1)) / std::sqrt(variance),
                          third / std::pow(variance, 1.5));
}

/// Returns p of Pearson's statistic by simulation, which ends early if p is large (J. Besag,
/// P. Clifford, Biometrika 78, 1991).
double simulated_p(const BlockCounts& counts, std::uint64_t samples, std::uint64_t most_draws,
                   Random& random) {
  constexpr std::uint64_t kEnough = 25;  // number of statistics as large as the observed one
  // Pearson's statistic grows with the sum of squares, which is a whole number.
  const auto seen =
      std::inner_product(counts.begin(), counts.end(), counts.begin(), std::uint64_t{0});
  BlockCounts drawn(counts.size());
  std::vector<std::size_t> places(samples);  // the time of a draw does not grow with the places
  std::uint64_t as_large = 0;
  for (std::uint64_t draw = 1; draw <= most_draws; ++draw) {
    std::uint64_t squares = 0;
    for (std::size_t& place : places) {
      place = random.below(drawn.size());
      squares += 2 * drawn[place]++ + 1;
    }
    for (const std::size_t place : places) drawn[place] = 0;
    if (squares < seen) continue;
    if (++as_large == kEnough) return static_cast<double>(kEnough) / static_cast<double>(draw);
  }
  return static_cast<double>(as_large + 1) / static_cast<double>(most_draws + 1);
}

/// Returns p of a block for which the approximation is too coarse: twice the smaller one of two
/// (Bonferroni), at most 1. One is that of Pearson's statistic, by simulation, whose least value is
/// that of the number of draws. The other is that of the largest count: the chance that a place has
/// as many, times the number of places. Where it is below the least value nothing is simulated.
double p_of_few(const BlockCounts& counts, std::uint64_t samples, std::uint64_t most_draws,
                Random& random) {
  const auto k = static_cast<double>(counts.size());
  const std::uint64_t largest = *std::ranges::max_element(counts);
  double p = k * binomial_upper_p(largest, samples, 1 / k);
  if (p * static_cast<double>(most_draws + 1) > 1) {
    p = std::min(p, simulated_p(counts, samples, most_draws, random));
  }
  return std::min(1.0, 2 * p);
}

double half_sum_of(const BlockCounts& counts, double even) {
  double sum = 0;
  for (const std::uint64_t count : counts) sum += std::abs(static_cast<double>(count) - even);
  return sum / 2;
}

/// Returns the mean of half_sum_of() under evenness: k / 2 times the mean absolute deviation of a
/// binomial distribution, which is 2 m C(n, m) p^m (1 - p)^(n - m + 1) with m = floor(n p) + 1 (De
/// Moivre).
double half_sum_due(double k, double n) {
  const double p = 1 / k;
  const double m = std::floor(n * p) + 1;
  if (m > n) return 0;  // only if k is 1
  const double log_choices = log_gamma(n + 1) - log_gamma(m + 1) - log_gamma(n - m + 1);
  return k * m * std::exp(log_choices + m * std::log(p) + (n - m + 1) * std::log1p(-p));
}

/// Draws from a binomial distribution. If a small number is to be expected, it inverts the
/// distribution function step by step; else it rounds a normal deviate, which has the same spread.
std::uint64_t draw_binomial(std::uint64_t n, double p, Random& random) {
  constexpr double kFew = 25;
  if (n == 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - draw_binomial(n, 1 - p, random);
  const auto size = static_cast<double>(n);
  if (size * p > kFew) {
    const double drawn = size * p + random.normal() * std::sqrt(size * p * (1 - p));
    return static_cast<std::uint64_t>(std::clamp(std::round(drawn), 0.0, size));
  }
  double left = random.share();
  double chance = std::exp(size * std::log1p(-p));
  std::uint64_t drawn = 0;
  while (left >= chance && drawn < n) {
    left -= chance;
    chance *= (size - static_cast<double>(drawn)) / static_cast<double>(drawn + 1) * p / (1 - p);
    ++drawn;
  }
  return drawn;
}

/// The distribution that simulated blocks are drawn from: the chance of each place.
struct Model {
  std::uint64_t samples = 0;
  std::vector<double> chances;

  Model(const BlockCounts& counts, const Bias& bias) : samples(sum_of(counts)) {
    const auto n = static_cast<double>(samples);
    const double even = 1 / static_cast<double>(counts.size());
    // By chance alone the statistic is k - 1 on average.
    const double kept =
        bias.chi_square > 0 ? std::sqrt(std::max(0.0, 1 - bias.degrees / bias.chi_square)) : 0;
    for (const std::uint64_t count : counts) {
      chances.push_back(even + kept * (static_cast<double>(count) / n - even));
    }
  }

  double draw_half_sum(BlockCounts& drawn, Random& random) const {
    drawn.assign(chances.size(), 0);
    std::uint64_t left = samples;
    double chance_left = 1;
    for (std::size_t i = 0; i + 1 < chances.size() && left > 0; ++i) {
      drawn[i] = draw_binomial(left, std::min(1.0, chances[i] / chance_left), random);
      left -= drawn[i];
      chance_left -= chances[i];
      if (chance_left <= 0) break;
    }
    drawn.back() += left;
    return half_sum_of(drawn, static_cast<double>(samples) / static_cast<double>(chances.size()));
  }
};

/// Returns the standard deviation of the sum of all half sums. Blocks are independent, so that
/// their variances add up.
double spread_of(const std::vector<Model>& models, Random& random) {
  constexpr std::size_t kPlaces = 200'000, kFewest = 20, kMost = 1'000;
  std::size_t places = 0;
  for (const Model& model : models) places += model.chances.size();
  const std::size_t draws = std::clamp(kPlaces / places, kFewest, kMost);
  const auto count = static_cast<double>(draws);
  BlockCounts drawn;
  double variance = 0;
  for (const Model& model : models) {
    double sum = 0, squares = 0;
    const double first = model.draw_half_sum(drawn, random);
    for (std::size_t draw = 1; draw < draws; ++draw) {
      const double off = model.draw_half_sum(drawn, random) - first;
      sum += off;
      squares += off * off;
    }
    variance += std::max(0.0, squares - sum * sum / count) / (count - 1);
  }
  return std::sqrt(variance);
}

}  // namespace

ProfileEvenness evenness_of_blocks(std::span<const BlockCounts> blocks) {
  constexpr std::uint64_t kMostDrawn = 100'000'000, kFewestDraws = 100, kMostDraws = 100'000;
  Random random(seed_of(blocks));
  ProfileEvenness result;
  std::uint64_t samples = 0, simulated = 0;
  for (const BlockCounts& counts : blocks) {
    const std::uint64_t of_block = sum_of(counts);
    if (counts.size() < 2 || of_block == 0) {
      throw std::invalid_argument("a block to judge has two places and a sample");
    }
    samples += of_block;
    const auto n = static_cast<double>(of_block);
    const auto k = static_cast<double>(counts.size());
    BlockEvenness& block = result.blocks.emplace_back();
    block.bias = pearson_of(counts);
    block.half_sum = half_sum_of(counts, n / k);
    block.half_sum_due = half_sum_due(k, n);
    if (n < kFewestExpected * k) {
      simulated += of_block;
    } else {
      block.bias.p = pearson_p(block.bias.chi_square, k, n);
    }
  }
  if (blocks.empty()) return result;

  const std::uint64_t most_draws =
      std::clamp(kMostDrawn / std::max<std::uint64_t>(simulated, 1), kFewestDraws, kMostDraws);
  std::vector<double> p;
  std::vector<Model> models;
  double excess = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    BlockEvenness& block = result.blocks[i];
    const std::uint64_t of_block = sum_of(blocks[i]);
    const bool few =
        static_cast<double>(of_block) < kFewestExpected * static_cast<double>(blocks[i].size());
    if (few) block.bias.p = p_of_few(blocks[i], of_block, most_draws, random);
    p.push_back(block.bias.p);
    models.emplace_back(blocks[i], block.bias);
    excess += block.excess();
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    result.blocks[i].p_holm = adjusted[i];
    result.blocks[i].is_biased = adjusted[i] < kBiasLevel;
    if (result.blocks[i].is_biased) ++result.biased;
  }
  const double reach = two_sided_z() * spread_of(models, random);
  const auto share = [&](double of) {
    return std::clamp(of / static_cast<double>(samples), 0.0, 1.0);
  };
  result.misplaced = {share(excess), share(excess - reach), share(excess + reach)};
  return result;
}

}  // namespace skid::analysis
