// JSON as text, the same wherever we write it.
#pragma once

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

namespace skid {

namespace detail {

template <typename Json>
std::string json_line(const Json& value) {
  constexpr bool kAsciiOnly = true;
  return value.dump(-1, ' ', kAsciiOnly, Json::error_handler_t::replace);
}

/// A table: an array of arrays of numbers.
template <typename Json>
bool is_table(const Json& value) {
  const auto is_row = [](const Json& row) {
    return row.is_array() &&
           std::ranges::all_of(row, [](const Json& cell) { return cell.is_number(); });
  };
  return value.is_array() && !value.empty() && std::ranges::all_of(value, is_row);
}

template <typename Json>
void append_indented(const Json& value, int indent, int level, std::string& text) {
  if (!value.is_structured() || value.empty() || is_table(value)) {
    text += json_line(value);
    return;
  }
  const std::string line_begin = '\n' + std::string(static_cast<std::size_t>(indent * level), ' ');
  const std::string inner_begin = line_begin + std::string(static_cast<std::size_t>(indent), ' ');
  text += value.is_object() ? '{' : '[';
  bool first = true;
  for (auto element = value.begin(); element != value.end(); ++element) {
    if (!first) text += ',';
    first = false;
    text += inner_begin;
    if (value.is_object()) text += json_line(Json(element.key())) + ": ";
    append_indented(*element, indent, level + 1, text);
  }
  text += line_begin;
  text += value.is_object() ? '}' : ']';
}

}  // namespace detail

/// `value` as JSON in printable ASCII: every other character of its strings is written as \uNNNN
/// (a pair of them beyond U+FFFF), so that nothing in it controls a terminal, and any parser
/// has the characters back. Names from recordings need not be UTF-8: invalid bytes become U+FFFD.
/// `indent`: spaces per level; -1 for one line. An array of arrays of numbers is one line in any
/// case. No newline at the end.
template <typename Json>
std::string json_text(const Json& value, int indent = -1) {
  if (indent < 0) return detail::json_line(value);
  std::string text;
  detail::append_indented(value, indent, 0, text);
  return text;
}

}  // namespace skid
