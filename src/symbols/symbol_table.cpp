#include "src/symbols/symbol_table.h"

#include "src/symbols/elf_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include <elf.h>
#include <fmt/format.h>
#include <gelf.h>

namespace skid::symbols {

namespace {

/// Maximum length of a name; longer ones are truncated. Templates make names of tens of kilobytes,
/// but a damaged file can give a name of megabytes to every symbol.
constexpr std::size_t kLongestName = 65536;
/// Maximum size of all demangled names in bytes. Names can be parts of each other, so that a small
/// table can have many long ones.
constexpr std::size_t kMostDemangledBytes = std::size_t{128} << 20U;
constexpr std::string_view kPltSuffix = "@plt";

struct Section {
  Elf_Scn* section = nullptr;
  GElf_Shdr header = {};
};

template <typename Predicate>
std::optional<Section> find_section(const ElfFile& file, Predicate wanted) {
  Section found;
  while ((found.section = elf_nextscn(file.elf(), found.section)) != nullptr) {
    if (gelf_getshdr(found.section, &found.header) != nullptr && wanted(found.header)) return found;
  }
  return std::nullopt;
}

std::optional<Section> section_of_type(const ElfFile& file, GElf_Word type) {
  return find_section(file, [type](const GElf_Shdr& header) { return header.sh_type == type; });
}

std::optional<Section> section_named(const ElfFile& file, std::string_view name) {
  return find_section(file,
                      [&](const GElf_Shdr& header) { return file.section_name(header) == name; });
}

/// The kind of a section by its name.
enum class SectionKind : std::uint8_t { text, data, neither };

struct SymbolSection {
  SectionKind kind = SectionKind::neither;  ///< the meaning of its untyped labels
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();  ///< address after its last byte
};

/// Returns the properties of all sections, by section index.
std::vector<SymbolSection> symbol_sections(const ElfFile& file) {
  std::vector<SymbolSection> sections(1);
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(file.elf(), section)) != nullptr) {
    SymbolSection& added = sections.emplace_back();
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const std::string_view name = file.section_name(header);
    if (name.find("text") != std::string_view::npos) {
      added.kind = SectionKind::text;
    } else if (name.find("data") != std::string_view::npos) {
      added.kind = SectionKind::data;
    }
    added.end = AddressRange::of_size(header.sh_addr, header.sh_size).end;
  }
  return sections;
}

/// Returns the strings at `offsets`; empty for offsets outside of the table. The ends are found in
/// one pass over the table, even if many offsets point into one long string.
std::vector<std::string_view> strings_at(std::string_view table,
                                         const std::vector<std::size_t>& offsets) {
  std::vector<std::size_t> ascending(offsets.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::ranges::sort(ascending, {}, [&offsets](std::size_t i) { return offsets[i]; });

  std::vector<std::string_view> strings(offsets.size());
  std::optional<std::size_t> end;
  for (const std::size_t i : ascending) {
    const std::size_t begin = offsets[i];
    if (begin >= table.size()) break;
    if (!end || *end < begin) end = table.find('\0', begin);
    if (*end == std::string_view::npos) break;
    strings[i] = table.substr(begin, std::min(*end - begin, kLongestName));
  }
  return strings;
}

/// Whether perf treats a symbol without a type as a function or as data.
bool is_label(const GElf_Sym& symbol) {
  const unsigned visibility = GELF_ST_VISIBILITY(symbol.st_other);
  return GELF_ST_TYPE(symbol.st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
         visibility != STV_INTERNAL;
}

bool is_function(const GElf_Sym& symbol, SectionKind section) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  if (symbol.st_shndx == SHN_ABS) return false;
  return type == STT_FUNC || type == STT_GNU_IFUNC ||
         (is_label(symbol) && section == SectionKind::text);
}

bool is_data(const GElf_Sym& symbol, SectionKind section) {
  if (symbol.st_shndx == SHN_ABS) return false;
  return GELF_ST_TYPE(symbol.st_info) == STT_OBJECT ||
         (is_label(symbol) && section == SectionKind::data);
}

/// Whether a name is that of a mapping symbol: a label of code or data that assemblers for ARM,
/// AArch64 and RISC-V make.
bool is_mapping_symbol(GElf_Half machine, std::string_view name) {
  if (name.size() < 2 || name[0] != '$') return false;
  if (machine == EM_RISCV) return name[1] == 'd' || name[1] == 'x';
  if (machine != EM_ARM && machine != EM_AARCH64) return false;
  return std::string_view("adtx").find(name[1]) != std::string_view::npos &&
         (name.size() == 2 || name[2] == '.');
}

std::size_t leading_underscores(std::string_view name) {
  constexpr std::size_t kMost = 255;  // more occur only in files that were made to take time
  const std::size_t count = name.substr(0, kMost).find_first_not_of('_');
  return count == std::string_view::npos ? std::min(name.size(), kMost) : count;
}

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

}  // namespace

SymbolTable::SymbolTable(const ElfFile& file, const ElfFile* debug_file,
                         const ElfFile* mini_debug_info, NameStyle style)
    : style_(style) {
  // Symbols of relocatable files have section offsets, not addresses.
  if (file.header().e_type == ET_REL) return;

  const auto read = [this](const ElfFile* from, GElf_Word type) {
    const auto table = from != nullptr ? section_of_type(*from, type) : std::nullopt;
    if (table) read_symbols(*from, table->section);
  };
  read(&file, SHT_SYMTAB);
  if (symbols_.empty()) read(debug_file, SHT_SYMTAB);
  if (symbols_.empty()) {  // MiniDebugInfo has no dynamic symbols
    read(mini_debug_info, SHT_SYMTAB);
    read(&file, SHT_DYNSYM);
  }
  std::ranges::stable_sort(symbols_, {}, address_of);
  extend_to_next();
  choose_preferred();
  read_plt(file);
  std::ranges::stable_sort(symbols_, {}, address_of);

  std::vector<NumberedRange> ranges;
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].preferred) ranges.push_back({symbols_[i].range, static_cast<std::uint32_t>(i)});
  }
  functions_ = DisjointRanges(std::move(ranges));
}

bool SymbolTable::has_full_table(const ElfFile& file) {
  return section_of_type(file, SHT_SYMTAB).has_value();
}

/// Adds the symbols of a table.
void SymbolTable::read_symbols(const ElfFile& source, Elf_Scn* section) {
  GElf_Shdr header;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (gelf_getshdr(section, &header) == nullptr || data == nullptr) return;
  const std::size_t index = elf_ndxscn(section);
  const auto wide_indices = find_section(source, [index](const GElf_Shdr& candidate) {
    return candidate.sh_type == SHT_SYMTAB_SHNDX && candidate.sh_link == index;
  });
  Elf_Data* wide_data = wide_indices ? elf_getdata(wide_indices->section, nullptr) : nullptr;
  const std::vector<SymbolSection> sections = symbol_sections(source);
  const GElf_Half machine = source.header().e_machine;

  const std::size_t before = symbols_.size();
  std::vector<std::size_t> name_offsets;
  GElf_Sym symbol;
  Elf32_Word wide_index = 0;
  for (int i = 0; i < std::numeric_limits<int>::max(); ++i) {
    if (gelf_getsymshndx(data, wide_data, i, &symbol, &wide_index) == nullptr) break;
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (symbol.st_name == 0 || symbol.st_shndx == SHN_UNDEF) continue;
    if (type == STT_SECTION || type == STT_FILE) continue;

    const std::size_t in_section = symbol.st_shndx == SHN_XINDEX ? wide_index : symbol.st_shndx;
    const SymbolSection of = in_section < sections.size() ? sections[in_section] : SymbolSection{};
    Kind kind = Kind::other;
    if (is_function(symbol, of.kind)) kind = Kind::function;
    if (is_data(symbol, of.kind)) kind = Kind::bound;

    std::uint64_t begin = symbol.st_value;
    if (machine == EM_ARM && kind == Kind::function)
      begin &= ~std::uint64_t{1};  // the bit that marks Thumb code
    const unsigned binding = GELF_ST_BIND(symbol.st_info);
    symbols_.push_back({.range = AddressRange::of_size(begin, symbol.st_size),
                        .section_end = of.end,
                        .name = {},
                        .kind = kind,
                        .weak = binding == STB_WEAK,
                        .global = binding == STB_GLOBAL,
                        .preferred = false});
    name_offsets.push_back(symbol.st_name);
  }

  const std::vector<std::string_view> names =
      strings_at(string_table(source.elf(), header.sh_link), name_offsets);
  for (std::size_t i = 0; i < names.size(); ++i) symbols_[before + i].name = names[i];
  std::erase_if(symbols_, [machine](const Symbol& s) {
    return s.name.empty() || is_mapping_symbol(machine, s.name);
  });
}

/// Gives symbols without a size the range up to the next symbol.
void SymbolTable::extend_to_next() {
  // As in perf, only the last of several symbols without a size at one address gets a size here,
  // and is therefore preferred. The others get theirs in choose_preferred.
  Symbol* previous = nullptr;
  const auto extend = [](Symbol& symbol, std::uint64_t end) {
    if (!symbol.range.empty()) return;
    // perf would extend the last function of a section over the following sections.
    symbol.range.end = std::max(symbol.range.begin, std::min(end, symbol.section_end));
  };
  for (Symbol& symbol : symbols_) {
    if (symbol.kind == Kind::other) continue;
    if (previous != nullptr) extend(*previous, symbol.range.begin);
    previous = &symbol;
  }
  if (previous != nullptr) extend(*previous, end_of_last_symbol(previous->range.begin));
}

/// Chooses the symbol whose name is used at each address.
void SymbolTable::choose_preferred() {
  for (auto first = symbols_.begin(); first != symbols_.end();) {
    const auto last = std::find_if(first, symbols_.end(), [first](const Symbol& symbol) {
      return symbol.range.begin != first->range.begin;
    });
    Symbol* best = nullptr;
    std::uint64_t end = first->range.begin;
    for (auto symbol = first; symbol != last; ++symbol) {
      if (symbol->kind != Kind::function) continue;
      end = std::max(end, symbol->range.end);
      if (best == nullptr || better(*symbol, *best)) best = &*symbol;
    }
    if (best != nullptr) best->preferred = true;
    for (auto symbol = first; symbol != last; ++symbol) {
      if (symbol->kind == Kind::function && symbol->range.empty()) symbol->range.end = end;
    }
    first = last;
  }
}

/// Whether `a` is preferred to `b`, which precedes it in the file, as in perf's choose_best_symbol.
bool SymbolTable::better(const Symbol& a, const Symbol& b) const {
  const auto rank = [](const Symbol& symbol) {
    return std::tuple(!symbol.range.empty(), !symbol.weak, symbol.global);
  };
  if (rank(a) != rank(b)) return rank(b) < rank(a);
  const auto rank_of_name = [](std::string_view name) {
    return std::tuple(-static_cast<std::ptrdiff_t>(leading_underscores(name)), name.size());
  };
  return rank_of_name(shown(b.name)) < rank_of_name(shown(a.name));
}

/// Returns the demangled name, or `name` if there is none. Valid as long as the table.
std::string_view SymbolTable::shown(std::string_view name) const {
  if (style_ == NameStyle::symbols || !name.starts_with('_')) return name;
  const auto [known, is_new] = demangled_.try_emplace(name.data());
  if (is_new && demangled_bytes_ < kMostDemangledBytes) {
    known->second =
        demangler_.name_of(std::string(name), style_ == NameStyle::signatures).value_or("");
    demangled_bytes_ += known->second.size();
  }
  return known->second.empty() ? name : known->second;
}

std::uint64_t SymbolTable::address_of(const Symbol& symbol) {
  return symbol.range.begin;
}

/// Adds the entries of the PLT, which have the names of their dynamic symbols, as perf does since
/// Linux 6.3 (dso__synthesize_plt_symbols() in tools/perf/util/symbol-elf.c).
void SymbolTable::read_plt(const ElfFile& file) {
  const auto plt = section_named(file, ".plt");
  if (!plt) return;
  plt_distance_ = plt->header.sh_offset - plt->header.sh_addr;
  const GElf_Half machine = file.header().e_machine;
  const bool is_x86 = machine == EM_X86_64 || machine == EM_386;
  const auto [header_size, entry_size] = plt_sizes(machine, plt->header);
  if (entry_size == 0) return;
  AddressRange header = AddressRange::of_size(plt->header.sh_addr, header_size);
  std::uint64_t begin = header.end, size = entry_size;

  auto relocations = section_named(file, ".rela.plt");
  if (!relocations) relocations = section_named(file, ".rel.plt");
  std::vector<Slot> slots;
  if (relocations) slots = slots_of(file, *relocations);
  if (is_x86) std::ranges::stable_sort(slots, {}, &Slot::address);  // those of IFUNCs come last
  const auto add = [this](AddressRange range, std::string_view name, Kind kind) {
    symbols_.push_back({.range = range,
                        .section_end = range.end,
                        .name = name,
                        .kind = kind,
                        .weak = false,
                        .global = true,
                        .preferred = true});
  };
  const auto second = is_x86 ? section_named(file, ".plt.sec") : std::nullopt;
  if (second) {  // its entries are called; those of .plt only bind them
    header = AddressRange::of_size(plt->header.sh_addr, plt->header.sh_size);
    begin = second->header.sh_addr;
    size = plt_sizes(machine, second->header).entry;
  } else if (slots.size() == plt->header.sh_size / size && plt->header.sh_size % size == 0) {
    begin = header.begin;  // no entry binds others
    header = {};
  }
  const GElf_Shdr& entries = second ? second->header : plt->header;
  const std::uint64_t end = AddressRange::of_size(entries.sh_addr, entries.sh_size).end;
  const std::size_t functions = symbols_.size();  // sorted by address
  for (const Slot& slot : slots) {
    const AddressRange range = AddressRange::of_size(begin, size);
    if (range.end > end) break;
    begin = range.end;
    std::string_view name = slot.name;
    if (name.empty() && slot.resolver != 0) {
      const auto known = std::span(symbols_).first(functions);
      for (auto symbol = std::ranges::lower_bound(known, slot.resolver, {}, address_of);
           symbol != known.end() && symbol->range.begin == slot.resolver; ++symbol) {
        if (symbol->preferred) name = symbol->name;
      }
    }
    add(range, name, Kind::plt_entry);
  }
  if (!header.empty()) add(header, ".plt", Kind::function);
  if (machine == EM_X86_64) read_plt_got(file);
}

/// Adds the entries of .plt.got, which jump through slots that are bound when the file is loaded.
void SymbolTable::read_plt_got(const ElfFile& file) {
  const auto got = section_named(file, ".plt.got");
  const auto relocations = section_named(file, ".rela.dyn");
  const Elf_Data* code = got ? elf_getdata(got->section, nullptr) : nullptr;
  if (code == nullptr || code->d_buf == nullptr) return;
  std::vector<Slot> slots;
  if (relocations) slots = slots_of(file, *relocations);
  std::ranges::stable_sort(slots, {}, &Slot::address);
  const std::span bytes(static_cast<const std::uint8_t*>(code->d_buf), code->d_size);
  const std::uint64_t size = plt_sizes(EM_X86_64, got->header).entry;
  for (std::uint64_t offset = 0; offset + size <= bytes.size(); offset += size) {
    const AddressRange range = AddressRange::of_size(got->header.sh_addr + offset, size);
    std::string_view name;
    if (const auto distance = jump_distance(bytes.subspan(offset, size))) {
      const auto slot =
          std::ranges::lower_bound(slots, range.begin + *distance, {}, &Slot::address);
      if (slot != slots.end() && slot->address == range.begin + *distance) name = slot->name;
    }
    symbols_.push_back({.range = range,
                        .section_end = range.end,
                        .name = name,
                        .kind = Kind::plt_entry,
                        .weak = false,
                        .global = true,
                        .preferred = true});
  }
}

Function SymbolTable::function(const Symbol& symbol) const {
  Function result{std::string(shown(symbol.name)), symbol.range};
  if (symbol.kind != Kind::plt_entry) return result;
  if (result.name.empty())
    result.name = fmt::format("offset_{:#x}", symbol.range.begin + plt_distance_);
  result.name += kPltSuffix;
  return result;
}

std::optional<Function> SymbolTable::function_at(std::uint64_t address) const {
  const std::optional<std::uint32_t> index = functions_.find(address);
  if (!index) return std::nullopt;
  return function(symbols_[*index]);
}

std::optional<AddressRange> SymbolTable::function_range_at(std::uint64_t address) const {
  const std::optional<std::uint32_t> index = functions_.find(address);
  return index ? std::optional(symbols_[*index].range) : std::nullopt;
}

std::vector<std::uint64_t> SymbolTable::function_starts() const {
  std::vector<std::uint64_t> starts;
  for (const Symbol& symbol : symbols_) {
    if (symbol.preferred && (symbol.kind == Kind::function || symbol.kind == Kind::plt_entry)) {
      starts.push_back(symbol.range.begin);
    }
  }
  std::ranges::sort(starts);
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

std::vector<std::uint64_t> SymbolTable::symbol_values() const {
  std::vector<std::uint64_t> values;
  values.reserve(symbols_.size());
  for (const Symbol& symbol : symbols_) values.push_back(symbol.range.begin);  // they are sorted
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::optional<std::uint64_t> SymbolTable::value_of(std::string_view name) const {
  const auto found = std::ranges::find(symbols_, name, &Symbol::name);
  return found == symbols_.end() ? std::nullopt : std::optional(found->range.begin);
}

std::vector<Function> SymbolTable::functions_named(std::string_view name) const {
  const bool plt = name.ends_with(kPltSuffix);
  const std::string_view target = plt ? name.substr(0, name.size() - kPltSuffix.size()) : name;
  // A mangled name contains the identifier, so that few names have to be demangled.
  const bool has_parameters = target.find('(') != std::string_view::npos;
  const std::string_view scope = target.substr(0, target.find_first_of("<("));
  std::string_view identifier = scope.substr(scope.find_last_of(": ") + 1);  // after a result type
  if (identifier.starts_with('~')) identifier.remove_prefix(1);
  // The mangled forms of operators and of some names of std have two letters.
  if (scope.find("operator") != std::string_view::npos || scope.starts_with("std::")) {
    identifier = {};
  }
  const auto is_named = [&](std::string_view symbol) {
    if (symbol == target) return true;
    if (style_ == NameStyle::symbols) return false;
    if (symbol.find(identifier) == std::string_view::npos) return false;
    const std::string mangled(symbol);
    return demangler_.name_of(mangled) == target ||
           (has_parameters && demangler_.name_of(mangled, true) == target);
  };
  std::vector<Function> result;
  for (const Symbol& symbol : symbols_) {
    const bool named = (symbol.kind == Kind::function && is_named(symbol.name)) ||
                       (plt && symbol.kind == Kind::plt_entry && is_named(symbol.name));
    if (named) result.push_back(function(symbol));
  }
  std::ranges::sort(result, {}, [](const Function& function) {
    return std::pair(function.range.begin, function.range.end);
  });
  // A dynamic symbol table lists a function once for each of its versions.
  const auto same_range = [](const Function& a, const Function& b) { return a.range == b.range; };
  result.erase(std::unique(result.begin(), result.end(), same_range), result.end());
  return result;
}

}  // namespace skid::symbols
