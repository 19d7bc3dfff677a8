#include "src/symbols/elf_file.h"

#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/text.h"
#include "src/symbols/compressed_file.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <sys/mman.h>

namespace skid::symbols {

namespace {

/// Maximum size of the program headers; Linux does not run programs with more (load_elf_phdrs in
/// fs/binfmt_elf.c). Bounds the walk over segments in malicious files.
constexpr std::size_t kProgramHeaderBytes = 65536;

/// Maximum size of a build-id in bytes. SHA-1 has 20, and no linker writes more than 64 for any
/// hash.
constexpr std::ptrdiff_t kLongestBuildId = 64;

/// Maximum number of notes. Linkers write some dozens at most; libelf searches those that it has
/// read one by one.
constexpr std::size_t kMostNotes = 1024;

/// Returns the allowance of a file: 1 MiB, and 16 bytes for each byte that is not in a hole. Debug
/// information is compressed to an eighth at best, and is seldom all of a file.
std::uint64_t allowance_for(const FileDescriptor& file) {
  return (std::uint64_t{1} << 20U) + 16 * size_without_holes(file);
}

std::vector<GElf_Phdr> read_program_headers(Elf* elf, const GElf_Ehdr& header) {
  std::vector<GElf_Phdr> headers;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return headers;
  if (header.e_phentsize != 0) count = std::min(count, kProgramHeaderBytes / header.e_phentsize);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr program_header;
    if (gelf_getphdr(elf, static_cast<int>(i), &program_header) == nullptr) break;
    headers.push_back(program_header);
  }
  return headers;
}

/// Whether the notes fit into `allowance` bytes. libelf reads each into its own memory.
bool notes_fit(Elf* elf, std::uint64_t allowance) {
  std::size_t notes = 0;
  std::uint64_t bytes = 0;
  const auto add = [&](bool is_note, std::uint64_t size) {
    if (!is_note) return;
    ++notes;
    bytes += std::min(size, allowance);
  };
  std::size_t segments = 0;
  GElf_Phdr segment;
  if (elf_getphdrnum(elf, &segments) != 0) segments = 0;
  for (std::size_t i = 0; i < segments; ++i) {
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) break;
    add(segment.p_type == PT_NOTE, segment.p_filesz);
  }
  GElf_Shdr header;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    if (gelf_getshdr(section, &header) != nullptr) add(header.sh_type == SHT_NOTE, header.sh_size);
  }
  return notes <= kMostNotes && bytes <= allowance;
}

std::string read_build_id(Elf* elf) {
  const void* bytes = nullptr;
  const std::ptrdiff_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  if (size <= 0 || size > kLongestBuildId) return {};
  return hexadecimal({static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)});
}

/// Returns the content of a compressed file of `size` bytes; empty if it is none.
std::string content_of(const FileDescriptor& file, std::uint64_t size, std::uint64_t allowance) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20U;
  std::array<std::byte, 6> begin{};
  if (read_at(file, begin, 0) < begin.size() || !is_compressed(begin)) return {};
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(size, kMostBytes)));
  bytes.resize(read_at(file, bytes, 0));
  return decompressed(bytes, allowance);
}

}  // namespace

ElfFile ElfFile::open(const std::filesystem::path& path, std::optional<std::uint64_t> allowance) {
  ElfFile file;
  file.path_ = path;
  file.descriptor_ = open_regular_file(path);

  const auto refuse = [&path](std::string found, std::string remedy = {}) {
    throw InputError(
        {path.string(), std::nullopt, std::move(found), "an ELF file", std::move(remedy)});
  };
  file.allowance_ = allowance ? *allowance : allowance_for(file.descriptor_);
  const std::uint64_t size = size_of(file.descriptor_);
  if (size > file.allowance_) {
    refuse(fmt::format("a file of {} bytes, most of which are holes", size),
           "cp --sparse=never makes a copy that can be read");
  }

  // libelf stores the version without a lock.
  [[maybe_unused]] static const unsigned version = elf_version(EV_CURRENT);
  // Read, not mapped: if another process truncated a mapped file, this process would be killed.
  file.elf_ = ElfHandle(elf_begin(file.descriptor_.get(), ELF_C_READ, nullptr));
  if (!file.elf_) refuse(std::string("a file that cannot be read as one: ") + elf_errmsg(-1));
  if (elf_kind(file.elf_.get()) != ELF_K_ELF) {
    const std::string content = content_of(file.descriptor_, size, file.allowance_);
    if (content.empty()) refuse("a file of another format");
    ElfFile inside = in_memory(content, file.allowance_);
    inside.path_ = path;
    return inside;
  }
  if (gelf_getehdr(file.elf_.get(), &file.header_) == nullptr) refuse("a damaged ELF header");
  if (!notes_fit(file.elf_.get(), file.allowance_)) refuse("a file with too many notes");

  file.program_headers_ = read_program_headers(file.elf_.get(), file.header_);
  std::ranges::copy_if(file.program_headers_, std::back_inserter(file.segments_),
                       [](const GElf_Phdr& header) { return header.p_type == PT_LOAD; });
  file.build_id_ = read_build_id(file.elf_.get());
  std::size_t names = 0;
  if (elf_getshdrstrndx(file.elf_.get(), &names) == 0) {
    file.section_names_ = string_table(file.elf_.get(), names);
  }
  return file;
}

ElfFile ElfFile::in_memory(std::string_view content, std::uint64_t allowance) {
  const FileDescriptor memory(::memfd_create("elf", MFD_CLOEXEC));
  write_all(memory, content, "memory");
  return open(fmt::format("/proc/self/fd/{}", memory.get()), allowance);
}

std::string_view section_name(std::string_view names, const GElf_Shdr& section) {
  constexpr std::size_t kLongestName = 64;
  if (section.sh_name >= names.size()) return {};
  const std::string_view name = names.substr(section.sh_name, kLongestName);
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
