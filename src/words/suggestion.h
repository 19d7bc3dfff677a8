// Words that a value usually is, for options that refuse others themselves.
#pragma once

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

}  // namespace skid::words
