#include "analysis/sample_order.h"

#include "analysis/block_evenness.h"
#include "analysis/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

namespace skid::analysis {
namespace {

constexpr std::size_t kWindow = 8, kFewestOfWindow = 4;
constexpr std::uint64_t kFewestPairs = 100;
constexpr std::size_t kFewestWindows = 20;  // fewest windows in which the order matters

using Followers = std::unordered_map<std::uint32_t, std::uint32_t>;
using Windows = std::vector<std::vector<std::uint32_t>>;

/// Finds the most frequent follower of each place, in every other window from `first` on.
Followers followers_in(const Windows& windows, std::size_t first) {
  std::unordered_map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> counts;
  for (std::size_t i = first; i < windows.size(); i += 2) {
    const auto& window = windows[i];
    for (std::size_t j = 1; j < window.size(); ++j) ++counts[window[j - 1]][window[j]];
  }
  Followers followers;
  for (const auto& [place, next] : counts) {
    const auto most =
        std::ranges::max_element(next, {}, [](const auto& one) { return one.second; });
    followers[place] = most->first;
  }
  return followers;
}

bool follows(const Followers& followers, std::uint32_t place, std::uint32_t next) {
  const auto found = followers.find(place);
  return found != followers.end() && found->second == next;
}

}  // namespace

void SampleOrderTest::add(std::span<const std::uint32_t> places) {
  while (places.size() >= kFewestOfWindow) {
    const auto window = places.first(std::min(kWindow, places.size()));
    windows_.emplace_back(window.begin(), window.end());
    places = places.subspan(window.size());
  }
}

std::optional<SampleOrder> SampleOrderTest::finish() const {
  SampleOrder order;
  double predicted = 0, due = 0, excess = 0, squares = 0;
  std::size_t ordered = 0;
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
    const Followers followers = followers_in(windows_, 1 - first);
    for (std::size_t i = first; i < windows_.size(); i += 2) {
      const auto& window = windows_[i];
      double here = 0, any = 0;
      for (std::size_t j = 0; j < window.size(); ++j) {
        for (std::size_t k = 0; k < window.size(); ++k) {
          if (j == k || !follows(followers, window[j], window[k])) continue;
          ++any;
          if (k == j + 1) ++here;
        }
      }
      // k directly follows j in one of `size` orders.
      const double mean = any / static_cast<double>(window.size());
      order.pairs += window.size() - 1;
      predicted += here;
      due += mean;
      excess += here - mean;
      squares += (here - mean) * (here - mean);
      if (here != mean) ++ordered;
    }
  }
  if (order.pairs < kFewestPairs) return std::nullopt;
  order.predicted = predicted / static_cast<double>(order.pairs);
  order.independent = due / static_cast<double>(order.pairs);
  if (ordered >= kFewestWindows) order.p = pearson3_upper_p(excess / std::sqrt(squares), 0);
  return order;
}

bool is_locked(const SampleOrder& order, double p) {
  return p < kBiasLevel && order.predicted - order.independent >= kLocked * (1 - order.independent);
}

}  // namespace skid::analysis
