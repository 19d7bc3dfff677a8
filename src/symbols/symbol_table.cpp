#include "src/symbols/symbol_table.h"

#include "src/support/sorting.h"
#include "src/support/text.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/elf_sections.h"
#include "src/symbols/plt.h"
#include "src/symbols/unwind_table.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <elf.h>
#include <fmt/format.h>
#include <gelf.h>

namespace skid::symbols {

namespace {

/// Maximum size of all demangled names in bytes. Names can be parts of each other, so that a small
/// table can have many long ones.
constexpr std::size_t kMostDemangledBytes = std::size_t{128} << 20U;
constexpr std::string_view kPltSuffix = "@plt";

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
    if (contains(name, "text")) {
      added.kind = SectionKind::text;
    } else if (contains(name, "data")) {
      added.kind = SectionKind::data;
    }
    added.end = AddressRange::of_size(header.sh_addr, header.sh_size).end;
  }
  return sections;
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
  return contains(std::string_view("adtx"), name[1]) && (name.size() == 2 || name[2] == '.');
}

std::size_t leading_underscores(std::string_view name) {
  constexpr std::size_t kMost = 255;  // more occur only in files that were made to take time
  const std::size_t count = name.substr(0, kMost).find_first_not_of('_');
  return count == std::string_view::npos ? std::min(name.size(), kMost) : count;
}

}  // namespace

SymbolTable::SymbolTable(const ElfFile& file, const ElfFile* debug_file,
                         const ElfFile* mini_debug_info, NameStyle style)
    : style_(style) {
  // Symbols of relocatable files have section offsets, not addresses.
  const auto read = [this](const ElfFile* from, GElf_Word type) {
    const bool has_addresses = from != nullptr && from->header().e_type != ET_REL;
    const auto table = has_addresses ? section_of_type(*from, type) : std::nullopt;
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
  add_plt(file);
  stable_sort_rest(symbols_, address_of);
  index_functions();
  add_unnamed(file);
}

void SymbolTable::index_functions() {
  std::vector<NumberedRange> ranges;
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].preferred) ranges.push_back({symbols_[i].range, static_cast<std::uint32_t>(i)});
  }
  functions_ = DisjointRanges(std::move(ranges));
}

void SymbolTable::add_unnamed(const ElfFile& file) {
  const std::size_t before = symbols_.size();
  for (const AddressRange& range : unwind_ranges(file)) {
    if (functions_.find(range.begin)) continue;
    symbols_.push_back({.range = range,
                        .section_end = range.end,
                        .name = {},
                        .kind = Kind::unnamed,
                        .weak = false,
                        .global = false,
                        .preferred = true});
  }
  if (symbols_.size() == before) return;
  stable_sort_rest(symbols_, address_of);
  index_functions();
}

bool SymbolTable::has_full_table(const ElfFile& file) {
  return section_of_type(file, SHT_SYMTAB).has_value();
}

/// Adds the symbols of a table.
void SymbolTable::read_symbols(const ElfFile& source, Elf_Scn* section) {
  GElf_Shdr header;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (gelf_getshdr(section, &header) == nullptr || data == nullptr) return;
  Elf_Data* wide_data = wide_indices(source, section);
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

void SymbolTable::add_plt(const ElfFile& file) {
  const auto name_at = [this](std::uint64_t address) {
    std::string_view name;
    for (auto symbol = std::ranges::lower_bound(symbols_, address, {}, address_of);
         symbol != symbols_.end() && symbol->range.begin == address; ++symbol) {
      if (symbol->preferred) name = symbol->name;
    }
    return name;
  };
  Plt plt = read_plt(file);
  plt_distance_ = plt.distance;
  // The symbols are sorted by address until the first one is added.
  for (PltEntry& entry : plt.entries) {
    if (entry.name.empty() && entry.resolver != 0) entry.name = name_at(entry.resolver);
  }
  const auto add = [this](AddressRange range, std::string_view name, Kind kind) {
    symbols_.push_back({.range = range,
                        .section_end = range.end,
                        .name = name,
                        .kind = kind,
                        .weak = false,
                        .global = true,
                        .preferred = true});
  };
  for (const PltEntry& entry : plt.entries) add(entry.range, entry.name, Kind::plt_entry);
  if (!plt.header.empty()) add(plt.header, ".plt", Kind::function);
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
  if (!index || symbols_[*index].kind == Kind::unnamed) return std::nullopt;
  return function(symbols_[*index]);
}

std::optional<AddressRange> SymbolTable::function_range_at(std::uint64_t address) const {
  const std::optional<std::uint32_t> index = functions_.find(address);
  return index ? std::optional(symbols_[*index].range) : std::nullopt;
}

std::vector<std::uint64_t> SymbolTable::function_starts() const {
  std::vector<std::uint64_t> starts;
  for (const Symbol& symbol : symbols_) {
    if (symbol.preferred) starts.push_back(symbol.range.begin);
  }
  std::ranges::sort(starts);
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

std::vector<std::uint64_t> SymbolTable::symbol_values() const {
  std::vector<std::uint64_t> values;
  values.reserve(symbols_.size());
  for (const Symbol& symbol : symbols_) {  // they are sorted
    if (symbol.kind != Kind::unnamed) values.push_back(symbol.range.begin);
  }
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
  if (contains(scope, "operator") || scope.starts_with("std::")) {
    identifier = {};
  }
  const auto is_named = [&](std::string_view symbol) {
    if (symbol == target) return true;
    if (style_ == NameStyle::symbols) return false;
    if (!contains(symbol, identifier)) return false;
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
