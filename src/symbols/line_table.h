// Source lines of addresses, from DWARF.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/overlap_index.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <elfutils/libdw.h>
#include <libelf.h>

namespace skid {
class FileDescriptor;
}  // namespace skid

namespace skid::symbols {

struct SourceLine;

/// The line programs that a file's compilation units name. Reading them takes a bounded multiple of
/// ElfFile::allowance.
class LineTable {
 public:
  /// nullopt when the file has no DWARF, or none that can be read. `file` must outlive the result,
  /// and stay where it is.
  static std::optional<LineTable> open(const ElfFile& file);

  /// The line of the code at `address`; nullopt where the compiler gave none.
  std::optional<SourceLine> line_at(std::uint64_t address);

  /// Whether lines are missing because reading them would take too much memory or time.
  bool is_partial() const noexcept { return is_partial_; }

 private:
  struct DwarfEnd {
    void operator()(Dwarf* dwarf) const noexcept { dwarf_end(dwarf); }
  };
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };
  using DwarfHandle = std::unique_ptr<Dwarf, DwarfEnd>;
  using Sections = std::map<std::string, Elf_Scn*, std::less<>>;  // ".debug_line" is "line"
  struct Unit {
    Dwarf_Off entry = 0;                 ///< offset of its entry in .debug_info
    std::optional<bool> has_lines = {};  ///< known once one is requested
  };

  LineTable() = default;
  static std::optional<LineTable> without_units(const ElfFile& file);
  bool read_sections(const ElfFile& file);
  void read(std::uint64_t offset, std::uint64_t size) const;
  void read_at(const void* begin, std::uint64_t size) const;
  std::span<const std::byte> bytes_at(std::string_view section, std::uint64_t offset) const;
  void index_units(std::uint64_t allowance);
  bool may_read_lines(Dwarf_Die& unit);
  std::optional<std::uint64_t> cost_of_lines(Dwarf_Die& unit);
  std::optional<std::uint64_t> longest_directory(perfdata::ByteReader header, unsigned version,
                                                 unsigned offset_size);

  // A Dwarf reads from its Elf and from the Dwarf shared with other files to its end: this order.
  std::unique_ptr<ElfFile> shared_file_;
  std::unique_ptr<LineTable> shared_;
  const FileDescriptor* file_ = nullptr;
  std::unique_ptr<char, Free>
      image_;  // the file; zeros, which take no memory, where it is not read
  std::size_t image_size_ = 0;
  ElfHandle elf_;
  DwarfHandle dwarf_;
  Sections sections_;
  perfdata::ByteOrder order_ = perfdata::ByteOrder::little;
  std::vector<Unit> units_;
  DisjointRanges unit_ranges_;   // numbers are indices of units_
  std::uint64_t cost_left_ = 0;  // of lines that may still be read
  std::uint64_t longest_line_string_ = 0;
  bool is_partial_ = false;
};

}  // namespace skid::symbols
