// The functions and other symbols of an ELF file, chosen among as perf chooses, and their names as
// in the sources.
#pragma once

#include "src/support/address.h"
#include "src/symbols/location.h"
#include "src/symbols/overlap_index.h"

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

/// libiberty's demangler, as perf uses it, with limits: a name of 400 bytes can expand to more than
/// any memory holds, or take years without any output.
class Demangler {
 public:
  /// The source name of a C++ or Rust (legacy or v0) symbol. nullopt if `symbol` is none or longer
  /// than 16 KiB, its name takes more than 64 KiB or 0.1 s of a CPU, all names before it took more
  /// than 1 s and 10 us each, or the system gives no timer. `parameters`: with
  /// the types of a C++ function's parameters, which perf prints only with -v.
  std::optional<std::string> name_of(const std::string& symbol, bool parameters = false);

 private:
  std::vector<char> output_;  // allocated before the time limit applies
  long nanoseconds_left_ = 1'000'000'000;
};

/// The rules are those of perf 6.1 (tools/perf/util/symbol-elf.c and symbol.c), so that function
/// names and offsets equal perf's. Functions are STT_FUNC and STT_GNU_IFUNC
/// symbols and untyped labels in sections with "text" in their names; a symbol without a size
/// extends to the next one, at most to the end of its section (perf: beyond it); of several symbols
/// at one address one is preferred. Where functions overlap, the innermost has the address; perf's
/// result there depends on the balance of its tree.
class SymbolTable {
 public:
  SymbolTable() = default;

  /// Reads .symtab of `file`, else of `debug_file` (may be null), else .dynsym of `file`, and the
  /// PLT of `file`. Both files must outlive this. A damaged table gives the symbols that can be
  /// read. `demangles`: functions have their demangled names.
  SymbolTable(const ElfFile& file, const ElfFile* debug_file, bool demangles);

  /// Whether `file` has a .symtab, so that no debug file need be looked for.
  static bool has_full_table(const ElfFile& file);

  std::optional<Function> function_at(std::uint64_t address) const;
  /// Its range alone.
  std::optional<AddressRange> function_range_at(std::uint64_t address) const;
  /// Including those that are not preferred at their address. Lowest address first.
  std::vector<Function> functions_named(std::string_view name) const;
  /// Where functions begin, lowest address first, each address once.
  std::vector<std::uint64_t> function_starts() const;
  /// The values of all symbols, and where the PLT's entries begin; lowest first, each once.
  std::vector<std::uint64_t> symbol_values() const;

 private:
  enum class Kind : std::uint8_t {
    function,
    plt_entry,
    bound,  ///< data: never a result, but a function without a size ends at its start
    other,  ///< only its value is of interest
  };
  struct Symbol {
    AddressRange range;
    std::uint64_t section_end = 0;  ///< address after the last byte of its section
    std::string_view name;          ///< in the memory of its file
    Kind kind = Kind::other;
    bool weak = false;
    bool global = false;
    bool preferred = false;  ///< it is the one to be named at its address
  };

  void read_symbols(const ElfFile& source, Elf_Scn* section);
  void extend_to_next();
  void choose_preferred();
  void read_plt(const ElfFile& file);
  bool better(const Symbol& a, const Symbol& b) const;
  std::string_view shown(std::string_view name) const;
  Function function(const Symbol& symbol) const;

  bool demangles_ = false;
  mutable Demangler demangler_;
  mutable std::map<const char*, std::string> demangled_;  // by the symbol's name; empty: as it is
  mutable std::size_t demangled_bytes_ = 0;

  std::vector<Symbol> symbols_;  // by address; of equal addresses, in the order of the file
  DisjointRanges functions_;     // numbers are indices of symbols_
};

}  // namespace skid::symbols
