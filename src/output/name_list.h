// Lists of names as texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
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

/// Makes equal labels different: the second "pp" is "pp (2)". `occurrence`: from 1.
inline std::string numbered(std::string label, int occurrence) {
  return occurrence > 1 ? fmt::format("{} ({})", label, occurrence) : std::move(label);
}

}  // namespace skid::output
