// The options that say where commands find the binaries behind a recording.
#pragma once

#include "src/locate/kernel_symbols.h"
#include "src/locate/module_store.h"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace skid::commands {

struct BinaryOptions {
  std::string symfs;
  std::vector<std::string> debug_directories;
  std::string build_id_directory;
  bool debuginfod = false;
};

/// --symfs, --debug-dir, --buildid-dir, --debuginfod. `options` must live as long as `command`.
void add_binary_options(CLI::App& command, BinaryOptions& options);

/// What this machine has, changed as the options say. Throws UsageError for a directory that is
/// none.
locate::SearchPlaces search_places(const BinaryOptions& options);

/// The same for the kernel's symbols, which are in perf's build-id cache too.
locate::KernelFiles kernel_files(const BinaryOptions& options);

}  // namespace skid::commands
