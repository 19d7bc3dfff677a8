#include "src/output/csv.h"

#include "src/output/name_list.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

std::string text_field(std::string_view text) {
  std::string escaped = escape_for_terminal(text);
  if (escaped.find_first_of(",\"") == std::string::npos) return escaped;
  std::string quoted = "\"";
  for (const char character : escaped) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

/// Returns the value at a place, keys with '/' between them; null where a key is missing.
const Json* find(const Json* value, std::string_view place) {
  while (value != nullptr && !place.empty()) {
    const auto found = value->find(std::string(take_until('/', place)));
    value = found == value->end() ? nullptr : &*found;
  }
  return value;
}

/// Returns the results of `use(name, place)` for each column, separated by commas.
template <typename Use>
std::string each_column(std::string_view columns, Use use) {
  std::vector<std::string> fields;
  while (!columns.empty()) {
    std::string_view place = take_until(' ', columns);
    const std::string_view name = take_until('=', place);
    fields.push_back(use(name, place.empty() ? name : place));
  }
  return joined(fields, ",");
}

}  // namespace

std::string csv_field(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return text_field(value.get_ref<const std::string&>());
  if (value.is_array()) return text_field(joined(value.get<std::vector<std::string>>(), " "));
  if (!value.is_number_float()) return value.dump();
  const auto number = value.get<double>();
  return std::isfinite(number) ? fmt::format("{}", number) : std::string();
}

std::string csv_header(std::string_view columns) {
  return each_column(columns, [](std::string_view name, auto) { return std::string(name); });
}

std::string csv_fields(std::string_view columns, const Json& row, const Json& more) {
  return each_column(columns, [&](auto, std::string_view place) {
    const Json* value = find(&row, place);
    if (value == nullptr) value = find(&more, place);
    return value == nullptr ? std::string() : csv_field(*value);
  });
}

}  // namespace skid::output
