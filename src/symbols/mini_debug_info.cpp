#include "src/symbols/mini_debug_info.h"

#include "src/support/error.h"
#include "src/symbols/compressed_file.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/elf_sections.h"

#include <cstddef>
#include <span>
#include <string>

#include <libelf.h>

namespace skid::symbols {

std::optional<ElfFile> mini_debug_info(const ElfFile& file) {
  const auto section = section_named(file, ".gnu_debugdata");
  const Elf_Data* data = section ? elf_rawdata(section->section, nullptr) : nullptr;
  if (data == nullptr || data->d_buf == nullptr || data->d_size == 0) return std::nullopt;
  const std::span bytes(static_cast<const std::byte*>(data->d_buf), data->d_size);
  try {
    return ElfFile::in_memory(decompressed(bytes, file.allowance()), file.allowance());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace skid::symbols
