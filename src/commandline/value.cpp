#include "src/commandline/value.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

namespace skid::commandline {

Value Value::flag(bool& variable) {
  Value value;
  value.repeats = true;
  value.store = [&variable](const Texts&) -> std::optional<std::string> {
    variable = true;
    return std::nullopt;
  };
  return value;
}

Value Value::converted(std::string name, std::function<void(const Texts&)> use) {
  Value value;
  value.name = std::move(name);
  value.store = [use = std::move(use)](const Texts& given) -> std::optional<std::string> {
    use(given);
    return std::nullopt;
  };
  return value;
}

Value Value::one_of(std::string name, std::string& variable, Texts words) {
  Value value;
  value.name = std::move(name);
  value.completion = Completion::words;
  value.words = words;
  value.store = [&variable, words = std::move(words)](const Texts& given) {
    const bool is_known = std::find(words.begin(), words.end(), given.back()) != words.end();
    if (is_known) variable = given.back();
    return is_known ? std::nullopt : std::optional(given.back());
  };
  return value;
}

Value Value::several() && {
  in_a_row = true;
  return std::move(*this);
}

Value Value::separated() && {
  comma_separated = true;
  repeats = true;
  return std::move(*this);
}

Value Value::completing(Completion with) && {
  completion = with;
  return std::move(*this);
}

Value Value::suggesting(Texts suggestions) && {
  words = std::move(suggestions);
  completion = Completion::words;
  return std::move(*this);
}

std::string Value::expected() const {
  if (!words.empty()) return fmt::format("{}", fmt::join(words, ", "));
  if (!limits.empty()) return limits;
  return is_number ? "a number" : name;
}

}  // namespace skid::commandline
