// The one bounded reader: every byte of a recording is read through it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace skid::perfdata {

/// Byte order of the machine that recorded. Decided once, when the magic is read.
enum class ByteOrder { little, big };

/// Reads numbers and strings from the front of a span. Reading past the end gives zeros and sets
/// `failed()`, which stays set; so a whole structure can be read and checked once.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, ByteOrder order) noexcept
      : bytes_(bytes), swap_((order == ByteOrder::little) != kHostIsLittle) {}

  std::uint8_t u8() noexcept { return number<std::uint8_t>(); }
  std::uint16_t u16() noexcept { return number<std::uint16_t>(); }
  std::uint32_t u32() noexcept { return number<std::uint32_t>(); }
  std::uint64_t u64() noexcept { return number<std::uint64_t>(); }
  std::int32_t i32() noexcept { return static_cast<std::int32_t>(u32()); }

  /// The next `size` bytes, empty when there are fewer.
  std::span<const std::byte> take(std::uint64_t size) noexcept {
    if (size > bytes_.size()) {
      fail();
      return {};
    }
    const auto taken = bytes_.first(static_cast<std::size_t>(size));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

  void skip(std::uint64_t size) noexcept { (void)take(size); }

  /// Characters up to a NUL within the next `size` bytes, all of which are consumed.
  std::string_view text(std::uint64_t size) noexcept {
    const auto bytes = take(size);
    if (bytes.empty()) return {};
    const auto* characters = reinterpret_cast<const char*>(bytes.data());
    return {characters, ::strnlen(characters, bytes.size())};
  }

  /// Characters up to a NUL, which is consumed with them; fails where none follows.
  std::string_view terminated_text() noexcept {
    const auto* characters = reinterpret_cast<const char*>(bytes_.data());
    const std::size_t size = bytes_.empty() ? 0 : ::strnlen(characters, bytes_.size());
    const auto bytes = take(size + std::uint64_t{1});
    return bytes.empty() ? std::string_view() : std::string_view(characters, size);
  }

  /// Characters up to a NUL in all that remains, which is consumed.
  std::string_view text() noexcept { return text(bytes_.size()); }

  /// A string of a feature section (struct perf_header_string): u32 size, then that many characters
  /// padded with NULs.
  std::string_view counted_text() noexcept { return text(u32()); }

  /// Gives up: what remains contradicts itself.
  void fail() noexcept {
    failed_ = true;
    bytes_ = {};
  }

  std::size_t remaining() const noexcept { return bytes_.size(); }
  bool failed() const noexcept { return failed_; }

 private:
  static constexpr bool kHostIsLittle = std::endian::native == std::endian::little;

  template <typename Number>
  Number number() noexcept {
    if (bytes_.size() < sizeof(Number)) {
      fail();
      return 0;
    }
    Number value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return swap_ ? reversed(value) : value;
  }

  static std::uint8_t reversed(std::uint8_t value) noexcept { return value; }
  static std::uint16_t reversed(std::uint16_t value) noexcept { return __builtin_bswap16(value); }
  static std::uint32_t reversed(std::uint32_t value) noexcept { return __builtin_bswap32(value); }
  static std::uint64_t reversed(std::uint64_t value) noexcept { return __builtin_bswap64(value); }

  std::span<const std::byte> bytes_;
  bool swap_;
  bool failed_ = false;
};

}  // namespace skid::perfdata
