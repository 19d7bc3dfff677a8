// What the exit statuses of commands mean, in words.
#pragma once

#include "src/support/error.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace skid::commands {

inline constexpr const char* kNothingRead = "failed, or nothing could be read";
inline constexpr const char* kReadInPart =
    "some of the inputs could be read only in part or not at all";
inline constexpr const char* kGateFailed = "--fail-on did not hold";

/// Those that every command has and `own`, which may say more of one of them, by number.
std::vector<std::pair<int, std::string>> exit_statuses(std::map<ExitStatus, std::string> own);

}  // namespace skid::commands
