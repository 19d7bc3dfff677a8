// Files by build-id from debuginfod's servers. The only code that leads to the network.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace skid::locate {

/// What debuginfod-find answered.
struct DebuginfodAnswer {
  std::filesystem::path file;  ///< in its cache; empty: no server has it
  /// Why the query failed or timed out, so that a repetition is useless; empty if it did not.
  std::string problem;
};

/// Queries elfutils' debuginfod-find from PATH for the executable with that build-id (hexadecimal).
/// The servers are those of DEBUGINFOD_URLS. The program is killed after `limit`.
DebuginfodAnswer ask_debuginfod(const std::string& build_id, std::chrono::milliseconds limit);

}  // namespace skid::locate
