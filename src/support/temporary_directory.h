// Temporary files and directories.
#pragma once

#include "src/support/file_descriptor.h"

#include <filesystem>
#include <string>

namespace skid {

/// A temporary directory, accessible to its owner only, removed with its contents; also where
/// SIGINT, SIGTERM or SIGHUP ends the process, as far as it contains only files.
class TemporaryDirectory {
 public:
  /// Returns TMPDIR; /tmp if that is not a directory.
  static std::filesystem::path usual_parent();
  /// Returns TMPDIR, or else /var/tmp, because /tmp may be in memory.
  static std::filesystem::path roomy_parent();

  /// Creates the directory. Throws Error with the remedy if that is not possible in `parent`.
  explicit TemporaryDirectory(const std::filesystem::path& parent = usual_parent());
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  TemporaryDirectory(TemporaryDirectory&&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Creates an empty file without a name, for reading and writing, in roomy_parent(). Sets
/// `directory` to that. Throws Error.
FileDescriptor unnamed_file(std::string& directory);

}  // namespace skid
