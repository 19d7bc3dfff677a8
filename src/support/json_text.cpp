#include "src/support/json_text.h"

#include <algorithm>
#include <cstddef>

#include <nlohmann/json.hpp>

namespace skid {

namespace {

using Json = nlohmann::ordered_json;

std::string json_line(const Json& value) {
  constexpr bool kAsciiOnly = true;
  return value.dump(-1, ' ', kAsciiOnly, Json::error_handler_t::replace);
}

/// Whether `value` is a table: an array of arrays of numbers.
bool is_table(const Json& value) {
  const auto is_row = [](const Json& row) {
    return row.is_array() &&
           std::ranges::all_of(row, [](const Json& cell) { return cell.is_number(); });
  };
  return value.is_array() && !value.empty() && std::ranges::all_of(value, is_row);
}

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

}  // namespace

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  if (indent < 0) return json_line(value);
  std::string text;
  append_indented(value, indent, 0, text);
  return text;
}

}  // namespace skid
