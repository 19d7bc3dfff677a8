// The description of the code that a process generated: /tmp/perf-PID.map.
#pragma once

#include "src/symbols/location.h"
#include "src/symbols/overlap_index.h"

#include <filesystem>
#include <memory>
#include <string_view>

namespace skid::symbols {

/// Lines "START SIZE NAME", the numbers hexadecimal, a name to the end of its line
/// (tools/perf/Documentation/jit-interface.txt of Linux). Addresses are those of the process.
class PerfMap {
 public:
  static constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;  ///< bytes
  static constexpr std::size_t kMostSymbols = std::size_t{1} << 20;

  /// Reads a file that is owned by root or this user, and not writable by all users; a symbolic
  /// link is not followed. Throws InputError for other files, and for those with more bytes or
  /// symbols. `most_symbols`: at most kMostSymbols.
  static PerfMap read(const std::filesystem::path& path, std::size_t most_symbols = kMostSymbols);
  /// Lines of another form are left out, and so are all symbols after the first kMostSymbols + 1.
  explicit PerfMap(std::string text);

  std::size_t size() const noexcept { return symbols_.size(); }

  /// The symbol that covers `address`. Of several it is the one noted last, which has replaced the
  /// others.
  std::optional<Function> function_at(std::uint64_t address) const;

 private:
  struct Symbol {
    AddressRange range;
    std::string_view name;  ///< in `text_`
  };

  std::unique_ptr<const std::string> text_;  ///< which stays where it is
  std::vector<Symbol> symbols_;
  OverlapIndex index_;
};

}  // namespace skid::symbols
