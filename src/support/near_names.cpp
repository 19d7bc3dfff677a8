#include "src/support/near_names.h"

#include "src/support/text.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace skid {
namespace {

/// Maximum length of names that are compared by edit distance, whose cost is the product of the
/// lengths.
constexpr std::size_t kLongest = 256;

/// Returns how many edits make `b` of `a`: letters inserted, removed or replaced, neighbours
/// swapped (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last = before, row = before;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> near_names(std::string_view name,
                                    const std::map<std::string, std::uint64_t>& known,
                                    std::size_t most) {
  using Candidate = std::tuple<std::size_t, std::uint64_t, std::string_view>;  // ~count
  const std::string wanted = lower_case(name);
  std::vector<Candidate> candidates;
  for (const auto& [other, count] : known) {
    const std::string text = lower_case(other);
    std::size_t differing = 0;
    if (wanted.size() <= kLongest && text.size() <= kLongest) {
      const auto [shorter, longer] = std::minmax({wanted.size(), text.size()});
      // The distance is at least the difference of the lengths.
      differing = longer - shorter <= longer / 3 ? distance(wanted, text) : longer;
      if (differing * 3 > longer) differing = longer;
      if (differing < longer) {
        candidates.emplace_back(differing, ~count, other);
        continue;
      }
    }
    if (wanted.empty() || text.empty()) continue;
    if (contains(text, wanted) || contains(wanted, text)) {
      candidates.emplace_back(std::max(wanted.size(), text.size()), ~count, other);
    }
  }
  std::ranges::sort(candidates);
  candidates.resize(std::min(candidates.size(), most));
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates) names.emplace_back(std::get<2>(candidate));
  return names;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kMost = 3;
  std::map<std::string, std::uint64_t> names;
  for (const std::string& each : known) names.emplace(each, 0);
  const auto near = near_names(name, names, kMost);
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", fmt::join(near, ", "));
}

std::string did_you_mean_or_all(std::string_view name, const std::vector<std::string>& known) {
  std::string text = did_you_mean(name, known);
  return text.empty() ? fmt::format("; expected {}", fmt::join(known, ", ")) : text;
}

std::vector<std::string> most_frequent(const std::map<std::string, std::uint64_t>& known,
                                       std::size_t most) {
  std::vector<std::pair<std::uint64_t, std::string>> ordered;
  ordered.reserve(known.size());
  for (const auto& [name, count] : known) ordered.emplace_back(~count, name);
  std::ranges::sort(ordered);
  ordered.resize(std::min(ordered.size(), most));
  std::vector<std::string> names;
  for (auto& [order, name] : ordered) names.push_back(std::move(name));
  return names;
}

}  // namespace skid
