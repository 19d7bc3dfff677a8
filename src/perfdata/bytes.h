// The one bounded reader, through which every byte of a recording is read, and the writer of the
// same numbers and texts.
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

inline constexpr ByteOrder kHostOrder =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

inline std::uint8_t reversed(std::uint8_t value) noexcept {
  return value;
}
inline std::uint16_t reversed(std::uint16_t value) noexcept {
  return __builtin_bswap16(value);
}
inline std::uint32_t reversed(std::uint32_t value) noexcept {
  return __builtin_bswap32(value);
}
inline std::uint64_t reversed(std::uint64_t value) noexcept {
  return __builtin_bswap64(value);
}

/// A bit-field of a u64 that was read in the recording's order, by its lowest bit in the order of
/// declaration: a big-endian compiler allots bit-fields from the most significant bit down.
constexpr unsigned bit_field(std::uint64_t word, ByteOrder order, unsigned first,
                             unsigned width = 1) noexcept {
  const unsigned shift = order == ByteOrder::little ? first : 64 - first - width;
  return static_cast<unsigned>(word >> shift) & ((1u << width) - 1);
}

/// Reads numbers and strings from the front of a span. Reading past the end gives zeros and sets
/// `failed()`, which stays set; so a whole structure can be read and checked once.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, ByteOrder order) noexcept
      : bytes_(bytes), swap_(order != kHostOrder) {}

  /// The next number; u8 to i32 name its type.
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

  /// Gives up: the rest contradicts itself.
  void fail() noexcept {
    failed_ = true;
    bytes_ = {};
  }

  std::size_t remaining() const noexcept { return bytes_.size(); }
  bool failed() const noexcept { return failed_; }
  ByteOrder order() const noexcept {
    return swap_ == (kHostOrder == ByteOrder::little) ? ByteOrder::big : ByteOrder::little;
  }

 private:
  std::span<const std::byte> bytes_;
  bool swap_;
  bool failed_ = false;
};

/// Appends numbers and texts as a recording of this byte order has them.
class ByteWriter {
 public:
  explicit ByteWriter(ByteOrder order = ByteOrder::little) : swap_(order != kHostOrder) {}

  template <typename Number>
  ByteWriter& number(Number value) {
    if (swap_) value = reversed(value);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  ByteWriter& u8(std::uint8_t value) { return number(value); }
  ByteWriter& u16(std::uint16_t value) { return number(value); }
  ByteWriter& u32(std::uint32_t value) { return number(value); }
  ByteWriter& i32(std::int32_t value) { return u32(static_cast<std::uint32_t>(value)); }
  ByteWriter& u64(std::uint64_t value) { return number(value); }
  ByteWriter& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  /// NUL-terminated, padded with NULs to a multiple of eight bytes.
  ByteWriter& text(std::string_view text) { return padded(text, 8); }
  /// As perf writes strings in feature sections: u32 size, then the padded characters.
  ByteWriter& counted_text(std::string_view text, std::size_t alignment = kNameAlignment) {
    u32(static_cast<std::uint32_t>((text.size() / alignment + 1) * alignment));
    return padded(text, alignment);
  }
  const std::string& bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  ByteWriter& padded(std::string_view text, std::size_t alignment) {
    bytes_ += text;
    bytes_.append(alignment - text.size() % alignment, '\0');
    return *this;
  }

  static constexpr std::size_t kNameAlignment = 64;  // NAME_ALIGN of perf

  bool swap_;
  std::string bytes_;
};

}  // namespace skid::perfdata
