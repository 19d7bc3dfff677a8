#include "src/commands/exit_statuses.h"

namespace skid::commands {

std::vector<std::pair<int, std::string>> exit_statuses(std::map<ExitStatus, std::string> own) {
  own.try_emplace(ExitStatus::done, "done");
  own.try_emplace(ExitStatus::failed, "failed; a message says why");
  own.try_emplace(ExitStatus::usage, "wrong usage");
  std::vector<std::pair<int, std::string>> statuses;
  for (const auto& [status, meaning] : own) {
    statuses.emplace_back(static_cast<int>(status), meaning);
  }
  return statuses;
}

}  // namespace skid::commands
