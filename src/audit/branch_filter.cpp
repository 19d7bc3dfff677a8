#include "src/audit/branch_filter.h"

#include "src/perfdata/attribute.h"

#include <linux/perf_event.h>

namespace skid::audit {

BranchFilter branch_filter(const perfdata::Attribute& attribute, std::optional<Arch> arch) {
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
  const bool has_returns = has_all && filter.records_kernel;
  filter.awaits_return = arch && has_all && !filter.records_kernel;
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
