// Which branches an event records, and whether its consecutive records can be compared.
#pragma once

#include "src/support/address.h"
#include "src/support/names.h"

#include <cstdint>
#include <optional>

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::audit {

/// Why consecutive records are not compared.
enum class NoContiguity : std::uint8_t {
  none,        ///< they are compared
  filter,      ///< not all branches were recorded
  call_stack,  ///< calls that returned were removed
  mode,        ///< only user mode was recorded, without returns from the kernel
  machine,     ///< the machine is neither x86-64 nor aarch64, or was not recorded
};
SKID_WORDS(NoContiguity, {"none", ""}, {"filter", "not all branches were recorded"},
           {"call_stack", "calls that returned were removed (call-stack mode)"},
           {"mode", "user mode alone, without the returns from the kernel to it"},
           {"machine", "the machine is neither x86-64 nor aarch64, or unknown"})

/// The branches that an event records.
struct BranchFilter {
  bool records_kernel = false;  ///< whether it records branches that end in the kernel
  /// Whether records from before an exec are gone, or followed by that of the return from it.
  bool forgets_exec = false;
  /// It records all branches of user mode. Returns from the kernel, which begin there, are recorded
  /// too or not, by CPU and kernel: records are comparable from the first one on.
  bool awaits_return = false;
  NoContiguity no_contiguity = NoContiguity::none;
};

/// Returns the filter of an event. `arch`: as recorded.
BranchFilter branch_filter(const perfdata::Attribute& attribute, std::optional<Arch> arch);

}  // namespace skid::audit
