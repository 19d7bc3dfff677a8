// Lists of names as texts.
#pragma once

#include "analysis/wording.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

/// Returns the results of `text_of` for each element.
template <typename Elements, typename TextOf>
std::vector<std::string> texts_of(const Elements& elements, TextOf text_of) {
  std::vector<std::string> texts;
  for (const auto& element : elements) texts.push_back(text_of(element));
  return texts;
}

/// Joins all names.
inline std::string joined(const std::vector<std::string>& names,
                          std::string_view separator = ", ") {
  return fmt::format("{}", fmt::join(names, separator));
}

/// Joins names with commas; of more than `most` names the first ones, "and 12 more".
std::string list_of(const std::vector<std::string>& names, std::size_t most = 8);

/// Returns "12 unmapped" and so on for the counts of an enumeration's values (SKID_WORDS) that are
/// not 0.
template <typename Enum, std::size_t N>
std::vector<std::string> counts_in_words(const std::array<std::uint64_t, N>& counts) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] == 0) continue;
    texts.push_back(
        fmt::format("{} {}", analysis::in_thousands(counts[i]), describe(static_cast<Enum>(i))));
  }
  return texts;
}

/// Makes equal labels different: the second "pp" is "pp (2)". `occurrence`: from 1.
inline std::string numbered(std::string label, int occurrence) {
  return occurrence > 1 ? fmt::format("{} ({})", label, occurrence) : std::move(label);
}

}  // namespace skid::output
