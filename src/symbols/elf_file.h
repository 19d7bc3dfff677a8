// An ELF file opened through libelf, with the contents of its headers.
#pragma once

#include "src/support/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

/// Returns the name of a section from the section header string table `names`; empty if it has
/// none, truncated after 64 bytes.
std::string_view section_name(std::string_view names, const GElf_Shdr& section);

class ElfFile {
 public:
  /// Opens a regular file, read-only, which xz, zstd or gzip may have compressed. Throws InputError
  /// if it is not a regular file or not ELF, or would take more memory than its allowance.
  /// `allowance`: that of the file which contains it; nullopt: its own.
  static ElfFile open(const std::filesystem::path& path,
                      std::optional<std::uint64_t> allowance = std::nullopt);
  /// Opens a file that consists of `content`. Throws Error, or InputError as `open` does.
  static ElfFile in_memory(std::string_view content, std::uint64_t allowance);

  const std::filesystem::path& path() const noexcept { return path_; }
  const FileDescriptor& descriptor() const noexcept { return descriptor_; }
  /// Returns how many bytes of memory each way to read the file may take. It follows from the bytes
  /// that the owner had to write: a file with holes, or with sections that are compressed or
  /// overlap, could otherwise take any amount.
  std::uint64_t allowance() const noexcept { return allowance_; }
  /// Returns libelf's handle, which reads sections into memory on demand. Results are valid as long
  /// as this.
  Elf* elf() const noexcept { return elf_.get(); }
  const GElf_Ehdr& header() const noexcept { return header_; }
  /// Returns the program headers: at most as many as Linux accepts, and those before the end of a
  /// truncated file.
  const std::vector<GElf_Phdr>& program_headers() const noexcept { return program_headers_; }
  /// Returns the program headers of type PT_LOAD.
  const std::vector<GElf_Phdr>& segments() const noexcept { return segments_; }
  /// Returns the build-id in lower-case hexadecimal; empty if the file has none.
  const std::string& build_id() const noexcept { return build_id_; }
  /// Returns the name of a section as symbols::section_name() does. Valid as long as this.
  std::string_view section_name(const GElf_Shdr& section) const {
    return symbols::section_name(section_names_, section);
  }

 private:
  ElfFile() = default;

  std::filesystem::path path_;
  FileDescriptor descriptor_;
  std::uint64_t allowance_ = 0;
  ElfHandle elf_;  ///< declared after descriptor_, which it reads until it ends
  GElf_Ehdr header_ = {};
  std::vector<GElf_Phdr> program_headers_, segments_;
  std::string build_id_;
  std::string_view section_names_;  ///< section header string table, in memory of elf_
};

/// Returns the content of a string table section, in memory of `elf`; empty for other sections.
std::string_view string_table(Elf* elf, std::size_t section_index);

}  // namespace skid::symbols
