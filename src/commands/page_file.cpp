#include "src/commands/page_file.h"

#include "src/support/process.h"

#include <cstddef>
#include <filesystem>
#include <set>

namespace skid::commands {

html::Origin page_origin(const std::vector<analysis::Measurement>& measurements) {
  constexpr std::size_t kMostLines = 50;
  html::Origin origin;
  origin.version = SKIDSCAN_VERSION;
  origin.line = own_command_line();
  // From wherever it was started.
  if (!origin.line.empty()) origin.line.front() = "skidscan";
  std::set<analysis::CommandLine> known;
  for (const auto& measurement : measurements) {
    for (const analysis::CommandLine& line : measurement.command_lines) {
      if (line.empty() || !known.insert(line).second) continue;
      if (origin.recorded.size() == kMostLines) {
        ++origin.left_out;
        continue;
      }
      origin.recorded.push_back(line);
      // From wherever it was started; other names stand as they are told.
      auto& program = origin.recorded.back().front();
      const std::string name = std::filesystem::path(program).filename().string();
      if (name == "skidscan" || name == "perf") program = name;
    }
  }
  return origin;
}

}  // namespace skid::commands
