#include "src/commandline/command.h"

#include <algorithm>
#include <iterator>

namespace skid::commandline {

std::vector<std::string> Option::flags() const {
  std::vector<std::string> found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [](const std::string& name) { return name.starts_with('-'); });
  return found;
}

std::string Option::argument() const {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [](const std::string& name) { return !name.starts_with('-'); });
  return found == names.end() ? std::string() : *found;
}

void Command::add(const std::vector<Option>& more) {
  options.insert(options.end(), more.begin(), more.end());
}

Option help_option() {
  return {{"-h", "--help"}, {}, "print this help and exit", {}};
}

Option version_option() {
  return {{"--version"}, {}, "print the version and exit", {}};
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

}  // namespace skid::commandline
