#include "src/symbols/plt.h"

#include "src/symbols/elf_file.h"
#include "src/symbols/elf_sections.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

namespace skid::symbols {

namespace {

/// The sizes of the header of a PLT and of its entries, in bytes, as in perf's get_plt_sizes(). On
/// x86 linkers record either size, or none (mold).
struct PltSizes {
  std::uint64_t header = 0, entry = 0;
};
PltSizes plt_sizes(GElf_Half machine, const GElf_Shdr& plt) {
  if (machine == EM_ARM) return {20, 12};
  if (machine == EM_AARCH64 || machine == EM_RISCV) return {32, 16};
  std::uint64_t entry = plt.sh_entsize;
  if ((machine == EM_X86_64 || machine == EM_386) && entry != 8 && entry != 16) {
    entry = plt.sh_addralign == 8 ? 8 : 16;
  }
  return {entry, entry};
}

/// An entry of the GOT that the dynamic linker sets to the address of a function.
struct Slot {
  std::uint64_t address = 0;
  std::string_view name;       ///< of the function; empty for IFUNCs
  std::uint64_t resolver = 0;  ///< address of the IFUNC's resolver; 0: not an IFUNC
};

/// Returns the slots of a section of relocations, in its order.
std::vector<Slot> slots_of(const ElfFile& file, const Section& relocations) {
  std::vector<Slot> slots;
  Elf_Data* data = elf_getdata(relocations.section, nullptr);
  Elf_Scn* symbols = elf_getscn(file.elf(), relocations.header.sh_link);
  GElf_Shdr symbols_header;
  if (data == nullptr || relocations.header.sh_link == 0 || symbols == nullptr) return slots;
  if (gelf_getshdr(symbols, &symbols_header) == nullptr) return slots;
  if (symbols_header.sh_type != SHT_DYNSYM && symbols_header.sh_type != SHT_SYMTAB) return slots;
  Elf_Data* symbol_data = elf_getdata(symbols, nullptr);
  std::vector<std::size_t> name_offsets;
  for (int i = 0; i < std::numeric_limits<int>::max(); ++i) {
    GElf_Rela relocation = {};
    if (relocations.header.sh_type == SHT_RELA) {
      if (gelf_getrela(data, i, &relocation) == nullptr) break;
    } else {
      GElf_Rel without_addend;
      if (gelf_getrel(data, i, &without_addend) == nullptr) break;
      relocation = {without_addend.r_offset, without_addend.r_info, 0};
    }
    const std::uint64_t type = GELF_R_TYPE(relocation.r_info);
    const bool is_of_data =  // descriptors of thread-local data, which have no entry
        type == (file.header().e_machine == EM_AARCH64 ? R_AARCH64_TLSDESC : R_X86_64_TLSDESC);
    if (is_of_data) continue;
    const std::uint64_t index = GELF_R_SYM(relocation.r_info);
    GElf_Sym symbol;
    const bool is_known = symbol_data != nullptr && index <= std::numeric_limits<int>::max() &&
                          gelf_getsym(symbol_data, static_cast<int>(index), &symbol) != nullptr;
    const bool is_ifunc = file.header().e_machine == EM_X86_64 && type == R_X86_64_IRELATIVE;
    name_offsets.push_back(is_known ? symbol.st_name : 0);
    slots.push_back({.address = relocation.r_offset,
                     .name = {},
                     .resolver = is_ifunc ? static_cast<std::uint64_t>(relocation.r_addend) : 0});
  }
  const auto names = strings_at(string_table(file.elf(), symbols_header.sh_link), name_offsets);
  for (std::size_t i = 0; i < names.size(); ++i) slots[i].name = names[i];
  return slots;
}

/// Returns the distance from the first byte of an entry of .plt.got to the slot through which it
/// jumps: "jmp *disp32(%rip)", after ENDBR64 and a BND prefix where it has them.
std::optional<std::uint64_t> jump_distance(std::span<const std::uint8_t> entry) {
  constexpr std::array<std::uint8_t, 4> kEndbr64 = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr std::size_t kDisplacement = 4;
  std::size_t at = std::ranges::equal(entry.first(kEndbr64.size()), kEndbr64) ? 4 : 0;
  if (entry[at] == 0xf2) ++at;
  if (entry.size() < at + 2 + kDisplacement || entry[at] != 0xff || entry[at + 1] != 0x25) {
    return std::nullopt;
  }
  std::uint32_t displacement = 0;
  for (std::size_t i = kDisplacement; i-- > 0;) {
    displacement = displacement << 8U | entry[at + 2 + i];
  }
  const auto is_signed = static_cast<std::int32_t>(displacement);
  return at + 2 + kDisplacement + static_cast<std::uint64_t>(std::int64_t{is_signed});
}

/// Returns the entries of .plt.got, which jump through slots that are bound when the file is
/// loaded.
std::vector<PltEntry> entries_of_got(const ElfFile& file) {
  std::vector<PltEntry> entries;
  const auto got = section_named(file, ".plt.got");
  const auto relocations = section_named(file, ".rela.dyn");
  const Elf_Data* code = got ? elf_getdata(got->section, nullptr) : nullptr;
  if (code == nullptr || code->d_buf == nullptr) return entries;
  std::vector<Slot> slots;
  if (relocations) slots = slots_of(file, *relocations);
  std::ranges::stable_sort(slots, {}, &Slot::address);
  const std::span bytes(static_cast<const std::uint8_t*>(code->d_buf), code->d_size);
  const std::uint64_t size = plt_sizes(EM_X86_64, got->header).entry;
  for (std::uint64_t offset = 0; offset + size <= bytes.size(); offset += size) {
    PltEntry& entry = entries.emplace_back();
    entry.range = AddressRange::of_size(got->header.sh_addr + offset, size);
    if (const auto distance = jump_distance(bytes.subspan(offset, size))) {
      const std::uint64_t address = entry.range.begin + *distance;
      const auto slot = std::ranges::lower_bound(slots, address, {}, &Slot::address);
      if (slot != slots.end() && slot->address == address) entry.name = slot->name;
    }
  }
  return entries;
}

}  // namespace

Plt read_plt(const ElfFile& file) {
  Plt plt;
  const auto section = section_named(file, ".plt");
  if (!section) return plt;
  plt.distance = section->header.sh_offset - section->header.sh_addr;
  const GElf_Half machine = file.header().e_machine;
  const bool is_x86 = machine == EM_X86_64 || machine == EM_386;
  const auto [header_size, entry_size] = plt_sizes(machine, section->header);
  if (entry_size == 0) return plt;
  plt.header = AddressRange::of_size(section->header.sh_addr, header_size);
  std::uint64_t begin = plt.header.end, size = entry_size;

  auto relocations = section_named(file, ".rela.plt");
  if (!relocations) relocations = section_named(file, ".rel.plt");
  std::vector<Slot> slots;
  if (relocations) slots = slots_of(file, *relocations);
  if (is_x86) std::ranges::stable_sort(slots, {}, &Slot::address);  // those of IFUNCs come last
  const auto second = is_x86 ? section_named(file, ".plt.sec") : std::nullopt;
  if (second) {  // its entries are called; those of .plt only bind them
    plt.header = AddressRange::of_size(section->header.sh_addr, section->header.sh_size);
    begin = second->header.sh_addr;
    size = plt_sizes(machine, second->header).entry;
  } else if (slots.size() == section->header.sh_size / size &&
             section->header.sh_size % size == 0) {
    begin = plt.header.begin;  // no entry binds others
    plt.header = {};
  }
  const GElf_Shdr& entries = second ? second->header : section->header;
  const std::uint64_t end = AddressRange::of_size(entries.sh_addr, entries.sh_size).end;
  for (const Slot& slot : slots) {
    const AddressRange range = AddressRange::of_size(begin, size);
    if (range.end > end) break;
    begin = range.end;
    plt.entries.push_back({range, slot.name, slot.resolver});
  }
  if (machine == EM_X86_64) {
    const auto more = entries_of_got(file);
    plt.entries.insert(plt.entries.end(), more.begin(), more.end());
  }
  return plt;
}

}  // namespace skid::symbols
