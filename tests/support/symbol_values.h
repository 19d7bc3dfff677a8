// Values of the symbols of an ELF file.
#pragma once

#include "src/symbols/elf_file.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace skid::test {

/// The values of the defined symbols of any type in .symtab, by name; empty without one.
inline std::map<std::string, std::uint64_t> symbol_values(const std::filesystem::path& path) {
  std::map<std::string, std::uint64_t> values;
  const auto file = symbols::ElfFile::open(path);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file.elf(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* name = elf_strptr(file.elf(), header.sh_link, symbol.st_name);
      if (name != nullptr && symbol.st_shndx != SHN_UNDEF) values.emplace(name, symbol.st_value);
    }
  }
  return values;
}

}  // namespace skid::test
