#include "src/support/json_value.h"

#include "src/support/error.h"
#include "src/support/json_text.h"
#include "src/support/text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid {

using nlohmann::json;

namespace {

/// The cost of parsing a text, determined without parsing it, also for text that is not JSON.
struct Extent {
  std::size_t depth = 0;
  std::size_t values = 0;  ///< upper bound of their number
};

Extent extent_of(std::string_view text) {
  Extent extent;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      continue;
    } else if (c == '[' || c == '{') {
      extent.depth = std::max(extent.depth, ++depth);
      ++extent.values;
    } else if (c == ',') {
      ++extent.values;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return extent;
}

template <typename Integer>
std::optional<Integer> whole_number(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (std::in_range<Integer>(number)) return static_cast<Integer>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (std::in_range<Integer>(number)) return static_cast<Integer>(number);
  }
  return std::nullopt;
}

}  // namespace

json parse_json(std::string_view text, const std::string& file, const std::string& allowed,
                const std::string& remedy) {
  const auto refuse = [&](std::string found, std::optional<std::uint64_t> offset = {}) {
    return InputError({file, offset, std::move(found), allowed, remedy});
  };
  const Extent extent = extent_of(text);
  if (extent.depth > kDeepestJson) {
    throw refuse(fmt::format("values nested more than {} deep", kDeepestJson));
  }
  if (extent.values > kMostJsonValues) {
    throw refuse(fmt::format("more than {} values", kMostJsonValues));
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    throw refuse("text that is not JSON", error.byte - 1);  // `byte` counts from 1
  } catch (const json::out_of_range&) {
    throw refuse("a number too large for any of its keys");
  }
}

JsonValue JsonValue::member(const json& value, std::string_view name) const {
  return {value, file_, key_.empty() ? std::string(name) : fmt::format("{}.{}", key_, name)};
}

std::optional<JsonValue> JsonValue::find(std::string_view name) const {
  if (!value_->is_object()) refuse_type("an object");
  const auto found = value_->find(name);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return member(*found, name);
}

JsonValue JsonValue::operator[](std::string_view name) const {
  if (auto found = find(name)) return *found;
  member(*value_, name).refuse("nothing", "a value");
}

void JsonValue::check_array(std::size_t most) const {
  if (!value_->is_array()) refuse_type("an array");
  if (value_->size() > most) {
    refuse(fmt::format("{} elements", value_->size()), fmt::format("at most {}", most));
  }
}

std::vector<JsonValue> JsonValue::elements(std::size_t most) const {
  check_array(most);
  std::vector<JsonValue> elements;
  elements.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    elements.push_back(JsonValue((*value_)[i], file_, fmt::format("{}[{}]", key_, i)));
  }
  return elements;
}

void JsonValue::allow_only(const std::vector<std::string_view>& names) const {
  if (!value_->is_object()) refuse_type("an object");
  for (const auto& [name, value] : value_->items()) {
    if (contains(names, name)) continue;
    refuse(fmt::format("the key {}", json_text(name)), fmt::format("{}", fmt::join(names, ", ")));
  }
}

bool JsonValue::boolean() const {
  if (!value_->is_boolean()) refuse_type("true or false");
  return value_->get<bool>();
}

std::string JsonValue::string() const {
  if (!value_->is_string()) refuse_type("a string");
  return value_->get<std::string>();
}

std::vector<std::string> JsonValue::strings(std::size_t most) const {
  std::vector<std::string> strings;
  for (const JsonValue& element : elements(most)) strings.push_back(element.string());
  return strings;
}

std::vector<std::pair<std::int64_t, std::uint64_t>> JsonValue::pairs(std::size_t most) const {
  check_array(most);
  std::vector<std::pair<std::int64_t, std::uint64_t>> pairs;
  pairs.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    const json& pair = (*value_)[i];
    const bool is_pair = pair.is_array() && pair.size() == 2;
    const auto first = is_pair ? whole_number<std::int64_t>(pair[0]) : std::nullopt;
    const auto second = is_pair ? whole_number<std::uint64_t>(pair[1]) : std::nullopt;
    if (!first || !second) {
      JsonValue(pair, file_, fmt::format("{}[{}]", key_, i))
          .refuse(pair.type_name(), "a pair of an integer and an integer of at least 0");
    }
    pairs.emplace_back(*first, *second);
  }
  return pairs;
}

double JsonValue::non_negative_number() const {
  if (!value_->is_number()) refuse_type("a number");
  const auto number = value_->get<double>();
  if (!std::isfinite(number) || number < 0) refuse(fmt::format("{}", number), "at least 0");
  return number;
}

double JsonValue::number(double least, double most) const {
  if (!value_->is_number()) refuse_type("a number");
  const auto number = value_->get<double>();
  if (!(number >= least && number <= most)) {
    refuse(fmt::format("{}", number), fmt::format("{} to {}", least, most));
  }
  return number;
}

std::uint64_t JsonValue::unsigned_integer(std::uint64_t most) const {
  if (!value_->is_number_unsigned()) refuse_type("an integer of at least 0");
  const auto number = value_->get<std::uint64_t>();
  if (number > most) refuse(fmt::format("{}", number), fmt::format("at most {}", most));
  return number;
}

int JsonValue::integer(int least, int most) const {
  return static_cast<int>(integer64(least, most));
}

std::int64_t JsonValue::integer64(std::int64_t least, std::int64_t most) const {
  if (!value_->is_number_integer()) refuse_type("an integer");
  const auto number = whole_number<std::int64_t>(*value_);
  if (number && *number >= least && *number <= most) return *number;
  const bool open_ended =
      most == std::numeric_limits<int>::max() || most == std::numeric_limits<std::int64_t>::max();
  refuse(value_->dump(), open_ended ? fmt::format("an integer of at least {}", least)
                                    : fmt::format("{} to {}", least, most));
}

void JsonValue::refuse(const std::string& found, const std::string& allowed,
                       const std::string& remedy) const {
  throw InputError({file_, std::nullopt,
                    key_.empty() ? found : fmt::format("{} for \"{}\"", found, key_), allowed,
                    remedy});
}

void JsonValue::refuse_text(const std::string& allowed, const std::string& remedy) const {
  refuse(json_text(string()), allowed, remedy);
}

void JsonValue::refuse_type(const std::string& allowed) const {
  refuse(fmt::format("{} {}", value_->is_array() || value_->is_object() ? "an" : "a",
                     value_->type_name()),
         allowed);
}

}  // namespace skid
