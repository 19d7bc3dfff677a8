// Where the files of a recording are searched.
#pragma once

#include "src/symbols/binary_places.h"
#include "src/symbols/demangle.h"

#include <filesystem>
#include <string>
#include <vector>

namespace skid::locate {

struct SearchPlaces {
  /// Prepended to every recorded path; empty: paths as recorded.
  std::filesystem::path symfs = {};
  symbols::BinaryPlaces by_build_id = {};
  bool asks_debuginfod = false;  ///< query debuginfod's servers for files found nowhere else
  symbols::NameStyle names = symbols::NameStyle::signatures;  ///< of functions
  /// Files for ModuleStore::add_candidate.
  std::vector<std::filesystem::path> candidates = {};

  /// What a user can do about a file that is not the recorded one, as the end of a message:
  /// "; --binary FILE names a copy".
  std::string remedy = {};

  /// Returns the places of this machine: perf's build-id cache ($HOME/.debug) and the cache of
  /// debuginfod's clients ($DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client, else
  /// ~/.cache/debuginfod_client).
  static SearchPlaces of_this_machine();
};

}  // namespace skid::locate
