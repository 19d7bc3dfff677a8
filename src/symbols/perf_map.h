// The symbols of code that a process generated, as its perf map lists them.
#pragma once

#include "src/support/address.h"
#include "src/symbols/overlap_index.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::symbols {

struct Function;

/// The symbols in /tmp/perf-PID.map. Its lines are "START SIZE NAME" with hexadecimal numbers and a
/// name up to the end of the line (tools/perf/Documentation/jit-interface.txt of Linux). Addresses
/// are those of the process.
class PerfMap {
 public:
  static constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;  ///< bytes
  static constexpr std::size_t kMostSymbols = std::size_t{1} << 20;

  /// Reads a file that is owned by root or this user and not writable by all users. A symbolic link
  /// is not followed. Throws InputError for other files, and for those with more than kLargest
  /// bytes or `most_symbols` symbols, which is at most kMostSymbols.
  static PerfMap read(const std::filesystem::path& path, std::size_t most_symbols = kMostSymbols);
  /// Parses a text. Lines of another form are left out, as are all symbols after the first
  /// kMostSymbols + 1.
  explicit PerfMap(std::string text);

  std::size_t size() const noexcept { return symbols_.size(); }

  /// Returns the symbol that covers `address`. If there are several, it is the last one in the
  /// file, which has replaced the others.
  std::optional<Function> function_at(std::uint64_t address) const;

 private:
  struct Symbol {
    AddressRange range;
    std::string_view name;  ///< in `text_`
  };

  std::unique_ptr<const std::string> text_;  ///< on the heap, so that it stays in place
  std::vector<Symbol> symbols_;
  OverlapIndex index_;
};

}  // namespace skid::symbols
