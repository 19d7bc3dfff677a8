// Symbols that texts list: the kernel's as it prints them, and those of the code that a process
// generated.
#pragma once

#include "src/support/address.h"
#include "src/symbols/overlap_index.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::symbols {

struct Function;

/// /proc/kallsyms, or a copy of it.
/// Lines "ffffffff81000000 T _text" or, of a module, "ffffffffc0001000 t ext4_get_block\t[ext4]".
/// The symbol of an address is chosen as in perf 6.1 (tools/perf/util/symbol.c), so that names and
/// offsets equal perf's: code and data (types T, t, W, w, D, d, B, b) count, a symbol extends to
/// the next one, and of several at one address the last line is used.
class Kallsyms {
 public:
  /// Larger than any so far by far: a distribution's kernel with all its modules has some 15 MB.
  static constexpr std::uint64_t kLargest = std::uint64_t{256} << 20U;

  /// Throws InputError when the file cannot be read or is larger than kLargest.
  static Kallsyms read(const std::filesystem::path& path);
  /// Lines of another form are left out.
  explicit Kallsyms(std::string text);

  /// Whether all addresses are zero: the kernel shows them so to users that kptr_restrict shuts
  /// out.
  bool hidden() const noexcept { return hidden_; }

  /// The address of a symbol of the kernel itself, of any type.
  std::optional<std::uint64_t> address_of(std::string_view name) const;

  /// The symbol that covers `address` among those of `module` ("ext4"; empty: the kernel itself).
  std::optional<Function> symbol_at(std::string_view module, std::uint64_t address) const;

  /// From the first to just past the last start of a module's code symbols; nullopt without any.
  std::optional<AddressRange> code_of(std::string_view module) const;

 private:
  struct Symbol {
    AddressRange range;
    std::string_view name;  ///< in `text_`
    bool code = false;
  };

  std::unique_ptr<const std::string> text_;  ///< which stays where it is
  // By module, the kernel itself being ""; each by address, one an address.
  std::map<std::string, std::vector<Symbol>, std::less<>> symbols_;
  bool hidden_ = true;
};

/// /tmp/perf-PID.map. Lines "START SIZE NAME", the numbers hexadecimal, a name to the end of its
/// line (tools/perf/Documentation/jit-interface.txt of Linux). Addresses are those of the process.
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
