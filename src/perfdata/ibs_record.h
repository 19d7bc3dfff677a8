// The registers of AMD's instruction-based sampling in the raw data of a sample (PERF_SAMPLE_RAW).
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace skid::perfdata {

/// The branch that a tagged operation was, once it retired (IbsOpBrnRet).
struct IbsBranch {
  bool returns = false;                      ///< IbsOpReturn: the operation is of a RET
  bool taken = false;                        ///< IbsOpBrnTaken
  bool mispredicted = false;                 ///< IbsOpBrnMisp
  std::optional<std::uint64_t> target = {};  ///< IbsBrTarget; nullopt: not recorded

  friend bool operator==(const IbsBranch&, const IbsBranch&) = default;
};

/// What the hardware recorded of one tagged operation (ibs_op).
struct IbsRecord {
  /// IbsOpRip, the address of the instruction; nullopt: the hardware reports it as invalid.
  std::optional<std::uint64_t> rip = {};
  bool load = false, store = false;  ///< IbsLdOp, IbsStOp; both: one operation did both
  bool locked = false;               ///< IbsDcLockedOp
  bool prefetch = false;             ///< IbsSwPf: a software prefetch
  bool microcode = false;            ///< IbsOpMicrocode
  unsigned width = 0;                ///< IbsOpMemWidth in bytes of the load or store; 0: not known
  std::optional<std::uint64_t> data_address = {};  ///< IbsDcLinAd, of a load or store
  std::optional<IbsBranch> branch = {};            ///< nullopt: no branch that retired

  friend bool operator==(const IbsRecord&, const IbsRecord&) = default;
};

/// Reads the raw data of a sample of ibs_op, or of an event that the kernel hands to it. nullopt if
/// its size is not that of the registers which its capabilities name, or it has no valid sample.
///
/// perf_ibs_handle_irq() in arch/x86/events/amd/ibs.c writes a u32 of capabilities (CPUID
/// Fn8000_001B EAX) and a u64 for each of IbsOpCtl, IbsOpRip, IbsOpData, IbsOpData2, IbsOpData3,
/// IbsDcLinAd, IbsDcPhysAd, then IbsBrTarget and IbsOpData4 where the CPU and the kernel have
/// them. The bits are those of asm/amd-ibs.h (later asm/amd/ibs.h); perf reads the same in
/// tools/perf/util/amd-sample-raw.c.
std::optional<IbsRecord> parse_ibs_record(std::span<const std::byte> raw, ByteOrder order);

}  // namespace skid::perfdata
