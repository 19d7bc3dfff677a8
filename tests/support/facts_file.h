// The file of facts: a line NAME for each that holds, NAME: REASON for each that does not.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace skid::test {

using Facts = std::map<std::string, std::string>;  ///< why each does not hold; empty if it does

/// SKIDSCAN_FACTS of the environment, else beside the program `facts`.
std::filesystem::path facts_file();
Facts read_facts(const std::filesystem::path& path);

}  // namespace skid::test
