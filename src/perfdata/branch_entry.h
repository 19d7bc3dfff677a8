// The entries of a sample's branch stack (PERF_SAMPLE_BRANCH_STACK).
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"
#include "src/support/byte_reader.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace skid::perfdata {

/// Size of a struct perf_branch_entry (include/uapi/linux/perf_event.h) in bytes: from, to, and a
/// word of flags.
inline constexpr std::size_t kBranchEntry = 24;

/// A taken branch, or another transfer of control.
struct BranchEntry {
  std::uint64_t from = 0, to = 0;  ///< 0: not recorded
  bool mispredicted = false, predicted = false;
  bool in_transaction = false;
  bool aborted = false;      ///< a transaction was aborted
  unsigned cycles = 0;       ///< since the branch before; 0: not recorded
  unsigned type = 0;         ///< PERF_BR_*; 0: unknown, or not recorded
  unsigned speculation = 0;  ///< PERF_BR_SPEC_*
  unsigned new_type = 0;     ///< PERF_BR_NEW_*, if `type` is PERF_BR_EXTEND_ABI
  bool not_taken = false;    ///< a conditional branch that was not taken
};

/// Returns entry number `index` of a stack (SampleDetails::branch_stack), which must have it.
/// Number 0 is the newest entry.
inline BranchEntry branch_entry(std::span<const std::byte> stack, std::size_t index,
                                ByteOrder order) {
  ByteReader reader(stack.subspan(index * kBranchEntry, kBranchEntry), order);
  BranchEntry entry;
  entry.from = reader.u64();
  entry.to = reader.u64();
  const std::uint64_t word = reader.u64();
  entry.mispredicted = bit_field(word, order, 0) != 0;
  entry.predicted = bit_field(word, order, 1) != 0;
  entry.in_transaction = bit_field(word, order, 2) != 0;
  entry.aborted = bit_field(word, order, 3) != 0;
  entry.cycles = bit_field(word, order, 4, 16);
  entry.type = bit_field(word, order, 20, 4);
  entry.speculation = bit_field(word, order, 24, 2);
  entry.new_type = bit_field(word, order, 26, 4);
  entry.not_taken = bit_field(word, order, 33) != 0;
  return entry;
}

}  // namespace skid::perfdata
