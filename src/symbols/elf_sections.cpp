#include "src/symbols/elf_sections.h"

#include "src/symbols/elf_file.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <elf.h>

namespace skid::symbols {

namespace {

/// Maximum length of a name; longer ones are truncated. Templates make names of tens of kilobytes,
/// but a damaged file can give a name of megabytes to every symbol.
constexpr std::size_t kLongestName = 65536;

template <typename Predicate>
std::optional<Section> find_section(const ElfFile& file, Predicate wanted) {
  Section found;
  while ((found.section = elf_nextscn(file.elf(), found.section)) != nullptr) {
    if (gelf_getshdr(found.section, &found.header) != nullptr && wanted(found.header)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Section> section_of_type(const ElfFile& file, GElf_Word type) {
  return find_section(file, [type](const GElf_Shdr& header) { return header.sh_type == type; });
}

std::optional<Section> section_named(const ElfFile& file, std::string_view name) {
  return find_section(file,
                      [&](const GElf_Shdr& header) { return file.section_name(header) == name; });
}

Elf_Data* wide_indices(const ElfFile& file, Elf_Scn* symbols) {
  const std::size_t index = elf_ndxscn(symbols);
  const auto found = find_section(file, [index](const GElf_Shdr& candidate) {
    return candidate.sh_type == SHT_SYMTAB_SHNDX && candidate.sh_link == index;
  });
  return found ? elf_getdata(found->section, nullptr) : nullptr;
}

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

}  // namespace skid::symbols
