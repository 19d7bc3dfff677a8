// Which branches an event records, and whether its consecutive records can be compared.
#pragma once

#include "src/support/address.h"
#include "src/support/names.h"

#include <cstdint>
#include <optional>

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::audit {

/// Why consecutive records are not compared.
enum class NoContiguity : std::uint8_t {
  none,        ///< they are compared
  filter,      ///< not all branches were recorded
  call_stack,  ///< calls that returned were removed
  mode,        ///< only user mode was recorded, where returns from the kernel may have no record
  machine,     ///< the machine is neither x86-64 nor aarch64, or was not recorded
};
SKID_WORDS(NoContiguity, {"none", ""}, {"filter", "not all branches were recorded"},
           {"call_stack", "calls that returned were removed (call-stack mode)"},
           {"mode", "user mode alone; returns from the kernel may be without a record on this CPU"},
           {"machine", "the machine is neither x86-64 nor aarch64, or unknown"})

/// The branches that an event records.
struct BranchFilter {
  bool records_kernel = false;  ///< whether it records branches that end in the kernel
  /// Whether records from before an exec are gone, or followed by that of the return from it.
  bool forgets_exec = false;
  NoContiguity no_contiguity = NoContiguity::none;
};

/// Returns the filter of an event. `cpu`, `arch`: as recorded.
BranchFilter branch_filter(const perfdata::Attribute& attribute, const machine::CpuIdentity& cpu,
                           std::optional<Arch> arch);

}  // namespace skid::audit
