// Files by build-id from debuginfod's servers. The only code that leads to the network.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace skid::locate {

/// What debuginfod-find answered.
struct DebuginfodAnswer {
  std::filesystem::path file;  ///< in its cache; empty: no server has it
  /// Why it could not be asked, or took too long: there is no use in asking again. Empty: it could.
  std::string problem;
};

/// Asks elfutils' debuginfod-find, found in PATH, for the executable of that build-id
/// (hexadecimal). Servers are those of DEBUGINFOD_URLS. The program is killed when `limit` is over.
DebuginfodAnswer ask_debuginfod(const std::string& build_id, std::chrono::milliseconds limit);

}  // namespace skid::locate
