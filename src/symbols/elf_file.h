// An ELF file opened through libelf, and the contents of its headers.
#pragma once

#include "src/support/file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

namespace skid::symbols {

struct ElfEnd {
  void operator()(Elf* elf) const noexcept { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

/// The name of a section in the section header string table; empty if it has none, truncated after
/// 64 bytes.
std::string_view section_name(std::string_view names, const GElf_Shdr& section);

class ElfFile {
 public:
  /// Opens a regular file, read-only. Throws InputError when it is none, not ELF, or would take
  /// more memory than its allowance.
  static ElfFile open(const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  const FileDescriptor& descriptor() const noexcept { return descriptor_; }
  /// How many bytes of memory each way to read the file may take, by what its owner had to write: a
  /// file with holes or with sections that are compressed or overlap can ask for any amount.
  std::uint64_t allowance() const noexcept { return allowance_; }
  /// Reads sections into memory on demand; results live as long as this.
  Elf* elf() const noexcept { return elf_.get(); }
  const GElf_Ehdr& header() const noexcept { return header_; }
  /// As many as Linux accepts, and a truncated file still has.
  const std::vector<GElf_Phdr>& program_headers() const noexcept { return program_headers_; }
  /// Those of them of type PT_LOAD.
  const std::vector<GElf_Phdr>& segments() const noexcept { return segments_; }
  /// Lower-case hexadecimal; empty when the file has none.
  const std::string& build_id() const noexcept { return build_id_; }
  /// As symbols::section_name. Lives as long as this.
  std::string_view section_name(const GElf_Shdr& section) const {
    return symbols::section_name(section_names_, section);
  }

 private:
  ElfFile() = default;

  std::filesystem::path path_;
  FileDescriptor descriptor_;
  std::uint64_t allowance_ = 0;
  ElfHandle elf_;  // after descriptor_, which it reads from to its end
  GElf_Ehdr header_ = {};
  std::vector<GElf_Phdr> program_headers_, segments_;
  std::string build_id_;
  std::string_view section_names_;  // the section header string table, in memory of elf_
};

/// The content of a string table section, in memory of `elf`; empty when it is none.
std::string_view string_table(Elf* elf, std::size_t section_index);

}  // namespace skid::symbols
