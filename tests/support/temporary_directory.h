// A directory that is removed when the test ends.
#pragma once

#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/temporary_directory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>

namespace skid::test {

class TemporaryDirectory : public skid::TemporaryDirectory {
 public:
  TemporaryDirectory() : skid::TemporaryDirectory(usual_parent()) {}

  std::filesystem::path operator/(const std::string& name) const { return path() / name; }

  /// Writes a file, and directories above it that do not exist. Returns its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::filesystem::create_directories((path() / name).parent_path());
    std::ofstream(path() / name, std::ios::binary) << content;
    return path() / name;
  }
};

/// A file for writing, empty.
inline FileDescriptor created(const std::filesystem::path& path) {
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
}

/// The names of what is in a directory, sorted.
inline std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace skid::test
