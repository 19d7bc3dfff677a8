// How the samples of a place with several candidates are split between them.
#pragma once

#include "src/machine/machine.h"
#include "src/perfdata/recording.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skid::correct {

/// Parts of `samples` in proportion to `weights` (none negative, not all 0), by largest remainder:
/// they add up to `samples`.
std::vector<std::uint64_t> apportion(std::uint64_t samples, std::span<const double> weights);

/// How often the ways to an instruction were taken.
struct WayCounts {
  std::vector<std::uint64_t> from;  ///< by the instruction that led there, as in Ways::from
  std::uint64_t elsewhere = 0;      ///< from all others
};

/// The ways to an instruction at which an event was sampled, in bytes of its file.
struct Ways {
  std::uint32_t attribute = 0;  ///< of the event
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;  ///< of the instruction
  /// Of the last instructions before it, each once; it follows the one at `falls_from`, if any,
  /// without a jump.
  std::vector<std::uint64_t> from;
  std::size_t falls_from = SIZE_MAX;  ///< index in `from`
};

/// Counts the ways in branch records (PERF_SAMPLE_BRANCH_STACK, newest branch first): a branch from
/// `from` to the instruction, or a run without branches, from the target of one to the next,
/// through the instruction.
///
/// The newest record of a sample shows the way that this very sample took, as the kernel assumes
/// where it rewinds PEBS samples (intel_pmu_pebs_fixup_ip() in arch/x86/events/intel/ds.c). These
/// ways are counted where the event's records are in step with its samples: the records of
/// adaptive PEBS are, those that the interrupt handler reads can be newer than the sample. They
/// are taken to be in step if at most 1% of the samples precede the target of their newest record.
/// Otherwise, and where no sample of the event has records, the ways in all records of the
/// recording are counted. Events that did not record all branches (`-j any_call`, `--call-graph
/// lbr`), records that were not retired, and what kernel mode interrupted are left out, by the
/// rules of audits (audit::branch_filter(), audit::is_run()). By `ways`; empty if no event has
/// branch records that count. `recording`: after digest(), which gave `spaces`. `cpu`: of x86-64,
/// that it was recorded on.
std::vector<WayCounts> count_ways(perfdata::Recording& recording,
                                  const symbols::AddressSpaces& spaces,
                                  const std::vector<Ways>& ways, const machine::CpuIdentity& cpu);

}  // namespace skid::correct
