#include "src/symbols/line_table.h"

#include "src/support/text.h"
#include "src/symbols/debug_file.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <elfutils/libdwelf.h>
#include <sys/stat.h>

namespace skid::symbols {

namespace {

/// Linked files have some dozens of sections; libdw's time grows with sections times their names.
constexpr std::size_t kMostSections = 4096;
/// libdw inflates compressed DWARF as a whole.
constexpr std::uint64_t kMostInflatedBytes = std::uint64_t{1} << 30U;

std::uint64_t inflated_size(Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
  if ((header.sh_flags & SHF_COMPRESSED) != 0) {
    GElf_Chdr compression;
    return gelf_getchdr(section, &compression) == nullptr ? 0 : compression.ch_size;
  }
  if (name.starts_with(".zdebug")) {
    const auto size = dwelf_scn_gnu_compressed_size(section);
    return size > 0 ? static_cast<std::uint64_t>(size) : 0;
  }
  return 0;
}

std::uint64_t size_of(const ElfFile& file) {
  struct stat status {};
  if (::fstat(file.descriptor().get(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

/// A bound of the size of the line tables in bytes, where the file has some that can be read in
/// bounded time and memory.
std::optional<std::uint64_t> dwarf_size(const ElfFile& file) {
  std::size_t sections = 0;
  if (elf_getshdrnum(file.elf(), &sections) != 0 || sections > kMostSections) return std::nullopt;
  bool has_info = false;
  bool has_lines = false;
  std::uint64_t inflated = 0;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(file.elf(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return std::nullopt;
    const std::string_view name = file.section_name(header);
    has_info |= name == ".debug_info" || name == ".zdebug_info";
    has_lines |= name == ".debug_line" || name == ".zdebug_line";
    const std::uint64_t size = inflated_size(section, header, name);
    if (size > kMostInflatedBytes - inflated) return std::nullopt;
    inflated += size;
  }
  if (!has_info || !has_lines) return std::nullopt;
  return size_of(file) + inflated;
}

ElfHandle mapped(const ElfFile& file) {
  // DWARF can have gigabytes, and a few lines need little of it: so it is mapped, unlike the
  // symbols.
  return ElfHandle(elf_begin(file.descriptor().get(), ELF_C_READ_MMAP, nullptr));
}

}  // namespace

std::optional<LineTable> LineTable::open(const ElfFile& file) {
  if (file.header().e_type == ET_REL) return std::nullopt;  // would have to be relocated first
  const std::optional<std::uint64_t> size = dwarf_size(file);
  if (!size) return std::nullopt;
  LineTable table;
  table.elf_ = mapped(file);
  if (!table.elf_) return std::nullopt;
  table.dwarf_ = DwarfHandle(dwarf_begin_elf(table.elf_.get(), DWARF_C_READ, nullptr));
  if (!table.dwarf_) return std::nullopt;

  // Without it, libdw would open any path that the file names.
  const char* shared_name = nullptr;
  const void* shared_id = nullptr;
  const std::ptrdiff_t shared_id_size =
      dwelf_dwarf_gnu_debugaltlink(table.dwarf_.get(), &shared_name, &shared_id);
  if (shared_id_size < 0) return std::nullopt;
  if (shared_id_size > 0) {
    const std::span id(static_cast<const std::byte*>(shared_id),
                       static_cast<std::size_t>(shared_id_size));
    table.shared_file_ = find_shared_debug_file(file, shared_name, hexadecimal(id));
    if (!table.shared_file_) return std::nullopt;
    table.shared_elf_ = mapped(*table.shared_file_);
    if (!table.shared_elf_) return std::nullopt;
    table.shared_dwarf_ =
        DwarfHandle(dwarf_begin_elf(table.shared_elf_.get(), DWARF_C_READ, nullptr));
    if (!table.shared_dwarf_) return std::nullopt;
    dwarf_setalt(table.dwarf_.get(), table.shared_dwarf_.get());
  }
  table.index_units(*size);
  return table;
}

void LineTable::index_units(std::uint64_t dwarf_size) {
  // .debug_aranges would save this walk over the units, but clang does not write it. A range needs
  // at least 3 bytes, which bounds their number, but in a damaged file all units can share them.
  std::uint64_t ranges_left = dwarf_size / 3;
  std::vector<NumberedRange> ranges;
  Dwarf_Off offset = 0;
  Dwarf_Off next = 0;
  std::size_t header_size = 0;
  while (dwarf_nextcu(dwarf_.get(), offset, &next, &header_size, nullptr, nullptr, nullptr) == 0) {
    Dwarf_Die unit;
    if (units_.size() < std::numeric_limits<std::uint32_t>::max() &&
        dwarf_offdie(dwarf_.get(), offset + header_size, &unit) != nullptr) {
      const auto number = static_cast<std::uint32_t>(units_.size());
      units_.push_back(offset + header_size);
      Dwarf_Addr base = 0;
      AddressRange range;
      std::ptrdiff_t cursor = 0;
      while ((cursor = dwarf_ranges(&unit, cursor, &base, &range.begin, &range.end)) > 0) {
        if (ranges_left-- == 0) return;
        ranges.push_back({range, number});
      }
    }
    if (next <= offset) break;
    offset = next;
  }
  unit_ranges_ = DisjointRanges(std::move(ranges));
}

std::optional<SourceLine> LineTable::line_at(std::uint64_t address) {
  const std::optional<std::uint32_t> number = unit_ranges_.find(address);
  if (!number) return std::nullopt;
  Dwarf_Die unit;
  if (dwarf_offdie(dwarf_.get(), units_[*number], &unit) == nullptr) return std::nullopt;
  Dwarf_Line* record = dwarf_getsrc_die(&unit, address);
  int line = 0;
  if (record == nullptr || dwarf_lineno(record, &line) != 0 || line <= 0) return std::nullopt;
  const char* source = dwarf_linesrc(record, nullptr, nullptr);
  if (source == nullptr) return std::nullopt;
  return SourceLine{source, line};
}

}  // namespace skid::symbols
