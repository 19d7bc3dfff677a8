#include "src/symbols/compressed_file.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <lzma.h>
#define ZLIB_CONST  // zlib.h: input is const
#include <zlib.h>
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

struct InflateEnd {
  void operator()(z_stream* stream) const noexcept { ::inflateEnd(stream); }
};

std::optional<std::size_t> read_gzip(std::span<const std::byte> file, std::string& content) {
  constexpr int kGzip = 15 + 16;  // the largest window, and gzip's header (zlib.h)
  z_stream stream{};
  // zlib's sizes have 32 bits: what is beyond them is missing.
  stream.next_in = reinterpret_cast<const unsigned char*>(file.data());
  stream.avail_in = static_cast<unsigned>(file.size());
  stream.next_out = reinterpret_cast<unsigned char*>(content.data());
  stream.avail_out = static_cast<unsigned>(content.size());
  if (::inflateInit2(&stream, kGzip) != Z_OK) return std::nullopt;
  const std::unique_ptr<z_stream, InflateEnd> end(&stream);
  const int result = ::inflate(&stream, Z_FINISH);
  if (result == Z_BUF_ERROR && stream.avail_out == 0) return content.size() + 1;
  return result == Z_STREAM_END ? std::optional(stream.total_out) : std::nullopt;
}

constexpr std::array<std::uint8_t, 6> kXz{0xfd, '7', 'z', 'X', 'Z', 0};
constexpr std::array<std::uint8_t, 4> kZstd{0x28, 0xb5, 0x2f, 0xfd};
constexpr std::array<std::uint8_t, 3> kGzip{0x1f, 0x8b, 8};  // 8: deflate

struct Format {
  std::span<const std::uint8_t> magic;
  std::optional<std::size_t> (*read)(std::span<const std::byte> file, std::string& content);
};
constexpr std::array kFormats{Format{kXz, read_xz}, Format{kZstd, read_zstd},
                              Format{kGzip, read_gzip}};

const Format* format_of(std::span<const std::byte> file) {
  for (const Format& format : kFormats) {
    const std::size_t size = format.magic.size();
    if (file.size() >= size &&
        std::ranges::equal(file.first(size), format.magic, {}, std::to_integer<std::uint8_t>)) {
      return &format;
    }
  }
  return nullptr;
}

}  // namespace

bool is_compressed(std::span<const std::byte> begin) {
  return format_of(begin) != nullptr;
}

std::string decompressed(std::span<const std::byte> file, std::uint64_t most) {
  const Format* const format = format_of(file);
  if (format == nullptr) return {};
  std::string content;
  for (std::uint64_t size = file.size(); content.size() < most; size *= 4) {
    content.resize(std::min(size, most));
    const auto written = format->read(file, content);
    if (!written) return {};
    if (*written > content.size()) continue;
    content.resize(*written);
    return content;
  }
  return {};
}

}  // namespace skid::symbols
