// The files below one directory used as "/": of this machine, or a copy of another machine's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {

/// Reads small files of /proc and /sys. A copy is third-party data: nothing outside of it is read,
/// wherever its symbolic links point, and sizes and numbers of files are bounded.
class FileTree {
 public:
  explicit FileTree(std::filesystem::path root);

  /// Whether this is the machine itself and not a copy.
  bool is_here() const noexcept { return here_; }
  /// Returns the content of a regular file of at most `limit` bytes without white space at its
  /// ends; empty when it cannot be read. `path` is relative to the root.
  std::string content_of(const std::filesystem::path& path, std::uint64_t limit = kLine) const;
  bool exists(const std::filesystem::path& path) const;
  /// Lists the names in a directory, sorted, at most `kMostNames` of them; none if it does not
  /// exist.
  std::vector<std::string> names_in(const std::filesystem::path& path) const;

  static constexpr std::uint64_t kLine = std::uint64_t{64} << 10;  ///< default size limit, bytes
  static constexpr std::size_t kMostNames = 4096;

 private:
  /// Returns the path with its links followed; empty where it is missing or outside of the root.
  std::filesystem::path resolve(const std::filesystem::path& path) const;

  std::filesystem::path root_;
  bool here_ = false;
};

/// Parses a CPU list as the kernel prints it, "0-3,8,10-11"; ascending. What is no CPU is skipped.
std::vector<int> parse_cpu_list(std::string_view text);

/// Returns the text after "KEY:" in the lines of /proc/PID/status, without white space; or empty.
std::string_view status_value(std::string_view status, std::string_view key);

}  // namespace skid::machine
