// The sections of an ELF file by type and name, and the strings of its string tables.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <gelf.h>
#include <libelf.h>

namespace skid::symbols {

class ElfFile;

struct Section {
  Elf_Scn* section = nullptr;
  GElf_Shdr header = {};
};

/// Returns the first section of a type (SHT_SYMTAB).
std::optional<Section> section_of_type(const ElfFile& file, GElf_Word type);

/// Returns the first section of that name.
std::optional<Section> section_named(const ElfFile& file, std::string_view name);

/// Returns the extended section indices (SHT_SYMTAB_SHNDX) of a symbol table; null if it has none.
Elf_Data* wide_indices(const ElfFile& file, Elf_Scn* symbols);

/// Returns the strings at `offsets` of a string table, cut at 64 KiB; empty for offsets outside of
/// the table. The ends are found in one pass over the table, even if many offsets point into one
/// long string.
std::vector<std::string_view> strings_at(std::string_view table,
                                         const std::vector<std::size_t>& offsets);

}  // namespace skid::symbols
