#include "src/locate/debuginfod.h"

#include "src/support/error.h"
#include "src/support/process.h"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace skid::locate {

DebuginfodAnswer ask_debuginfod(const std::string& build_id, std::chrono::milliseconds limit) {
  constexpr const char* kProgram = "debuginfod-find";
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0') {
    return {{}, "DEBUGINFOD_URLS is not set; no debuginfod server was queried"};
  }
  const auto program = find_program(kProgram);
  if (!program) {
    return {{}, fmt::format("{}: not found; install it to query debuginfod servers", kProgram)};
  }
  try {
    ChildProcess child({program->string(), "executable", build_id});
    if (!child.wait(limit)) {
      return {{},
              fmt::format("{}: no answer in {} s; no further queries are made", kProgram,
                          std::chrono::duration_cast<std::chrono::seconds>(limit).count())};
    }
    if (!child.result().code.success()) return {};
    std::string_view path = child.result().out;
    path = path.substr(0, path.find('\n'));
    return {path, {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

}  // namespace skid::locate
