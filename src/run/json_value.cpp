#include "src/run/json_value.h"

#include "src/support/error.h"
#include "src/support/json_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::run {

using nlohmann::json;

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

std::vector<JsonValue> JsonValue::elements(std::size_t most) const {
  if (!value_->is_array()) refuse_type("an array");
  if (value_->size() > most) {
    refuse(fmt::format("{} elements", value_->size()), fmt::format("at most {}", most));
  }
  std::vector<JsonValue> elements;
  elements.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    elements.push_back(JsonValue((*value_)[i], file_, fmt::format("{}[{}]", key_, i)));
  }
  return elements;
}

void JsonValue::allow_only(std::initializer_list<std::string_view> names) const {
  if (!value_->is_object()) refuse_type("an object");
  for (const auto& [name, value] : value_->items()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    refuse(fmt::format("the key {}", json_text(json(name))),
           fmt::format("{}", fmt::join(names, ", ")));
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
  const auto in_bounds = [&](auto number) {
    return std::cmp_less_equal(least, number) && std::cmp_less_equal(number, most);
  };
  if (value_->is_number_unsigned()) {
    const auto number = value_->get<std::uint64_t>();
    if (in_bounds(number)) return static_cast<int>(number);
  } else if (value_->is_number_integer()) {
    const auto number = value_->get<std::int64_t>();
    if (in_bounds(number)) return static_cast<int>(number);
  } else {
    refuse_type("an integer");
  }
  refuse(value_->dump(), most == std::numeric_limits<int>::max()
                             ? fmt::format("an integer of at least {}", least)
                             : fmt::format("{} to {}", least, most));
}

void JsonValue::refuse(const std::string& found, const std::string& allowed,
                       const std::string& remedy) const {
  throw InputError({.file = file_,
                    .offset = {},
                    .found = key_.empty() ? found : fmt::format("{} for \"{}\"", found, key_),
                    .allowed = allowed,
                    .remedy = remedy});
}

void JsonValue::refuse_type(const std::string& allowed) const {
  refuse(fmt::format("{} {}", value_->is_array() || value_->is_object() ? "an" : "a",
                     value_->type_name()),
         allowed);
}

}  // namespace skid::run
