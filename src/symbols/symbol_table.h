// The functions and other symbols of an ELF file, chosen as perf chooses them.
#pragma once

#include "src/support/address.h"
#include "src/symbols/demangle.h"
#include "src/symbols/disjoint_ranges.h"
#include "src/symbols/location.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <libelf.h>

namespace skid::symbols {

class ElfFile;

/// The symbols of a file by address and by name. The rules are those of perf
/// (tools/perf/util/symbol-elf.c and symbol.c of Linux 7.2), so that function names and offsets
/// equal perf's.
/// Functions are STT_FUNC and STT_GNU_IFUNC symbols, and untyped labels in sections with "text" in
/// their names. A symbol without a size extends to the next one, at most to the end of its section
/// (in perf beyond it). Of several symbols at one address one is preferred. Where functions
/// overlap, the innermost one has the address; in perf the result depends on the balance of its
/// tree. Functions that are in the unwind table alone have a range and no name.
class SymbolTable {
 public:
  SymbolTable() = default;

  /// Reads .symtab of `file`, else .symtab of `debug_file` (may be null), else .symtab of
  /// `mini_debug_info` (may be null) and .dynsym of `file`; and the PLT of `file`. All files must
  /// outlive this. Of a damaged table, the symbols that can be read are used.
  SymbolTable(const ElfFile& file, const ElfFile* debug_file, const ElfFile* mini_debug_info,
              NameStyle style);

  /// Whether `file` has a .symtab, so that its debug file is not needed.
  static bool has_full_table(const ElfFile& file);

  /// Returns the function that covers `address`.
  std::optional<Function> function_at(std::uint64_t address) const;
  /// Returns only the range of the function that covers `address`; of unnamed ones, too.
  std::optional<AddressRange> function_range_at(std::uint64_t address) const;
  /// Returns all functions of that name, lowest address first, including those that are not
  /// preferred at their address.
  std::vector<Function> functions_named(std::string_view name) const;
  /// Returns the addresses where functions begin, unnamed ones included, lowest first, each once.
  std::vector<std::uint64_t> function_starts() const;
  /// Returns the values of all symbols and the addresses where entries of the PLT begin, lowest
  /// first, each once.
  std::vector<std::uint64_t> symbol_values() const;
  /// Returns the value of the symbol of that name, of any type; of several that of the lowest one.
  std::optional<std::uint64_t> value_of(std::string_view name) const;

 private:
  enum class Kind : std::uint8_t {
    function,
    plt_entry,
    unnamed,  ///< a function of the unwind table that no symbol names
    bound,    ///< data: not a result, but a function without a size ends where it begins
    other,    ///< only its value is used
  };
  struct Symbol {
    AddressRange range;
    std::uint64_t section_end = 0;  ///< address after the last byte of its section
    std::string_view name;          ///< in the memory of its file
    Kind kind = Kind::other;
    bool weak = false;
    bool global = false;
    bool preferred = false;  ///< its name is used for its address
  };

  void read_symbols(const ElfFile& source, Elf_Scn* section);
  void extend_to_next();
  void choose_preferred();
  void add_plt(const ElfFile& file);
  void add_unnamed(const ElfFile& file);
  /// Sets `functions_`, by the preferred symbols.
  void index_functions();
  static std::uint64_t address_of(const Symbol& symbol);
  bool better(const Symbol& a, const Symbol& b) const;
  std::string_view shown(std::string_view name) const;
  Function function(const Symbol& symbol) const;

  NameStyle style_ = NameStyle::symbols;
  std::uint64_t plt_distance_ = 0;  ///< offset in the file of the PLT minus its address
  mutable Demangler demangler_;
  mutable std::map<const char*, std::string>
      demangled_;  ///< by address of the name; empty: unchanged
  mutable std::size_t demangled_bytes_ = 0;

  std::vector<Symbol> symbols_;  ///< by address; equal addresses in the order of the file
  DisjointRanges functions_;     ///< numbers are indices of symbols_
};

}  // namespace skid::symbols
