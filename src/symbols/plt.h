// The procedure linkage table (PLT) of an ELF file: the entries through which it calls functions of
// other files.
#pragma once

#include "src/support/address.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace skid::symbols {

class ElfFile;

struct PltEntry {
  AddressRange range;
  /// Name of the function that it calls, in memory of the file; empty: not known.
  std::string_view name;
  std::uint64_t resolver = 0;  ///< address of the resolver of an IFUNC; 0: not an IFUNC
};

struct Plt {
  std::vector<PltEntry> entries;
  AddressRange header;         ///< code that binds the entries' slots; empty: none
  std::uint64_t distance = 0;  ///< offset in the file of .plt minus its address
};

/// Reads the sections .plt, .plt.sec and .plt.got. The entries have the names of their dynamic
/// symbols, as in perf since Linux 6.3 (dso__synthesize_plt_symbols() in
/// tools/perf/util/symbol-elf.c). Of damaged sections, the entries that can be read are returned.
Plt read_plt(const ElfFile& file);

}  // namespace skid::symbols
