#include "src/commands/commandline/command.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/ranges.h>

namespace skid::commandline {

std::vector<std::string> Option::flags() const {
  std::vector<std::string> found;
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

void Command::add(const std::vector<Option>& more) {
  options.insert(options.end(), more.begin(), more.end());
}

Option help_option() {
  return {{"-h", "--help"}, {}, "print this help and exit", {}};
}

Option version_option() {
  return {{"-V", "--version"}, {}, "print the version and exit", {}};
}

std::map<ExitStatus, std::string> all_exit_statuses(const Command& command) {
  auto statuses = command.exit_statuses;
  statuses.try_emplace(ExitStatus::done, "success");
  statuses.try_emplace(ExitStatus::failed, "failure; a message states the reason");
  statuses.try_emplace(ExitStatus::usage, "wrong usage");
  return statuses;
}

std::string full_name(const Program& program, const Command& command) {
  if (&command == &program.itself) return program.itself.name;
  return program.itself.name + " " + command.name;
}

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
    const bool is_known = std::ranges::find(words, given.back()) != words.end();
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

Value Value::completing(std::function<Texts()> with, Completion as) && {
  candidates = std::move(with);
  completion = as;
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
