#include "tests/support/facts.h"

#include "src/support/process.h"
#include "tests/support/facts_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace skid::test {

std::filesystem::path facts_file() {
  const char* named = std::getenv("SKIDSCAN_FACTS");
  return named != nullptr ? named : SKIDSCAN_FACTS_PROGRAM ".txt";
}

Facts read_facts(const std::filesystem::path& path) {
  Facts facts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    facts[line.substr(0, colon)] = colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return facts;
}

std::string why_without(std::initializer_list<std::string_view> names) {
  // A test that is started by hand may be the first that needs the file.
  static const Facts facts = [] {
    if (!std::filesystem::exists(facts_file()) &&
        !run_program({SKIDSCAN_FACTS_PROGRAM, "--write"}).code.success()) {
      throw std::runtime_error(SKIDSCAN_FACTS_PROGRAM ": cannot find out what this machine has");
    }
    return read_facts(facts_file());
  }();
  for (const std::string_view name : names) {
    const auto found = facts.find(std::string(name));
    if (found == facts.end()) throw std::runtime_error("no fact: " + std::string(name));
    if (!found->second.empty()) return found->second;
  }
  return {};
}

}  // namespace skid::test
