#include "src/locate/search_places.h"

#include <chrono>
#include <cstdlib>

namespace skid::locate {
namespace {

namespace fs = std::filesystem;

/// Returns the path in an environment variable; empty if it is not set.
fs::path from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

}  // namespace

SearchPlaces SearchPlaces::of_this_machine() {
  SearchPlaces places;
  const fs::path home = from_environment("HOME");
  if (!home.empty()) places.by_build_id.build_id_cache = home / ".debug";
  fs::path& debuginfod = places.by_build_id.debuginfod_cache;
  debuginfod = from_environment("DEBUGINFOD_CACHE_PATH");
  if (!debuginfod.empty()) return places;
  const fs::path cache = from_environment("XDG_CACHE_HOME");
  if (!cache.empty()) {
    debuginfod = cache / "debuginfod_client";
  } else if (!home.empty()) {
    debuginfod = home / ".cache" / "debuginfod_client";
  }
  return places;
}

}  // namespace skid::locate
