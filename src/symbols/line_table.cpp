// Source lines from DWARF, which libdw reads, of files that may be large or hostile.
//
// A line is found in three steps (DWARF 5, sections 3.1.1 and 6.2):
//
//   address 0x401136         the ranges of all compilation units, collected once (index_units)
//     -> unit 7              its entry in .debug_info has DW_AT_stmt_list 0x2c40
//       -> offset 0x2c40     the line program there: a header with directories and files, and rows
//
// libdw would read whole sections, which can be most of a large program, and a crafted file could
// make it take any memory or time. Therefore libdw is given an image of the file in memory: zeros,
// which take no memory until a part of the file is read into them. Of .debug_info only the entries
// of units are read, of .debug_line only the programs of units with samples, of .debug_str only the
// directories of these units; some other sections are read whole (kReadWhole):
//
//   |ELF header|000|unit 1|000|unit 2|000|.debug_abbrev|00|program of unit 2|00|section headers|
//
// index_units() limits the number of ranges and the CPU time. Before libdw reads a line program,
// its memory is estimated in units of kRowBytes: each byte can be a row, and each entry of a file,
// of at least 5 bytes, takes a path with the longest directory. A program of 4000 bytes with
// directories of up to 60 characters costs 4000 + 4000 / 5 * (60 / 128 + 1) = 4800 units, 600 KiB.
// When a file's budget (ElfFile::allowance / 8 + 2^20 units) is used up, lines are missing:
// is_partial().
#include "src/symbols/line_table.h"

#include "src/support/address.h"
#include "src/support/byte_reader.h"
#include "src/support/file.h"
#include "src/support/text.h"
#include "src/support/thread_time.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/location.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

namespace skid::symbols {

namespace {

/// Maximum number of sections; linked files have some dozens. libdw's time grows with the product
/// of sections and their names.
constexpr std::size_t kMostSections = 4096;
/// The sections of DWARF that lines need. libdw would inflate all others, too. Of these only parts
/// are needed: the entries of units, and the programs and directories of sampled units.
constexpr std::array<std::string_view, 3> kReadInParts{"info", "line", "str"};
/// The sections of DWARF that are read whole.
constexpr std::array<std::string_view, 6> kReadWhole{"abbrev", "addr",     "line_str",
                                                     "ranges", "rnglists", "str_offsets"};

/// CPU time to walk the units of a file, more than libdw takes for any file of some MiB. In
/// addition each byte of the allowance gives 1 ns, twenty times as long as libdw takes for a byte
/// of larger files.
constexpr std::uint64_t kIndexNanoseconds = 250'000'000;
constexpr std::uint64_t kRangeCost = 16;  ///< bytes of the allowance for a range
/// The unit of cost in bytes. A byte of a line program can be a row, which takes 115 bytes in libdw
/// while rows are sorted.
constexpr std::uint64_t kRowBytes = 128;
constexpr std::uint64_t kSmallestFileEntry = 5;  ///< a name of one letter and three numbers
constexpr std::size_t kLongestPath = 4096;       ///< PATH_MAX of Linux
/// Bytes that are read for the entry of a unit; most entries are smaller.
constexpr std::uint64_t kUnitEntryBytes = 2048;
constexpr std::size_t kZerosAfterImage = 4096;  ///< libdw may search the end of a string there

/// Returns the size of a compressed section after decompression; 0 for other sections.
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

/// Returns the name of a DWARF section without its prefix, "line"; empty for other sections.
std::string_view dwarf_name(std::string_view section) {
  for (const std::string_view prefix : {".debug_", ".zdebug_"}) {
    if (section.starts_with(prefix)) return section.substr(prefix.size());
  }
  return {};
}

/// Reads an unsigned LEB128 number (DWARF 5, section 7.6).
std::uint64_t leb128(ByteReader& reader) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint64_t byte = reader.u8();
    if (shift < 64) value |= (byte & 0x7fU) << shift;
    if (byte < 0x80) return value;
  }
}

/// Returns the size of the longest string, with its NUL. `ends_with_empty`: an empty string ends
/// the strings.
std::uint64_t longest_string(ByteReader& strings, bool ends_with_empty) {
  std::uint64_t longest = 0;
  while (const std::size_t before = strings.remaining()) {
    strings.terminated_text();
    const std::size_t size = before - strings.remaining();  // with its NUL, if it has one
    if (size == 1 && ends_with_empty) break;
    longest = std::max(longest, std::uint64_t{size});
  }
  return longest;
}

}  // namespace

std::optional<LineTable> LineTable::open(const ElfFile& file) {
  if (file.header().e_type == ET_REL) return std::nullopt;  // it would have to be relocated first
  std::optional<LineTable> table = without_units(file);
  if (!table || !table->sections_.contains("info") || !table->sections_.contains("line")) {
    return std::nullopt;
  }
  if (table->is_partial_) return table;

  // The shared file is opened here: libdw would open any path that the file names.
  const char* shared_name = nullptr;
  const void* shared_id = nullptr;
  const std::ptrdiff_t shared_id_size =
      dwelf_dwarf_gnu_debugaltlink(table->dwarf_.get(), &shared_name, &shared_id);
  if (shared_id_size < 0) return std::nullopt;
  if (shared_id_size > 0) {
    const std::span id(static_cast<const std::byte*>(shared_id),
                       static_cast<std::size_t>(shared_id_size));
    auto shared_file = find_shared_debug_file(file, shared_name, hexadecimal(id));
    if (!shared_file) return std::nullopt;
    table->shared_file_ = std::make_unique<ElfFile>(std::move(*shared_file));
    auto shared = without_units(*table->shared_file_);
    if (!shared || shared->is_partial_) return std::nullopt;
    table->shared_ = std::make_unique<LineTable>(std::move(*shared));
    dwarf_setalt(table->dwarf_.get(), table->shared_->dwarf_.get());
  }
  ByteReader strings(table->bytes_at("line_str", 0), table->order_);
  table->longest_line_string_ = longest_string(strings, false);
  table->index_units(file.allowance());
  table->cost_left_ = (std::uint64_t{1} << 20U) + file.allowance() / 8;
  table->inlining_ = {file.allowance() / kRangeCost, kIndexNanoseconds + file.allowance()};
  return table;
}

/// Opens a file without the ranges of its units. nullopt if it has no DWARF that can be read.
std::optional<LineTable> LineTable::without_units(const ElfFile& file) {
  std::size_t count = 0;
  if (elf_getshdrnum(file.elf(), &count) != 0 || count > kMostSections) return std::nullopt;
  LineTable table;
  table.file_ = &file.descriptor();
  table.image_size_ = static_cast<std::size_t>(size_of(file.descriptor()));
  table.image_.reset(static_cast<char*>(std::calloc(table.image_size_ + kZerosAfterImage, 1)));
  if (!table.image_) return std::nullopt;
  table.read(0, sizeof(Elf64_Ehdr));
  table.read(file.header().e_shoff, count * file.header().e_shentsize);
  table.elf_ = ElfHandle(elf_memory(table.image_.get(), table.image_size_));
  if (!table.elf_ || !table.read_sections(file)) return std::nullopt;
  if (table.is_partial_) return table;
  table.dwarf_ = DwarfHandle(dwarf_begin_elf(table.elf_.get(), DWARF_C_READ, nullptr));
  if (!table.dwarf_) return std::nullopt;
  for (const char* strings : {"str", "line_str"}) {  // libdw relies on a NUL at the end
    const auto bytes = table.bytes_at(strings, 0);
    if (!bytes.empty() && bytes.back() != std::byte{0}) return std::nullopt;
  }
  if (file.header().e_ident[EI_DATA] == ELFDATA2MSB) table.order_ = ByteOrder::big;
  return table;
}

/// Fills `sections_`, and reads those into the image that are read whole. Sets `is_partial_` if
/// they are larger than the allowance. False if they cannot be found.
bool LineTable::read_sections(const ElfFile& file) {
  std::size_t names_index = 0;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf_.get(), &names_index) != 0) return false;
  Elf_Scn* section = elf_getscn(elf_.get(), names_index);
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return false;
  read(header.sh_offset, header.sh_size);
  const std::string_view names = string_table(elf_.get(), names_index);

  std::uint64_t bytes = 0;
  section = nullptr;
  while ((section = elf_nextscn(elf_.get(), section)) != nullptr) {
    if (gelf_getshdr(section, &header) == nullptr) return false;
    const std::string_view full_name = section_name(names, header);
    const std::string_view name = dwarf_name(full_name);
    const bool is_compressed =
        (header.sh_flags & SHF_COMPRESSED) != 0 || full_name.starts_with(".zdebug");
    const bool is_whole = full_name == ".gnu_debugaltlink" || contains(kReadWhole, name);
    if (!is_whole && !contains(kReadInParts, name)) continue;
    if (!sections_.emplace(name, section).second) return false;  // libdw might take the other one
    if (is_whole || is_compressed) read(header.sh_offset, header.sh_size);
    const std::uint64_t size = std::max(header.sh_size, inflated_size(section, header, full_name));
    bytes += std::min(size, file.allowance());
  }
  is_partial_ = bytes > file.allowance();
  return true;
}

/// Reads a part of the file into the image.
void LineTable::read(std::uint64_t offset, std::uint64_t size) const {
  if (offset >= image_size_) return;
  const std::span part(image_.get() + offset, std::min<std::uint64_t>(size, image_size_ - offset));
  static_cast<void>(skid::read_at(*file_, std::as_writable_bytes(part), offset));
}

/// Reads the part of the file that libdw found at `begin`: in the image, or in that of the shared
/// file. Does nothing for inflated bytes, which are in neither.
void LineTable::read_at(const void* begin, std::uint64_t size) const {
  read(reinterpret_cast<std::uintptr_t>(begin) - reinterpret_cast<std::uintptr_t>(image_.get()),
       size);
  if (shared_) shared_->read_at(begin, size);
}

/// Returns the bytes from `offset` to the end of a section, inflated if they are compressed.
std::span<const std::byte> LineTable::bytes_at(std::string_view section,
                                               std::uint64_t offset) const {
  const auto found = sections_.find(section);
  const Elf_Data* data = found == sections_.end() ? nullptr : elf_getdata(found->second, nullptr);
  if (data == nullptr || data->d_buf == nullptr || offset > data->d_size) return {};
  const std::span bytes(static_cast<const std::byte*>(data->d_buf), data->d_size);
  return bytes.subspan(static_cast<std::size_t>(offset));
}

/// Collects the units and their ranges, within the limits of `allowance`.
void LineTable::index_units(std::uint64_t allowance) {
  // .debug_aranges would save this walk over the units, but clang does not write it. In a damaged
  // file all units can share one list of ranges, which can be empty, or one long abbreviation.
  const std::uint64_t most_ranges = allowance / kRangeCost;
  const std::uint64_t end = thread_nanoseconds() + kIndexNanoseconds + allowance;
  std::vector<NumberedRange> ranges;
  Dwarf_Off offset = 0;
  Dwarf_Off next = 0;
  std::size_t header_size = 0;
  for (;; offset = next) {
    const std::span<const std::byte> bytes = bytes_at("info", offset);
    read_at(bytes.data(), std::min<std::uint64_t>(bytes.size(), kUnitEntryBytes));
    if (dwarf_nextcu(dwarf_.get(), offset, &next, &header_size, nullptr, nullptr, nullptr) != 0) {
      break;
    }
    Dwarf_Die unit;
    if (units_.size() < std::numeric_limits<std::uint32_t>::max() &&
        dwarf_offdie(dwarf_.get(), offset + header_size, &unit) != nullptr) {
      const auto number = static_cast<std::uint32_t>(units_.size());
      units_.push_back({offset + header_size, next});
      const auto note = [](Dwarf_Attribute* attribute, void* last) -> int {
        *static_cast<const void**>(last) = attribute->valp;
        return DWARF_CB_OK;
      };
      const void* last = nullptr;
      dwarf_getattrs(&unit, note, &last, 0);
      if (last > bytes.data() + kUnitEntryBytes / 2) {
        read_at(bytes.data(), std::min<std::uint64_t>(bytes.size(), next - offset));
      }
      Dwarf_Addr base = 0;
      AddressRange range;
      std::ptrdiff_t cursor = 0;
      while (ranges.size() <= most_ranges &&
             (cursor = dwarf_ranges(&unit, cursor, &base, &range.begin, &range.end)) > 0) {
        ranges.push_back({range, number});
      }
    }
    is_partial_ = ranges.size() > most_ranges || thread_nanoseconds() > end;
    if (is_partial_ || next <= offset) break;
  }
  unit_ranges_ = DisjointRanges(std::move(ranges));
}

/// Returns the length of the longest string that libdw prefixes to the names of a line program's
/// files (DWARF 5, section 6.2.4). `header`: the bytes after the header's length. nullopt if it
/// cannot be known.
std::optional<std::uint64_t> LineTable::longest_directory(ByteReader header, unsigned version,
                                                          unsigned offset_size) {
  header.skip(version >= 4 ? 5 : 4);
  header.skip(std::max<std::uint64_t>(header.u8(), 1) - 1);  // lengths of standard opcodes
  if (version < 5) return longest_string(header, true);
  std::uint64_t longest = longest_line_string_;
  for (const bool is_of_files : {false, true}) {
    std::uint64_t path_form = 0;
    const unsigned fields = header.u8();
    for (unsigned i = 0; i < fields; ++i) {
      const bool is_path = leb128(header) == DW_LNCT_path;
      const std::uint64_t form = leb128(header);
      if (is_path) path_form = form;
    }
    if (path_form != DW_FORM_string && path_form != DW_FORM_line_strp) return std::nullopt;
    if (is_of_files) break;
    if (fields != 1) return std::nullopt;
    for (std::uint64_t left = leb128(header); left > 0 && !header.failed(); --left) {
      if (path_form == DW_FORM_line_strp) {
        header.skip(offset_size);
      } else {
        longest = std::max(longest, std::uint64_t{header.terminated_text().size()});
      }
    }
  }
  return longest;
}

/// Returns the most memory that libdw takes for the lines of a unit, in kRowBytes. nullopt if it
/// cannot be known or exceeds what is left.
std::optional<std::uint64_t> LineTable::cost_of_lines(Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_formudata(dwarf_attr(&unit, DW_AT_stmt_list, &attribute), &offset) != 0) return 0;
  const std::span<const std::byte> bytes = bytes_at("line", offset);
  ByteReader reader(bytes, order_);
  read_at(bytes.data(), std::min(bytes.size(), sizeof(std::uint32_t) + sizeof(std::uint64_t)));
  std::uint64_t size = reader.u32();
  const bool is_wide = size == 0xffffffff;
  if (is_wide) size = reader.u64();
  const std::span<const std::byte> program = reader.take(size);
  if (reader.failed()) return 0;
  if (size > cost_left_) return std::nullopt;
  read_at(program.data(), size);
  ByteReader header(program, order_);
  const unsigned version = header.u16();
  header.skip((version >= 5 ? 2 : 0) + (is_wide ? 8 : 4));
  auto longest = longest_directory(header, version, is_wide ? 8 : 4);
  if (!longest) return std::nullopt;
  const char* directory = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  if (directory != nullptr) {
    read_at(directory, kLongestPath);
    const std::size_t length = ::strnlen(directory, kLongestPath);
    if (length == kLongestPath) return std::nullopt;
    longest = std::max(*longest, std::uint64_t{length});
  }
  return size + size / kSmallestFileEntry * (*longest / kRowBytes + 1);
}

/// Whether libdw may read the lines of a unit. Takes their cost from what is left.
bool LineTable::may_read_lines(Dwarf_Die& unit) {
  const auto cost = cost_of_lines(unit);
  const bool may_read = cost && *cost <= cost_left_;
  is_partial_ |= !may_read;
  if (may_read) cost_left_ -= *cost;
  return may_read;
}

std::optional<SourceLine> LineTable::line_at(std::uint64_t address) {
  const std::optional<std::uint32_t> number = unit_ranges_.find(address);
  if (!number) return std::nullopt;
  Unit& unit = units_[*number];
  Dwarf_Die entry;
  if (dwarf_offdie(dwarf_.get(), unit.entry, &entry) == nullptr) return std::nullopt;
  if (!unit.has_lines) unit.has_lines = may_read_lines(entry);
  if (!*unit.has_lines) return std::nullopt;
  Dwarf_Line* record = dwarf_getsrc_die(&entry, address);
  int line = 0;
  if (record == nullptr || dwarf_lineno(record, &line) != 0 || line <= 0) return std::nullopt;
  const char* source = dwarf_linesrc(record, nullptr, nullptr);
  if (source == nullptr) return std::nullopt;
  return SourceLine{std::string(source, ::strnlen(source, kLongestPath)), line};
}

std::vector<std::string> LineTable::inlined_at(std::uint64_t address) {
  const std::optional<std::uint32_t> number = unit_ranges_.find(address);
  if (!number) return {};
  const Unit& unit = units_[*number];
  const auto [known, is_new] = inlined_.try_emplace(*number);
  Dwarf_Die entry;
  if (is_new && dwarf_offdie(dwarf_.get(), unit.entry, &entry) != nullptr) {
    const std::span<const std::byte> bytes = bytes_at("info", unit.entry);
    read_at(bytes.data(), std::min<std::uint64_t>(bytes.size(), unit.end - unit.entry));
    known->second = InlinedFunctions(entry, inlining_);
    is_partial_ |= inlining_.ranges == 0 || inlining_.nanoseconds == 0;
  }
  std::vector<std::string> names;
  for (const Dwarf_Off call : known->second.at(address)) names.push_back(name_at(call));
  return names;
}

/// Returns the name of the function of an entry, which it may have from others (DWARF 5, sections
/// 2.13 and 3.3.8.2); "?" if it has none.
const std::string& LineTable::name_at(Dwarf_Off entry) {
  constexpr int kMostSteps = 4;
  constexpr std::size_t kLongestName = 256;
  const auto [known, is_new] = function_names_.try_emplace(entry, "?");
  Dwarf_Die die;
  if (!is_new || dwarf_offdie(dwarf_.get(), entry, &die) == nullptr) return known->second;
  for (int step = 0; step < kMostSteps; ++step) {
    Dwarf_Attribute attribute;
    if (const char* name = dwarf_formstring(dwarf_attr(&die, DW_AT_name, &attribute))) {
      read_at(name, kLongestName);
      known->second.assign(name, ::strnlen(name, kLongestName));
      break;
    }
    if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr) {
      break;
    }
    if (dwarf_formref_die(&attribute, &die) == nullptr) break;
    read_at(die.addr, kUnitEntryBytes);
  }
  return known->second;
}

}  // namespace skid::symbols
