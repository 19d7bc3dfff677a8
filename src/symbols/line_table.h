// Source lines of addresses, from DWARF.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/symbols/disjoint_ranges.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/location.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <elfutils/libdw.h>

namespace skid::symbols {

/// The line programs that a file's compilation units name. Reading them takes a bounded multiple of
/// ElfFile::allowance.
class LineTable {
 public:
  /// nullopt when the file has no DWARF, or none that can be read. `file` must outlive the result.
  static std::optional<LineTable> open(const ElfFile& file);

  /// The line of the code at `address`; nullopt where the compiler gave none.
  std::optional<SourceLine> line_at(std::uint64_t address);

  /// Whether lines are missing because reading them would take too much memory or time.
  bool is_partial() const noexcept { return is_partial_; }

 private:
  struct DwarfEnd {
    void operator()(Dwarf* dwarf) const noexcept { dwarf_end(dwarf); }
  };
  using DwarfHandle = std::unique_ptr<Dwarf, DwarfEnd>;
  using Sections = std::map<std::string, Elf_Scn*, std::less<>>;  // ".debug_line" is "line"
  struct Unit {
    Dwarf_Off entry = 0;  ///< offset of its entry in .debug_info
    enum class Lines : std::uint8_t { unread, readable, refused } lines = Lines::unread;
  };

  LineTable() = default;
  static std::optional<LineTable> without_units(const ElfFile& file);
  perfdata::ByteReader reader_at(std::string_view section, std::uint64_t offset) const;
  void index_units(std::uint64_t allowance);
  bool may_read_lines(Dwarf_Die& unit);
  std::optional<std::uint64_t> cost_of_lines(Dwarf_Die& unit);
  std::optional<std::uint64_t> longest_directory(perfdata::ByteReader header, unsigned version,
                                                 unsigned offset_size);

  // A Dwarf reads from its Elf and from the Dwarf shared with other files to its end: this order.
  std::optional<ElfFile> shared_file_;
  DwarfHandle shared_;
  DwarfHandle dwarf_;
  Sections sections_;
  perfdata::ByteOrder order_ = perfdata::ByteOrder::little;
  std::vector<Unit> units_;
  DisjointRanges unit_ranges_;   // numbers are indices of units_
  std::uint64_t cost_left_ = 0;  // of lines that may still be read
  std::optional<std::uint64_t> longest_line_string_;
  bool is_partial_ = false;
};

}  // namespace skid::symbols
