// A directory of our own for as long as it is needed.
#pragma once

#include <filesystem>

namespace skid {

/// Entered by nobody else, removed with all that is in it.
class TemporaryDirectory {
 public:
  /// Where TMPDIR says, or in /tmp where that is no directory.
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
