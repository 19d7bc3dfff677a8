// The kernel places the executable sections of a module in the order of its file, each aligned as
// the file states, but for those that it frees after the start (layout_sections() in
// kernel/module/main.c, up to Linux 5.18 kernel/module.c; on x86-64 nothing is inserted). Where the
// sections of exit functions belong depends on the configuration (CONFIG_MODULE_UNLOAD), so that
// the place of code after them is not certain. On arm64 the first section alone is: others are
// aligned for Cortex-A53's erratum 843419, and .plt, which some files have first, grows to the
// calls that are out of reach, and for the erratum (module_frob_arch_sections() in
// arch/arm64/kernel/module-plts.c). A recording identifies one CPU and not whether another has the
// erratum, and the length of a mapping, in pages, is mostly the same. The relocations are those of
// apply_relocate_add() in arch/{x86,arm64}/kernel/module.c.
#include "src/symbols/kernel_module.h"

#include "src/support/byte_order.h"
#include "src/support/file.h"
#include "src/support/text.h"
#include "src/symbols/elf_sections.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <elf.h>
#include <gelf.h>

namespace skid::symbols {
namespace {

/// Where sections are. All addresses are within reach of each other.
struct Layout {
  std::uint64_t most;       ///< maximum size of code, and of other sections
  std::uint64_t elsewhere;  ///< an address that no section has
  std::uint64_t others;     ///< of sections that are not where the code is
};
/// An arm64 branch has 128 MiB; on x86-64 all modules share 1,008 MiB, 1,520 without KASLR
/// (MODULES_LEN).
constexpr Layout kLayoutOfArm64{0x3ff'0000, 0x3ff'8000, 0x400'0000};
constexpr Layout kLayoutOfX86{0x3ff0'0000, 0x3ff8'0000, 0x4000'0000};

/// What the value of a field is relative to: nothing, its own address, or on arm64 its page of 4
/// KiB, as that of the value.
enum class Base : std::uint8_t { none, place, page };

/// A part of a relocated number of `size` bytes: the bits of the value from `value_bit` on, in the
/// number from `bit` on.
struct Part {
  std::uint32_t type;
  Base base;
  unsigned size, value_bit, bits, bit;
};

constexpr std::array kPartsOfX86{
    Part{R_X86_64_64, Base::none, 8, 0, 64, 0},    Part{R_X86_64_PC64, Base::place, 8, 0, 64, 0},
    Part{R_X86_64_32, Base::none, 4, 0, 32, 0},    Part{R_X86_64_32S, Base::none, 4, 0, 32, 0},
    Part{R_X86_64_PC32, Base::place, 4, 0, 32, 0}, Part{R_X86_64_PLT32, Base::place, 4, 0, 32, 0},
};

/// Left out are R_AARCH64_MOVW_SABS_* and _PREL_*, which change the opcode; compilers do not write
/// them for modules.
constexpr std::array kPartsOfArm64{
    Part{R_AARCH64_ABS64, Base::none, 8, 0, 64, 0},
    Part{R_AARCH64_ABS32, Base::none, 4, 0, 32, 0},
    Part{R_AARCH64_ABS16, Base::none, 2, 0, 16, 0},
    Part{R_AARCH64_PREL64, Base::place, 8, 0, 64, 0},
    Part{R_AARCH64_PREL32, Base::place, 4, 0, 32, 0},
    Part{R_AARCH64_PREL16, Base::place, 2, 0, 16, 0},
    Part{R_AARCH64_CALL26, Base::place, 4, 2, 26, 0},
    Part{R_AARCH64_JUMP26, Base::place, 4, 2, 26, 0},
    Part{R_AARCH64_CONDBR19, Base::place, 4, 2, 19, 5},
    Part{R_AARCH64_TSTBR14, Base::place, 4, 2, 14, 5},
    Part{R_AARCH64_LD_PREL_LO19, Base::place, 4, 2, 19, 5},
    Part{R_AARCH64_ADR_PREL_LO21, Base::place, 4, 0, 2, 29},
    Part{R_AARCH64_ADR_PREL_LO21, Base::place, 4, 2, 19, 5},
    Part{R_AARCH64_ADR_PREL_PG_HI21, Base::page, 4, 12, 2, 29},
    Part{R_AARCH64_ADR_PREL_PG_HI21, Base::page, 4, 14, 19, 5},
    Part{R_AARCH64_ADR_PREL_PG_HI21_NC, Base::page, 4, 12, 2, 29},
    Part{R_AARCH64_ADR_PREL_PG_HI21_NC, Base::page, 4, 14, 19, 5},
    Part{R_AARCH64_ADD_ABS_LO12_NC, Base::none, 4, 0, 12, 10},
    Part{R_AARCH64_LDST8_ABS_LO12_NC, Base::none, 4, 0, 12, 10},
    Part{R_AARCH64_LDST16_ABS_LO12_NC, Base::none, 4, 1, 11, 10},
    Part{R_AARCH64_LDST32_ABS_LO12_NC, Base::none, 4, 2, 10, 10},
    Part{R_AARCH64_LDST64_ABS_LO12_NC, Base::none, 4, 3, 9, 10},
    Part{R_AARCH64_LDST128_ABS_LO12_NC, Base::none, 4, 4, 8, 10},
    Part{R_AARCH64_MOVW_UABS_G0, Base::none, 4, 0, 16, 5},
    Part{R_AARCH64_MOVW_UABS_G0_NC, Base::none, 4, 0, 16, 5},
    Part{R_AARCH64_MOVW_UABS_G1, Base::none, 4, 16, 16, 5},
    Part{R_AARCH64_MOVW_UABS_G1_NC, Base::none, 4, 16, 16, 5},
    Part{R_AARCH64_MOVW_UABS_G2, Base::none, 4, 32, 16, 5},
    Part{R_AARCH64_MOVW_UABS_G2_NC, Base::none, 4, 32, 16, 5},
    Part{R_AARCH64_MOVW_UABS_G3, Base::none, 4, 48, 16, 5},
};

constexpr std::uint64_t page_of(std::uint64_t address) {
  return address & ~std::uint64_t{0xfff};
}

/// Bytes of a file. A read or write beyond their end sets `failed`, and has no other effect.
struct FileBytes {
  std::string bytes;
  bool failed = false;

  template <typename T>
  T read(std::uint64_t offset) {
    T value{};
    if (has(offset, sizeof value)) std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  template <typename T>
  void write(std::uint64_t offset, const T& value) {
    if (has(offset, sizeof value)) std::memcpy(bytes.data() + offset, &value, sizeof value);
  }
  /// Replaces bits of the number of `part`.
  void write(std::uint64_t offset, const Part& part, std::uint64_t value) {
    if (!has(offset, part.size)) return;
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - part.bits) << part.bit;
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data() + offset, part.size);
    number = (number & ~mask) | (value >> part.value_bit << part.bit & mask);
    std::memcpy(bytes.data() + offset, &number, part.size);
  }

 private:
  bool has(std::uint64_t offset, std::size_t size) {
    const bool is_in = offset <= bytes.size() && bytes.size() - offset >= size;
    failed |= !is_in;
    return is_in;
  }
};

class Loader {
 public:
  explicit Loader(const ElfFile& file)
      : file_(file), header_(file.header()), is_arm_(header_.e_machine == EM_AARCH64) {
    if (is_arm_) parts_ = kPartsOfArm64;
    if (is_arm_) layout_ = kLayoutOfArm64;
    image_.bytes.resize(static_cast<std::size_t>(size_of(file.descriptor())));
    const auto bytes = std::as_writable_bytes(std::span(image_.bytes));
    image_.bytes.resize(read_at(file.descriptor(), bytes, 0));
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
      sections_.push_back(image_.read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    }
  }

  std::optional<KernelModule> load() {
    place();
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_SYMTAB) add_addresses(section);
    }
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_RELA) relocate(section);
    }
    append_segments();
    if (image_.failed) return std::nullopt;
    std::ranges::sort(unresolved_);
    return KernelModule{ElfFile::in_memory(image_.bytes, file_.allowance()), code_end_,
                        std::move(unresolved_)};
  }

 private:
  static bool is_code(const Elf64_Shdr& section) {
    constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
    return (section.sh_flags & kCode) == kCode;
  }

  /// Gives sections their addresses.
  void place() {
    bool is_certain = true;
    std::uint64_t code = 0, others = layout_.others;
    is_placed_.resize(sections_.size());
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      Elf64_Shdr& section = sections_[i];
      const std::string_view name = file_.section_name(section);
      const bool is_moved = is_arm_ && (code > 0 || name == ".plt");
      if (is_code(section) && (name.starts_with(".exit") || is_moved)) is_certain = false;
      is_placed_[i] = is_code(section) && is_certain && !name.starts_with(".init");
      if ((section.sh_flags & SHF_ALLOC) == 0) continue;
      std::uint64_t& next = is_placed_[i] ? code : others;
      const std::uint64_t alignment = std::max<std::uint64_t>(section.sh_addralign, 1);
      image_.failed |= !std::has_single_bit(alignment) || alignment > layout_.most ||
                       section.sh_size > layout_.most;
      if (image_.failed) return;
      section.sh_addr = (next + alignment - 1) / alignment * alignment;
      next = section.sh_addr + section.sh_size;
      image_.failed |= next > (is_placed_[i] ? 0 : layout_.others) + layout_.most;
      image_.write(header_.e_shoff + i * sizeof section, section);
    }
    code_end_ = code;
  }

  /// Returns the number of entries in a table; 0 if its section is not in the file, or if all
  /// tables so far are longer than the file, so that they overlap.
  template <typename Entry>
  std::uint64_t entries_of(const Elf64_Shdr& table) {
    tables_ += std::min<std::uint64_t>(table.sh_size, image_.bytes.size());
    if (tables_ > image_.bytes.size()) image_.failed = true;
    return image_.failed ? 0 : table.sh_size / sizeof(Entry);
  }

  /// Adds the addresses of their sections to symbols.
  void add_addresses(const Elf64_Shdr& table) {
    const std::uint64_t count = entries_of<Elf64_Sym>(table);
    for (std::uint64_t i = 0; i < count && !image_.failed; ++i) {
      const std::uint64_t at = table.sh_offset + i * sizeof(Elf64_Sym);
      auto symbol = image_.read<Elf64_Sym>(at);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size()) continue;
      symbol.st_value += sections_[symbol.st_shndx].sh_addr;
      image_.write(at, symbol);
    }
  }

  void relocate(const Elf64_Shdr& table) {
    if (table.sh_info >= sections_.size() || table.sh_link >= sections_.size()) return;
    const Elf64_Shdr &target = sections_[table.sh_info], &symbols = sections_[table.sh_link];
    // The kernel leaves out what it does not load.
    if ((target.sh_flags & SHF_ALLOC) == 0 || target.sh_type == SHT_NOBITS) return;
    const std::uint64_t count = entries_of<Elf64_Rela>(table);
    for (std::uint64_t i = 0; i < count && !image_.failed; ++i) {
      const auto entry = image_.read<Elf64_Rela>(table.sh_offset + i * sizeof(Elf64_Rela));
      if (ELF64_R_TYPE(entry.r_info) != 0) relocate(entry, target, symbols);
    }
  }

  void relocate(const Elf64_Rela& entry, const Elf64_Shdr& target, const Elf64_Shdr& symbols) {
    const std::uint64_t number = ELF64_R_SYM(entry.r_info);
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
    const auto* const part = find_by(parts_, &Part::type, type);
    image_.failed |= part == nullptr || number >= symbols.sh_size / sizeof(Elf64_Sym) ||
                     entry.r_offset > target.sh_size ||
                     target.sh_size - entry.r_offset < part->size;
    if (image_.failed) return;
    const auto symbol = image_.read<Elf64_Sym>(symbols.sh_offset + number * sizeof(Elf64_Sym));
    const bool is_here = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < sections_.size();
    const bool is_known =
        is_here && (is_placed_[symbol.st_shndx] || !is_code(sections_[symbol.st_shndx]));
    const std::uint64_t place = target.sh_addr + entry.r_offset;
    const std::uint64_t value = (is_here ? symbol.st_value : layout_.elsewhere) +
                                static_cast<std::uint64_t>(entry.r_addend);
    const std::array bases{value, value - place, page_of(value) - page_of(place)};  // by Base
    for (const Part& one : parts_) {
      if (one.type != type) continue;
      image_.write(target.sh_offset + entry.r_offset, one,
                   bases.at(static_cast<std::size_t>(one.base)));
    }
    // The erratum is avoided by another instruction: ADR, or a jump to .plt (reloc_insn_adrp()).
    constexpr std::uint64_t kFirstAvoided = 0xff8;
    const bool is_avoided = part->base == Base::page && place - page_of(place) >= kFirstAvoided;
    if ((!is_known || is_avoided) && is_code(target)) {
      unresolved_.push_back({place, place + part->size});
    }
  }

  /// Adds a segment for each loaded section.
  void append_segments() {
    constexpr std::size_t kMost = 1000;  // ElfFile reads no more
    constexpr std::size_t kAlignment = 8;
    std::string& bytes = image_.bytes;
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
    Elf64_Ehdr header = header_;
    header.e_type = ET_DYN;
    header.e_phoff = bytes.size();
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 0;
    for (const Elf64_Shdr& section : sections_) {
      if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_type == SHT_NOBITS) continue;
      Elf64_Phdr segment{};
      segment.p_type = PT_LOAD;
      segment.p_flags = is_code(section) ? PF_R | PF_X : PF_R;
      segment.p_offset = section.sh_offset;
      segment.p_vaddr = section.sh_addr;
      segment.p_filesz = segment.p_memsz = section.sh_size;
      bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
      if (++header.e_phnum > kMost) image_.failed = true;
    }
    image_.write(0, header);
  }

  const ElfFile& file_;
  GElf_Ehdr header_;
  bool is_arm_;
  std::span<const Part> parts_ = kPartsOfX86;
  Layout layout_ = kLayoutOfX86;
  FileBytes image_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<bool> is_placed_;  ///< by section: whether its address is certain
  std::uint64_t code_end_ = 0;
  std::uint64_t tables_ = 0;  ///< bytes of tables that were read
  std::vector<AddressRange> unresolved_;
};

}  // namespace

std::optional<KernelModule> load_kernel_module(const ElfFile& file) {
  static_assert(kHostOrder == ByteOrder::little);
  const GElf_Ehdr& header = file.header();
  const bool is_object = header.e_type == ET_REL &&
                         (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64) &&
                         header.e_ident[EI_CLASS] == ELFCLASS64 &&
                         header.e_ident[EI_DATA] == ELFDATA2LSB;
  if (!is_object || !section_named(file, ".gnu.linkonce.this_module")) return std::nullopt;
  return Loader(file).load();
}

}  // namespace skid::symbols
