#include "src/symbols/compressed_file.h"

#include <algorithm>
#include <array>
#include <optional>

#include <lzma.h>
#include <zstd.h>
#include <zstd_errors.h>

namespace skid::symbols {
namespace {

/// Maximum memory of the decompressor in bytes: that of xz -9, 65 MiB, and as much again.
constexpr std::uint64_t kDecompressorBytes = std::uint64_t{128} << 20U;

/// Decompresses into all of `content`. Returns the size of what was written; a value above that of
/// `content` if there is more; nullopt if the file is damaged.
std::optional<std::size_t> read_xz(std::span<const std::byte> file, std::string& content) {
  std::uint64_t memory = kDecompressorBytes;
  std::size_t read = 0, written = 0;
  const lzma_ret result = lzma_stream_buffer_decode(
      &memory, 0, nullptr, reinterpret_cast<const std::uint8_t*>(file.data()), &read, file.size(),
      reinterpret_cast<std::uint8_t*>(content.data()), &written, content.size());
  if (result == LZMA_BUF_ERROR) return content.size() + 1;
  return result == LZMA_OK ? std::optional(written) : std::nullopt;
}

std::optional<std::size_t> read_zstd(std::span<const std::byte> file, std::string& content) {
  const std::size_t result =
      ZSTD_decompress(content.data(), content.size(), file.data(), file.size());
  if (ZSTD_getErrorCode(result) == ZSTD_error_dstSize_tooSmall) return content.size() + 1;
  return ZSTD_isError(result) == 0 ? std::optional(result) : std::nullopt;
}

constexpr std::array<std::uint8_t, 6> kXz{0xfd, '7', 'z', 'X', 'Z', 0};
constexpr std::array<std::uint8_t, 4> kZstd{0x28, 0xb5, 0x2f, 0xfd};

bool begins_with(std::span<const std::byte> file, std::span<const std::uint8_t> magic) {
  return file.size() >= magic.size() &&
         std::ranges::equal(file.first(magic.size()), magic, {}, std::to_integer<std::uint8_t>);
}

}  // namespace

bool is_compressed(std::span<const std::byte> begin) {
  return begins_with(begin, kXz) || begins_with(begin, kZstd);
}

std::string decompressed(std::span<const std::byte> file, std::uint64_t most) {
  if (!is_compressed(file)) return {};
  const bool is_xz = begins_with(file, kXz);
  std::string content;
  for (std::uint64_t size = file.size(); content.size() < most; size *= 4) {
    content.resize(std::min(size, most));
    const auto written = is_xz ? read_xz(file, content) : read_zstd(file, content);
    if (!written) return {};
    if (*written > content.size()) continue;
    content.resize(*written);
    return content;
  }
  return {};
}

}  // namespace skid::symbols
