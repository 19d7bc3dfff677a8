// Raw data of IBS op samples, register by register as perf_ibs_handle_irq() writes it.
#pragma once

#include "src/perfdata/byte_writer.h"

#include <bit>
#include <cstdint>
#include <string>

namespace skid::test {

/// Bits of IbsOpData and IbsOpData3 (arch/x86/include/asm/amd-ibs.h).
namespace ibs {
inline constexpr std::uint64_t kReturn = 1ULL << 34, kTaken = 1ULL << 35,
                               kMispredicted = 1ULL << 36, kBranch = 1ULL << 37,
                               kRipInvalid = 1ULL << 38, kMicrocode = 1ULL << 40;
inline constexpr std::uint64_t kLoad = 1, kStore = 2, kLocked = 1 << 15, kAddressValid = 1 << 17,
                               kPrefetch = 1 << 21;
/// IbsOpMemWidth, of a number of bytes.
constexpr std::uint64_t width(std::uint64_t bytes) {
  return static_cast<std::uint64_t>(std::bit_width(bytes)) << 22;
}
}  // namespace ibs

/// One tagged operation. The default capabilities are those of Zen 3: no IbsOpData4.
struct IbsToBuild {
  std::uint64_t rip = 0;
  std::uint64_t data = 0, data3 = 0;  ///< bits of namespace ibs
  std::uint64_t linear = 0;           ///< IbsDcLinAd
  std::uint64_t target = 0;           ///< IbsBrTarget
  std::uint32_t capabilities = 0x3ff;
  std::uint64_t control = 1 << 18 | 1 << 17 | 0x1000;  ///< IbsOpVal, IbsOpEn, IbsOpMaxCnt

  std::string bytes() const {
    perfdata::ByteWriter raw(perfdata::ByteOrder::little);
    raw.u32(capabilities).u64(control).u64(rip).u64(data).u64(0x61).u64(data3).u64(linear);
    raw.u64(0x7777'7000);  // IbsDcPhysAd
    if ((capabilities & 1 << 5) != 0) raw.u64(target);
    if ((capabilities & 1 << 10) != 0) raw.u64(0x44);  // IbsOpData4
    return raw.bytes();
  }
};

}  // namespace skid::test
