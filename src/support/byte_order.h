// The byte order of numbers in a file.
#pragma once

#include <bit>
#include <cstdint>

namespace skid {

/// Byte order of the numbers in a file: that of the machine which wrote it.
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

}  // namespace skid
