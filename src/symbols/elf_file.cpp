#include "src/symbols/elf_file.h"

#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <utility>

#include <elfutils/libdwelf.h>

namespace skid::symbols {

namespace {

/// Linux does not run programs with larger program headers (load_elf_phdrs in fs/binfmt_elf.c).
/// Bounds the walk over segments in malicious files.
constexpr std::size_t kProgramHeaderBytes = 65536;

/// SHA-1 has 20 bytes, and no linker writes more than 64 for any hash; more is damage.
constexpr std::ptrdiff_t kLongestBuildId = 64;

std::vector<Segment> read_segments(Elf* elf, const GElf_Ehdr& header) {
  std::vector<Segment> segments;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return segments;
  if (header.e_phentsize != 0) count = std::min(count, kProgramHeaderBytes / header.e_phentsize);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr program_header;
    if (gelf_getphdr(elf, static_cast<int>(i), &program_header) == nullptr) break;
    if (program_header.p_type != PT_LOAD) continue;
    segments.push_back({program_header.p_offset, program_header.p_vaddr, program_header.p_filesz,
                        program_header.p_memsz, (program_header.p_flags & PF_X) != 0,
                        (program_header.p_flags & PF_W) != 0});
  }
  return segments;
}

std::string read_build_id(Elf* elf) {
  const void* bytes = nullptr;
  const std::ptrdiff_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  if (size <= 0 || size > kLongestBuildId) return {};
  return hexadecimal({static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)});
}

}  // namespace

ElfFile ElfFile::open(const std::filesystem::path& path) {
  ElfFile file;
  file.path_ = path;
  file.descriptor_ = open_regular_file(path);

  // libelf notes the version without a lock.
  [[maybe_unused]] static const unsigned version = elf_version(EV_CURRENT);
  // Read, not mapped: a file that another process truncates under a mapping would kill us.
  file.elf_ = ElfHandle(elf_begin(file.descriptor_.get(), ELF_C_READ, nullptr));
  const auto refuse = [&path](std::string found) {
    throw InputError({.file = path.string(),
                      .offset = {},
                      .found = std::move(found),
                      .expected = "an ELF file",
                      .remedy = {}});
  };
  if (!file.elf_) refuse(std::string("a file that cannot be read as one: ") + elf_errmsg(-1));
  if (elf_kind(file.elf_.get()) != ELF_K_ELF) refuse("a file of another format");
  if (gelf_getehdr(file.elf_.get(), &file.header_) == nullptr) refuse("a damaged ELF header");

  file.segments_ = read_segments(file.elf_.get(), file.header_);
  file.build_id_ = read_build_id(file.elf_.get());
  std::size_t names = 0;
  if (elf_getshdrstrndx(file.elf_.get(), &names) == 0) {
    file.section_names_ = string_table(file.elf_.get(), names);
  }
  return file;
}

std::string_view ElfFile::section_name(const GElf_Shdr& section) const {
  constexpr std::size_t kLongestName = 64;
  if (section.sh_name >= section_names_.size()) return {};
  const std::string_view name = section_names_.substr(section.sh_name, kLongestName);
  return name.substr(0, name.find('\0'));
}

std::string_view string_table(Elf* elf, std::size_t section_index) {
  Elf_Scn* section = elf_getscn(elf, section_index);
  GElf_Shdr header;
  if (section == nullptr || gelf_getshdr(section, &header) == nullptr) return {};
  if (header.sh_type != SHT_STRTAB) return {};
  const Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

}  // namespace skid::symbols
