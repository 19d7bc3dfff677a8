// The writer of numbers and texts in the form of the perf.data format.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace skid::perfdata {

/// Appends numbers and texts in the form that they have in a recording of this byte order.
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
  /// Appends a NUL-terminated text, padded with NULs to a multiple of eight bytes.
  ByteWriter& text(std::string_view text) { return padded(text, 8); }
  /// Appends a string of a feature section, as perf writes it: u32 size, then the padded
  /// characters.
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

  static constexpr std::size_t kNameAlignment = 64;  ///< NAME_ALIGN of perf

  bool swap_;
  std::string bytes_;
};

}  // namespace skid::perfdata
