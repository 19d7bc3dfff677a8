// The header of a record as one number.
#pragma once

#include "src/perfdata/format.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace skid::perfdata {

/// A number of a little-endian recording, read on a little-endian machine.
template <typename Number>
Number load(const std::byte* at) noexcept {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// struct perf_event_header of a little-endian recording.
struct HeaderWord {
  static constexpr std::size_t kSize = 8;  // bytes
  static constexpr std::uint64_t kMisc = std::uint64_t{0xffff} << 32;

  static HeaderWord at(const std::byte* record) noexcept { return {load<std::uint64_t>(record)}; }

  std::uint32_t type() const noexcept { return static_cast<std::uint32_t>(word); }
  std::uint16_t misc() const noexcept { return static_cast<std::uint16_t>(word >> 32); }
  std::size_t size() const noexcept { return word >> 48; }

  std::uint64_t word = 0;
};

}  // namespace skid::perfdata
