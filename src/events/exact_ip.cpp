#include "src/events/exact_ip.h"

#include "src/events/cpu.h"
#include "src/events/intel_table.h"

namespace skid::events {
namespace {

/// Linux, arch/x86/events/intel/ds.c. A PEBS record of format 0 or 1 contains the address after the
/// instruction; at level 2 intel_pmu_pebs_fixup_ip() goes back with the LBR, and only where that
/// worked setup_pebs_fixed_sample_data() sets the flag. From format 2 (Haswell) on the record
/// contains the eventing IP, and the flag is set for every record of level 2 and above.
/// setup_pebs_adaptive_sample_data() (format 4, Ice Lake) sets it for every record but those of
/// level 1 with the group of general registers.
ExactIp of_intel(const machine::CpuIdentity& cpu) {
  switch (core_of(cpu)) {
    case Core::core_2:
    case Core::nehalem:
    case Core::westmere:
    case Core::sandy_bridge:
    case Core::ivy_bridge:
      return ExactIp::evidence;
    case Core::bonnell:
    case Core::silvermont:
    case Core::goldmont:
    case Core::knights_landing:
      return ExactIp::unknown;
    case Core::haswell:
    case Core::broadwell:
    case Core::skylake:
    case Core::skylake_server:
    case Core::icelake:
    case Core::sapphire_rapids:
      return ExactIp::request;
    case Core::other:
      break;
  }
  // The rest of Intel's table is of Goldmont Plus (format 3) and later.
  return intel_files_of(cpu).empty() ? ExactIp::unknown : ExactIp::request;
}

}  // namespace

ExactIp exact_ip_of(const machine::CpuIdentity& cpu, bool ibs) {
  if (machine::is_amd(cpu)) {
    // arch/x86/events/amd/ibs.c, perf_ibs_handle_irq(): set unless IbsRipInvalid.
    return ibs ? ExactIp::evidence : ExactIp::never;
  }
  // drivers/perf/arm_pmu.c and arch/powerpc/perf/core-book3s.c have no precise samples.
  if (is_arm(cpu) || cpu.arch.starts_with("ppc")) return ExactIp::never;
  return cpu.vendor == "GenuineIntel" ? of_intel(cpu) : ExactIp::unknown;
}

}  // namespace skid::events
