// Source lines of addresses, from DWARF.
#pragma once

#include "src/support/byte_order.h"
#include "src/symbols/disjoint_ranges.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/inlined_functions.h"

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
class ByteReader;
class FileDescriptor;
}  // namespace skid

namespace skid::symbols {

struct SourceLine;

/// The line programs of a file's compilation units. Reading them takes memory and time of at most a
/// fixed multiple of ElfFile::allowance.
class LineTable {
 public:
  /// Opens the DWARF of a file; nullopt if there is none that can be read. `file` must outlive the
  /// result, and must not be moved.
  static std::optional<LineTable> open(const ElfFile& file);

  /// Returns the line of the code at `address`; nullopt if the compiler recorded none.
  std::optional<SourceLine> line_at(std::uint64_t address);

  /// Returns the names of the functions whose code is inlined at `address`, the innermost first, at
  /// most 16; as in the source, without their classes and namespaces.
  std::vector<std::string> inlined_at(std::uint64_t address);

  /// Whether lines or inlined functions are missing because reading them would take too much memory
  /// or time.
  bool is_partial() const noexcept { return is_partial_; }

 private:
  struct DwarfEnd {
    void operator()(Dwarf* dwarf) const noexcept { dwarf_end(dwarf); }
  };
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };
  using DwarfHandle = std::unique_ptr<Dwarf, DwarfEnd>;
  using Sections = std::map<std::string, Elf_Scn*, std::less<>>;  ///< ".debug_line" is "line"
  struct Unit {
    Dwarf_Off entry = 0;                 ///< offset of its entry in .debug_info
    Dwarf_Off end = 0;                   ///< offset of the next unit
    std::optional<bool> has_lines = {};  ///< set when a line of it is first requested
  };

  LineTable() = default;
  static std::optional<LineTable> without_units(const ElfFile& file);
  bool read_sections(const ElfFile& file);
  void read(std::uint64_t offset, std::uint64_t size) const;
  void read_at(const void* begin, std::uint64_t size) const;
  std::span<const std::byte> bytes_at(std::string_view section, std::uint64_t offset) const;
  void index_units(std::uint64_t allowance);
  bool may_read_lines(Dwarf_Die& unit);
  const std::string& name_at(Dwarf_Off entry);
  std::optional<std::uint64_t> cost_of_lines(Dwarf_Die& unit);
  std::optional<std::uint64_t> longest_directory(ByteReader header, unsigned version,
                                                 unsigned offset_size);

  // In this order, because a Dwarf reads from its Elf, and from the Dwarf that files share, until
  // it is destroyed.
  std::unique_ptr<ElfFile> shared_file_;
  std::unique_ptr<LineTable> shared_;
  const FileDescriptor* file_ = nullptr;
  std::unique_ptr<char, Free>
      image_;  ///< the file; parts that are not read are zeros, which take no memory
  std::size_t image_size_ = 0;
  ElfHandle elf_;
  DwarfHandle dwarf_;
  Sections sections_;
  ByteOrder order_ = ByteOrder::little;
  std::vector<Unit> units_;
  DisjointRanges unit_ranges_;   ///< numbers are indices of units_
  std::uint64_t cost_left_ = 0;  ///< cost of lines that may still be read, in kRowBytes
  std::map<std::uint32_t, InlinedFunctions> inlined_;  ///< by unit, of those requested
  InliningBudget inlining_;
  std::map<Dwarf_Off, std::string> function_names_;  ///< by entry of an inlined call
  std::uint64_t longest_line_string_ = 0;
  bool is_partial_ = false;
};

}  // namespace skid::symbols
