#include "src/commands/binary_options.h"

#include "src/support/error.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace skid::commands {
namespace {

void require_directory(const char* option, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return;
  throw UsageError(fmt::format("{} {}: no such directory", option, path));
}

}  // namespace

void add_binary_options(CLI::App& command, BinaryOptions& options) {
  command
      .add_option("--symfs", options.symfs,
                  "directory in front of the recorded paths: the root of the machine that was "
                  "recorded")
      ->type_name("DIR");
  command
      .add_option("--debug-dir", options.debug_directories,
                  "directory laid out as /usr/lib/debug, asked before it; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      .add_option("--buildid-dir", options.build_id_directory,
                  "perf's build-id cache (default: ~/.debug)")
      ->type_name("DIR");
  command.add_flag("--debuginfod", options.debuginfod,
                   "ask debuginfod's servers (DEBUGINFOD_URLS) for binaries that are nowhere here; "
                   "without it no network is used");
}

locate::SearchPlaces search_places(const BinaryOptions& options) {
  auto places = locate::SearchPlaces::of_this_machine();
  if (!options.symfs.empty()) {
    require_directory("--symfs", options.symfs);
    places.symfs = options.symfs;
  }
  for (const std::string& directory : options.debug_directories) {
    require_directory("--debug-dir", directory);
    places.by_build_id.debug_directories.emplace_back(directory);
  }
  if (!options.build_id_directory.empty()) {
    require_directory("--buildid-dir", options.build_id_directory);
    places.by_build_id.build_id_cache = options.build_id_directory;
  }
  places.asks_debuginfod = options.debuginfod;
  return places;
}

locate::KernelFiles kernel_files(const BinaryOptions& options) {
  auto files = locate::KernelFiles::of_this_machine();
  if (!options.build_id_directory.empty()) files.cache = options.build_id_directory;
  return files;
}

}  // namespace skid::commands
