#include "src/symbols/mini_debug_info.h"

#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/elf_sections.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <libelf.h>
#include <lzma.h>
#include <sys/mman.h>

namespace skid::symbols {
namespace {

/// Maximum memory of the decompressor in bytes: that of xz -9, 65 MiB, and as much again.
constexpr std::uint64_t kDecompressorBytes = std::uint64_t{128} << 20U;

/// Returns the decompressed content of an xz file of at most `most` bytes; empty if it is damaged
/// or larger.
std::string decompressed(const Elf_Data& xz, std::uint64_t most) {
  std::string content;
  for (std::uint64_t size = xz.d_size; content.size() < most; size *= 4) {
    content.resize(std::min(size, most));
    std::uint64_t memory = kDecompressorBytes;
    std::size_t read = 0, written = 0;
    const lzma_ret result = lzma_stream_buffer_decode(
        &memory, 0, nullptr, static_cast<const std::uint8_t*>(xz.d_buf), &read, xz.d_size,
        reinterpret_cast<std::uint8_t*>(content.data()), &written, content.size());
    content.resize(result == LZMA_OK ? written : content.size());
    if (result == LZMA_OK) return content;
    if (result != LZMA_BUF_ERROR) break;  // else the content is larger
  }
  return {};
}

}  // namespace

std::optional<ElfFile> mini_debug_info(const ElfFile& file) {
  const auto section = section_named(file, ".gnu_debugdata");
  const Elf_Data* data = section ? elf_rawdata(section->section, nullptr) : nullptr;
  if (data == nullptr || data->d_buf == nullptr || data->d_size == 0) return std::nullopt;
  const FileDescriptor memory(::memfd_create("gnu_debugdata", MFD_CLOEXEC));
  try {
    write_all(memory, decompressed(*data, file.allowance()), ".gnu_debugdata");
    return ElfFile::open(fmt::format("/proc/self/fd/{}", memory.get()), file.allowance());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace skid::symbols
