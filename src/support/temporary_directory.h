// A temporary directory.
#pragma once

#include <filesystem>

namespace skid {

/// Accessible to its owner only, removed with its contents.
class TemporaryDirectory {
 public:
  /// In TMPDIR, or in /tmp where that is no directory.
  static std::filesystem::path usual_parent();

  /// Throws Error with the remedy when nothing can be made in `parent`.
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

}  // namespace skid
