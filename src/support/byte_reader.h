// The bounded reader through which every byte of a recording is read.
#pragma once

#include "src/support/byte_order.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace skid {

/// Reads numbers and strings from the front of a span. Reading past the end gives zeros and sets
/// `failed()`, which stays set, so that a whole structure can be read and then checked once.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, ByteOrder order) noexcept
      : bytes_(bytes), swap_(order != kHostOrder) {}

  /// Returns the next number. u8() to i32() are the same with the type in the name.
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

  /// Returns the next `size` bytes; empty when there are fewer.
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

  /// Returns the characters up to a NUL within the next `size` bytes, all of which are consumed.
  std::string_view text(std::uint64_t size) noexcept {
    const auto bytes = take(size);
    if (bytes.empty()) return {};
    const auto* characters = reinterpret_cast<const char*>(bytes.data());
    return {characters, ::strnlen(characters, bytes.size())};
  }

  /// Returns the characters up to a NUL, which is consumed with them; fails if none follows.
  std::string_view terminated_text() noexcept {
    const auto* characters = reinterpret_cast<const char*>(bytes_.data());
    const std::size_t size = bytes_.empty() ? 0 : ::strnlen(characters, bytes_.size());
    const auto bytes = take(size + std::uint64_t{1});
    return bytes.empty() ? std::string_view() : std::string_view(characters, size);
  }

  /// Returns the characters up to a NUL in all remaining bytes, which are consumed.
  std::string_view text() noexcept { return text(bytes_.size()); }

  /// Returns a string of perf.data's feature sections (struct perf_header_string): u32 size, then
  /// that many characters padded with NULs.
  std::string_view counted_text() noexcept { return text(u32()); }

  /// Fails for good, because the bytes contradict each other.
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

}  // namespace skid
