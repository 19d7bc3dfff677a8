// What CLI11's own validators do not do.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::words {

/// Told and completed as the words of CLI::IsMember are. Refuses nothing: the command knows more
/// spellings, or says better what is wrong.
inline CLI::Validator suggested(const std::vector<std::string>& words) {
  return {[](std::string&) { return std::string(); }, fmt::format("{{{}}}", fmt::join(words, ","))};
}

/// The same of words in one text: "load, store".
inline CLI::Validator suggested(std::string_view list) {
  std::vector<std::string> words;
  constexpr std::string_view kSeparator = ", ";
  while (!list.empty()) {
    const std::size_t end = list.find(kSeparator);
    words.emplace_back(list.substr(0, end));
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + kSeparator.size());
  }
  return suggested(words);
}

/// CLI::Range, for which NaN is neither too small nor too large.
inline CLI::Validator real_range(double least, double most) {
  const CLI::Range range(least, most);
  return {[range](std::string& text) {
            double value = 0;
            const bool is_nan = CLI::detail::lexical_cast(text, value) && std::isnan(value);
            return is_nan ? text + " is no number" : range(text);
          },
          range.get_description()};
}

/// CLI::AsSizeValue, "64MiB" made bytes, which leaves what it refuses as it was given.
inline CLI::Validator size_in_bytes() {
  const CLI::AsSizeValue size(/*kb_is_1000=*/false);
  return {[size](std::string& text) {
            std::string bytes = text;
            std::string refusal = size(bytes);
            if (refusal.empty()) text = bytes;
            return refusal;
          },
          size.get_description()};
}

/// Refuses a value of no characters.
inline CLI::Validator not_empty() {
  return {[](std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, ""};
}

}  // namespace skid::words
