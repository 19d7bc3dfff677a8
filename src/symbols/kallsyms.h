// The symbols of the kernel as it prints them.
#pragma once

#include "src/support/address.h"

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

/// The symbols in /proc/kallsyms or a copy of it. Its lines are "ffffffff81000000 T _text" or, for
/// modules, "ffffffffc0001000 t ext4_get_block\t[ext4]". The symbol of an address is chosen as in
/// perf 6.1 (tools/perf/util/symbol.c), so that names and offsets equal perf's: code and data
/// (types T, t, W, w, D, d, B, b) are used, a symbol extends to the next one, and if several are at
/// one address, the last line wins.
class Kallsyms {
 public:
  /// Maximum size of the file in bytes, far above the 15 MB of a distribution's kernel with all its
  /// modules.
  static constexpr std::uint64_t kLargest = std::uint64_t{256} << 20U;

  /// Reads a file. Throws InputError if it cannot be read or is larger than kLargest.
  static Kallsyms read(const std::filesystem::path& path);
  /// Parses a text. Lines of another form are left out.
  explicit Kallsyms(std::string text);

  /// Whether all addresses are zero, as the kernel prints them for users whom kptr_restrict denies
  /// them.
  bool hidden() const noexcept { return hidden_; }

  /// Returns the address of a symbol of the kernel itself, of any type.
  std::optional<std::uint64_t> address_of(std::string_view name) const;

  /// Returns the symbol of `module` ("ext4"; empty: the kernel itself) that covers `address`.
  std::optional<Function> symbol_at(std::string_view module, std::uint64_t address) const;

  /// Returns the range from the first to just after the last start of a module's code symbols;
  /// nullopt if there are none.
  std::optional<AddressRange> code_of(std::string_view module) const;

 private:
  struct Symbol {
    AddressRange range;
    std::string_view name;  ///< in `text_`
    bool code = false;
  };

  std::unique_ptr<const std::string> text_;  ///< on the heap, so that it stays in place
  /// Symbols by module ("": the kernel itself), each list sorted by address with one per address.
  std::map<std::string, std::vector<Symbol>, std::less<>> symbols_;
  bool hidden_ = true;
};

}  // namespace skid::symbols
