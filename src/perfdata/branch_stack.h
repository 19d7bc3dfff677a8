// The entries of PERF_SAMPLE_BRANCH_STACK: struct perf_branch_entry of
// include/uapi/linux/perf_event.h.
#pragma once

#include "src/perfdata/bytes.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace skid::perfdata {

/// Bytes of an entry: from, to, and a word of flags.
inline constexpr std::size_t kBranchEntry = 24;

/// A taken branch, or another transfer of control.
struct BranchEntry {
  std::uint64_t from = 0, to = 0;  ///< 0: not recorded
  bool mispredicted = false, predicted = false;
  bool aborted = false;      ///< of a transaction
  unsigned type = 0;         ///< PERF_BR_*; 0: unknown, or not recorded
  unsigned speculation = 0;  ///< PERF_BR_SPEC_*
};

/// perf_branch_entry.type of branches within a mode.
enum BranchType : unsigned {
  PERF_BR_COND = 1,
  PERF_BR_UNCOND = 2,
  PERF_BR_IND = 3,
  PERF_BR_CALL = 4,
  PERF_BR_IND_CALL = 5,
  PERF_BR_RET = 6,
};

/// perf_branch_entry.spec: a branch that was executed speculatively and not retired.
inline constexpr unsigned PERF_BR_SPEC_WRONG_PATH = 1;

/// The entry number `index` of a stack (SampleDetails::branch_stack), which must have it; the
/// newest is number 0.
inline BranchEntry branch_entry(std::span<const std::byte> stack, std::size_t index,
                                ByteOrder order) {
  ByteReader reader(stack.subspan(index * kBranchEntry, kBranchEntry), order);
  BranchEntry entry;
  entry.from = reader.u64();
  entry.to = reader.u64();
  const std::uint64_t word = reader.u64();
  // Bit-fields, which a big-endian compiler allots from the most significant bit down.
  const auto field = [&](unsigned first, unsigned width) {
    const unsigned shift = order == ByteOrder::little ? first : 64 - first - width;
    return static_cast<unsigned>(word >> shift) & ((1u << width) - 1);
  };
  entry.mispredicted = field(0, 1) != 0;
  entry.predicted = field(1, 1) != 0;
  entry.aborted = field(3, 1) != 0;
  entry.type = field(20, 4);
  entry.speculation = field(24, 2);
  return entry;
}

}  // namespace skid::perfdata
