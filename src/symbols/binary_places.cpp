#include "src/symbols/binary_places.h"

#include <algorithm>
#include <string_view>

namespace skid::symbols {
namespace {

namespace fs = std::filesystem;

/// Recorded ids are untrusted: only hexadecimal digits may become part of a path.
bool is_build_id(std::string_view text) {
  return text.size() > 2 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// ".build-id/xx/rest".
fs::path link_of(const std::string& build_id) {
  return fs::path(".build-id") / build_id.substr(0, 2) / build_id.substr(2);
}

std::vector<fs::path> debug_directories_of(const BinaryPlaces& places) {
  std::vector<fs::path> directories = places.debug_directories;
  if (std::ranges::find(directories, kDebugDirectory) == directories.end()) {
    directories.emplace_back(kDebugDirectory);
  }
  return directories;
}

}  // namespace

std::vector<fs::path> executables_of(const BinaryPlaces& places, const std::string& build_id) {
  std::vector<fs::path> files;
  if (!is_build_id(build_id)) return files;
  if (!places.build_id_cache.empty()) {
    const fs::path link = places.build_id_cache / link_of(build_id);
    files.insert(files.end(), {link / "elf", link / "vdso", link});
  }
  if (!places.debuginfod_cache.empty()) {
    files.push_back(places.debuginfod_cache / build_id / "executable");
  }
  for (const fs::path& directory : debug_directories_of(places)) {
    files.push_back(directory / link_of(build_id));
  }
  return files;
}

std::vector<fs::path> debug_files_of(const BinaryPlaces& places, const std::string& build_id) {
  std::vector<fs::path> files;
  if (!is_build_id(build_id)) return files;
  for (const fs::path& directory : debug_directories_of(places)) {
    fs::path file = directory / link_of(build_id);
    file += ".debug";
    files.push_back(std::move(file));
  }
  if (!places.build_id_cache.empty()) {
    files.push_back(places.build_id_cache / link_of(build_id) / "debug");
  }
  if (!places.debuginfod_cache.empty()) {
    files.push_back(places.debuginfod_cache / build_id / "debuginfo");
  }
  return files;
}

std::vector<fs::path> directories_of(const BinaryPlaces& places) {
  std::vector<fs::path> directories;
  if (!places.build_id_cache.empty()) directories.push_back(places.build_id_cache);
  if (!places.debuginfod_cache.empty()) directories.push_back(places.debuginfod_cache);
  for (fs::path& directory : debug_directories_of(places)) {
    directories.push_back(std::move(directory));
  }
  return directories;
}

}  // namespace skid::symbols
