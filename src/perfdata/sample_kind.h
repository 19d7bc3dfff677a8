// The mode and exactness of a sample.
#pragma once

#include "src/perfdata/format.h"

#include <cstdint>

#include <linux/perf_event.h>

namespace skid::perfdata {

/// Mode and exactness of a sample in one number, as in the field `misc` of its record.
class SampleKind {
 public:
  /// Bit of exact(): the first above PERF_RECORD_MISC_CPUMODE_MASK (7).
  static constexpr std::uint32_t kExact = 8;

  constexpr SampleKind() noexcept = default;
  constexpr SampleKind(CpuMode mode, bool exact) noexcept
      : bits_(static_cast<std::uint32_t>(mode) | (exact ? kExact : 0)) {}
  /// Returns mode and PERF_RECORD_MISC_EXACT_IP of a record's `misc`.
  static constexpr SampleKind of_misc(std::uint16_t misc) noexcept {
    return {static_cast<CpuMode>(misc & PERF_RECORD_MISC_CPUMODE_MASK),
            (misc & PERF_RECORD_MISC_EXACT_IP) != 0};
  }

  constexpr CpuMode mode() const noexcept { return static_cast<CpuMode>(bits_ & (kExact - 1)); }
  constexpr bool exact() const noexcept { return (bits_ & kExact) != 0; }
  constexpr std::uint32_t bits() const noexcept { return bits_; }

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace skid::perfdata
