#include "src/commands/commandline/command.h"

#include <algorithm>
#include <iterator>

#include <fmt/ranges.h>

namespace skid::commandline {

Option::Option(std::string_view all_names, Value of, std::string text, Texts excluded)
    : value(std::move(of)), description(std::move(text)), excludes(std::move(excluded)) {
  while (!all_names.empty()) names.emplace_back(take_until(',', all_names));
}

Texts Option::flags() const {
  Texts found;
  std::ranges::copy_if(names, std::back_inserter(found),
                       [](const std::string& name) { return name.starts_with('-'); });
  return found;
}

bool Option::has_flag(std::string_view name) const {
  return name.starts_with('-') && std::ranges::find(names, name) != names.end();
}

std::string Option::argument() const {
  const auto found =
      std::ranges::find_if(names, [](const std::string& name) { return !name.starts_with('-'); });
  return found == names.end() ? std::string() : *found;
}

std::map<ExitStatus, std::string> all_exit_statuses(const Command& command) {
  auto statuses = command.exit_statuses;
  statuses.try_emplace(ExitStatus::done, "success");
  statuses.try_emplace(ExitStatus::failed, "failure; a message states the reason");
  statuses.try_emplace(ExitStatus::usage, "wrong usage");
  return statuses;
}

Value Value::one_of(std::string name, std::string& variable, const Texts& words) {
  const auto store = [&variable, words](const Texts& given) {
    if (std::ranges::find(words, given.back()) == words.end()) throw NotAllowed{given.back()};
    variable = given.back();
  };
  return {.name = std::move(name), .words = words, .completion = Completion::words, .store = store};
}

std::string Value::expected() const {
  if (!words.empty()) return fmt::format("{}", fmt::join(words, ", "));
  if (!limits.empty()) return limits;
  return is_number ? "a number" : name;
}

}  // namespace skid::commandline
