// Lines of source files that can be read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::listing {

/// Reads each file once, as it is now, not as it was compiled. Only regular files of at most
/// kLargest bytes with an absolute path are read.
class SourceText {
 public:
  static constexpr std::uint64_t kLargest = std::uint64_t{16} << 20U;
  /// Files of which the text is kept; of more nothing is read.
  static constexpr std::size_t kMostFiles = 256;

  /// Line `line` (from 1) of `file`, not escaped and without its end; nullopt when there is none.
  /// Valid as long as this.
  std::optional<std::string_view> line(const std::string& file, int line);

 private:
  struct File {
    std::string text;
    std::vector<std::size_t> begins;  ///< of the lines
  };
  const File& open(const std::string& path);

  std::map<std::string, File> files_;
};

}  // namespace skid::listing
