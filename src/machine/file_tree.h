// The small files of /proc and /sys, below one directory used as "/".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::machine {

/// Reads small files of /proc and /sys.
class FileTree {
 public:
  explicit FileTree(std::filesystem::path root) : root_(std::move(root)) {}

  /// Whether this is the machine itself: the root is "/".
  bool is_here() const { return root_ == "/"; }
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
  std::filesystem::path root_;
};

/// Parses a CPU list as the kernel prints it, "0-3,8,10-11"; ascending. What is no CPU is skipped.
std::vector<int> parse_cpu_list(std::string_view text);

/// Returns the text after "KEY:" in the lines of /proc/PID/status, without white space; or empty.
std::string_view status_value(std::string_view status, std::string_view key);

}  // namespace skid::machine
