// Source lines of addresses, from DWARF.
#pragma once

#include "src/symbols/disjoint_ranges.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/location.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <elfutils/libdw.h>

namespace skid::symbols {

class LineTable {
 public:
  /// nullopt when the file has no DWARF, or none that can be read. `file` must outlive the result.
  static std::optional<LineTable> open(const ElfFile& file);

  /// The line of the code at `address`; nullopt where the compiler gave none.
  std::optional<SourceLine> line_at(std::uint64_t address);

 private:
  struct DwarfEnd {
    void operator()(Dwarf* dwarf) const noexcept { dwarf_end(dwarf); }
  };
  using DwarfHandle = std::unique_ptr<Dwarf, DwarfEnd>;

  LineTable() = default;
  void index_units(std::uint64_t dwarf_size);

  // A Dwarf reads from its Elf and from the Dwarf shared with other files to its end: this order.
  std::optional<ElfFile> shared_file_;
  ElfHandle shared_elf_;
  DwarfHandle shared_dwarf_;
  ElfHandle elf_;
  DwarfHandle dwarf_;
  std::vector<Dwarf_Off> units_;  // offsets of the entries of compilation units
  DisjointRanges unit_ranges_;    // numbers are indices of units_
};

}  // namespace skid::symbols
