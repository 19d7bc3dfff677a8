#include "analysis/shadow.h"

#include "analysis/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace skid::analysis {
namespace {

/// Half the 95% quantile of the chi-square distribution with one degree of freedom.
constexpr double kReach = 1.9207;
/// Tried delays: all up to the first, then steps of this share.
constexpr std::uint64_t kEach = 256;
constexpr double kStep = 1.02, kSpreadStep = 1.25;

/// Shares of samples by trigger for any delay. They change only where the delay exceeds a distance
/// between two triggers, so that their sums over delays are straight lines in between.
class SharesByDelay {
 public:
  explicit SharesByDelay(std::span<const std::uint64_t> distances) : triggers_(distances.size()) {
    std::set<std::uint64_t> changes{0};
    const auto iteration = std::accumulate(distances.begin(), distances.end(), std::uint64_t{0});
    for (std::size_t from = 0; from < triggers_; ++from) {
      std::uint64_t distance = 0;
      for (std::size_t to = from; (distance += distances[to]) < iteration;) {
        changes.insert(distance);
        to = (to + 1) % triggers_;
      }
    }
    changes.insert(iteration);
    ends_.assign(changes.begin(), changes.end());
    std::vector<double> sum(triggers_);
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      slopes_.push_back(shadowed_shares(distances, ends_[i]));
      const auto delays = static_cast<double>(i == 0 ? 1 : ends_[i] - ends_[i - 1]);
      for (std::size_t t = 0; t < triggers_; ++t) sum[t] += slopes_[i][t] * delays;
      sums_.push_back(sum);
    }
  }

  /// The longest delay that can be distinguished from a shorter one.
  std::uint64_t longest() const { return ends_.back() / 2; }

  /// For a delay that is uniform from `low` to `high`, at most one iteration.
  std::vector<double> between(std::uint64_t low, std::uint64_t high) const {
    std::vector<double> shares = sum_up_to(high);
    if (low > 0) {
      const auto before = sum_up_to(low - 1);
      for (std::size_t t = 0; t < triggers_; ++t) shares[t] -= before[t];
    }
    for (double& share : shares) share /= static_cast<double>(high - low + 1);
    return shares;
  }

 private:
  std::vector<double> sum_up_to(std::uint64_t delay) const {
    const auto i = static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), delay) -
                                            ends_.begin());
    std::vector<double> sum = sums_[i];
    const auto beyond = static_cast<double>(ends_[i] - delay);
    for (std::size_t t = 0; t < triggers_; ++t) sum[t] -= slopes_[i][t] * beyond;
    return sum;
  }

  std::size_t triggers_;
  std::vector<std::uint64_t> ends_;  ///< delays up to which shares stay, from 0
  std::vector<std::vector<double>> slopes_, sums_;
};

constexpr double kNoShare = 1e-9;  // below what rounding leaves

double log_likelihood(std::span<const std::uint64_t> hits, std::span<const double> shares) {
  double sum = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (hits[i] == 0) continue;
    if (shares[i] < kNoShare) return -std::numeric_limits<double>::infinity();
    sum += static_cast<double>(hits[i]) * std::log(shares[i]);
  }
  return sum;
}

/// Sets the statistic of `shadow`, its degrees of freedom and p.
void test_fit(std::span<const std::uint64_t> hits, std::span<const double> shares, double all,
              Shadow& shadow) {
  std::vector<double> seen, expected;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (shares[i] < kNoShare) continue;
    seen.push_back(static_cast<double>(hits[i]));
    expected.push_back(all * shares[i]);
  }
  // No fewer degrees for the fitted delay, of which shares need not depend.
  const ChiSquareTest test = chi_square_test(seen, expected);
  shadow.chi_square = test.statistic;
  shadow.degrees = test.degrees;
  shadow.p = test.p;
}

struct Tried {
  std::uint64_t mean = 0, spread = 0;
  double log_likelihood = 0;
};

const Tried& better(const Tried& a, const Tried& b) {
  return b.log_likelihood > a.log_likelihood ? b : a;
}

}  // namespace

std::vector<double> shadowed_shares(std::span<const std::uint64_t> distances,
                                    std::uint64_t length) {
  std::vector<double> shares(distances.size());
  for (std::size_t overflow = 0; overflow < distances.size(); ++overflow) {
    std::size_t sampled = overflow;
    for (std::uint64_t distance = 0; distance < length;) {
      distance += distances[sampled];
      sampled = (sampled + 1) % distances.size();
    }
    shares[sampled] += 1 / static_cast<double>(distances.size());
  }
  return shares;
}

std::optional<Shadow> shadow_of(std::span<const std::uint64_t> distances,
                                std::span<const std::uint64_t> hits) {
  const auto all = static_cast<double>(std::accumulate(hits.begin(), hits.end(), std::uint64_t{0}));
  // No target has more; time grows with the square of the triggers.
  constexpr std::size_t kMostTriggers = 16;
  constexpr std::uint64_t kLongestDistance = std::uint64_t{1} << 22;
  if (hits.size() < 2 || hits.size() > kMostTriggers || hits.size() != distances.size()) {
    return std::nullopt;
  }
  if (*std::max_element(distances.begin(), distances.end()) > kLongestDistance) return std::nullopt;
  if (all < kFewestExpected * static_cast<double>(hits.size())) return std::nullopt;

  const SharesByDelay shares(distances);
  const auto next = [](std::uint64_t number, std::uint64_t each, double step) {
    return number < each ? number + 1
                         : static_cast<std::uint64_t>(static_cast<double>(number) * step) + 1;
  };
  std::vector<Tried> profile;
  for (std::uint64_t mean = 0; mean <= shares.longest(); mean = next(mean, kEach, kStep)) {
    const auto tried = [&](std::uint64_t spread) {
      return Tried{mean, spread,
                   log_likelihood(hits, shares.between(mean - spread, mean + spread))};
    };
    // A hit of a trigger directly after another one excludes all spreads but the widest.
    Tried best = better(tried(0), tried(mean));
    for (std::uint64_t spread = 1; spread <= mean; spread = next(spread, 1, kSpreadStep)) {
      best = better(best, tried(spread));
    }
    for (std::uint64_t step = best.spread / 4 + 1; step > 0; step /= 2) {
      if (best.spread >= step) best = better(best, tried(best.spread - step));
      if (best.spread + step <= mean) best = better(best, tried(best.spread + step));
    }
    profile.push_back(best);
  }
  const auto best = *std::max_element(
      profile.begin(), profile.end(),
      [](const Tried& a, const Tried& b) { return a.log_likelihood < b.log_likelihood; });
  Shadow shadow;
  if (std::isinf(best.log_likelihood)) {
    shadow.chi_square = std::numeric_limits<double>::infinity();
    return shadow;
  }
  auto fitted = shares.between(best.mean - best.spread, best.mean + best.spread);
  test_fit(hits, fitted, all, shadow);
  if (shadow.p < kShadowFit) return shadow;
  shadow.shares = std::move(fitted);

  const auto range = [&](double reach) {
    ShadowLength length{0, UINT64_MAX, 0};
    for (std::size_t i = 0; i < profile.size(); ++i) {
      if (profile[i].log_likelihood < best.log_likelihood - reach) continue;
      // Means that were not tried are within it.
      length.low = std::min(length.low, i == 0 ? 0 : profile[i - 1].mean + 1);
      length.high = i + 1 == profile.size() ? profile[i].mean : profile[i + 1].mean - 1;
    }
    return length;
  };
  constexpr double kRounding = 1e-6;
  const ShadowLength likely = range(kRounding);
  shadow.length = range(kReach);
  shadow.length->value = static_cast<double>(likely.low + likely.high) / 2;
  shadow.length->spread = best.spread;
  return shadow;
}

}  // namespace skid::analysis
