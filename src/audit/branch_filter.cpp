#include "src/audit/branch_filter.h"

#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/machine/zen.h"
#include "src/perfdata/attribute.h"

#include <string>

#include <linux/perf_event.h>

namespace skid::audit {
namespace {

/// Whether the CPU may return to user mode by ERETU (FRED). decode_branch_type() in
/// arch/x86/events/utils.c does not decode this instruction, so that the kernel drops the record
/// where it filters. CPUs before Panther Lake, and AMD's before Zen 6, do not have FRED.
bool may_have_fred(const machine::CpuIdentity& cpu) {
  if (!cpu.family || !cpu.model) return true;
  constexpr int kPantherLake = 0xcc, kEmeraldRapids = 0xcf;
  if (cpu.vendor == "GenuineIntel") {
    return *cpu.family != 6 || (*cpu.model >= kPantherLake && *cpu.model != kEmeraldRapids);
  }
  if (!machine::is_amd(cpu)) return true;
  // A core of family 1Ah that the list of Zens does not have may be newer than Zen 6.
  return *cpu.family > 0x1a || (*cpu.family == 0x1a && machine::zen_generation(cpu) != 5);
}

}  // namespace

BranchFilter branch_filter(const perfdata::Attribute& attribute, const machine::CpuIdentity& cpu,
                           std::optional<Arch> arch) {
  using namespace perfdata;
  constexpr std::uint64_t kModes =
      PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
  constexpr std::uint64_t kOfTransactions =
      PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | PERF_SAMPLE_BRANCH_NO_TX;
  const std::uint64_t type = attribute.branch_sample_type;
  BranchFilter filter;
  // Without a mode in the filter the kernel uses the modes of the event: perf_copy_attr() in
  // kernel/events/core.c.
  filter.records_kernel =
      (type & kModes) == 0 ? !attribute.exclude_kernel : (type & PERF_SAMPLE_BRANCH_KERNEL) != 0;
  const bool is_call_stack = (type & PERF_SAMPLE_BRANCH_CALL_STACK) != 0;
  const bool has_all =
      (type & PERF_SAMPLE_BRANCH_ANY) != 0 && (type & kOfTransactions) == 0 && !is_call_stack;
  // LBR and BRS filter by the mode in which a branch ends. BRBE drops ERET if only user mode is
  // recorded.
  const bool has_returns =
      has_all && (filter.records_kernel || (arch == Arch::x86_64 && !may_have_fred(cpu)));
  // The kernel takes more of these branches during an exec than any CPU keeps.
  constexpr std::uint64_t kFrequent = PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN |
                                      PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL;
  filter.forgets_exec =
      has_returns || (filter.records_kernel && (type & kFrequent) != 0 && !is_call_stack);
  if (!arch) {
    filter.no_contiguity = NoContiguity::machine;
  } else if (is_call_stack) {
    filter.no_contiguity = NoContiguity::call_stack;
  } else if (!has_all) {
    filter.no_contiguity = NoContiguity::filter;
  } else if (!has_returns) {
    filter.no_contiguity = NoContiguity::mode;
  }
  return filter;
}

}  // namespace skid::audit
