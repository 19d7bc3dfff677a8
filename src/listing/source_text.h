// Lines of source files that can be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid {
class FileDescriptor;
}  // namespace skid

namespace skid::listing {

/// Reads each file once, as it is now, not as it was compiled. The names come from a binary that is
/// not trusted: only regular files of at most kLargest bytes with an absolute path are read that
/// are not in /proc, /sys or /dev and whose mode lets others read them, or that are below
/// `trusted`.
class SourceText {
 public:
  static constexpr std::uint64_t kLargest = std::uint64_t{16} << 20U;
  /// The maximum number of files whose text is kept; further files are not read.
  static constexpr std::size_t kMostFiles = 256;

  /// `trusted`: empty, or a directory of which all files may be shown. Throws
  /// std::filesystem::filesystem_error if it is missing.
  explicit SourceText(const std::filesystem::path& trusted = {});

  /// Returns line `line` (from 1) of `file`, not escaped and without its end; nullopt if it does
  /// not exist. Valid as long as this.
  std::optional<std::string_view> line(const std::string& file, int line);

  /// Returns the files that exist and were not read because of their mode, or because of where they
  /// are.
  const std::vector<std::string>& withheld() const noexcept { return withheld_; }

 private:
  struct File {
    std::string text;
    std::vector<std::size_t> begins;  ///< offsets of the lines
  };
  const File& open(const std::string& path);
  bool may_be_shown(const FileDescriptor& file) const;

  std::filesystem::path trusted_;
  std::map<std::string, File> files_;
  std::vector<std::string> withheld_;
};

}  // namespace skid::listing
