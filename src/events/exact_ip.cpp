#include "src/events/exact_ip.h"

#include "src/events/cpu.h"

#include <algorithm>
#include <array>

namespace skid::events {
namespace {

/// Models of a family of Intel whose kernel code sets the flag alike.
struct Generation {
  int family;
  int model;
  ExactIp meaning;
};

constexpr auto evidence(int model) {
  return Generation{6, model, ExactIp::evidence};
}
constexpr auto request(int model, int family = 6) {
  return Generation{family, model, ExactIp::request};
}

/// Linux, arch/x86/events/intel/ds.c. A PEBS record of format 0 or 1 contains the address after the
/// instruction; at level 2 intel_pmu_pebs_fixup_ip() goes back with the LBR, and only where that
/// worked setup_pebs_fixed_sample_data() sets the flag. From format 2 on the record contains the
/// eventing IP, and the flag is set for every record of level 2 and above.
/// setup_pebs_adaptive_sample_data() (format 4) sets it for every record but those of level 1 with
/// the group of general registers. Models: Intel's mapfile.csv of perfmon, and
/// arch/x86/include/asm/intel-family.h.
constexpr std::array kIntel{
    // Core 2; Nehalem; Westmere; Sandy Bridge; Ivy Bridge.
    evidence(15), evidence(22), evidence(23), evidence(29), evidence(26), evidence(30),
    evidence(31), evidence(46), evidence(37), evidence(44), evidence(47), evidence(42),
    evidence(45), evidence(58), evidence(62),
    // Fixed records: Haswell; Broadwell; Skylake, Kaby Lake, Coffee Lake, Comet Lake and servers.
    request(60), request(63), request(69), request(70), request(61), request(71), request(79),
    request(86), request(78), request(94), request(85), request(142), request(158), request(165),
    request(166),
    // Adaptive records: Ice Lake, Rocket Lake, Tiger Lake; Alder, Raptor, Meteor, Arrow, Lunar and
    // Panther Lake; Sapphire, Emerald and Granite Rapids; Sierra Forest, Grand Ridge, Clearwater
    // Forest; Nova Lake.
    request(106), request(108), request(125), request(126), request(157), request(167),
    request(140), request(141), request(151), request(154), request(190), request(183),
    request(186), request(191), request(170), request(172), request(181), request(197),
    request(198), request(189), request(204), request(213), request(229), request(143),
    request(207), request(173), request(174), request(175), request(182), request(221),
    request(1, 18), request(3, 18)};

}  // namespace

ExactIp exact_ip_of(const machine::CpuIdentity& cpu, bool ibs) {
  if (machine::is_amd(cpu)) {
    // arch/x86/events/amd/ibs.c, perf_ibs_handle_irq(): set unless IbsRipInvalid.
    return ibs ? ExactIp::evidence : ExactIp::never;
  }
  // drivers/perf/arm_pmu.c and arch/powerpc/perf/core-book3s.c have no precise samples.
  if (is_arm(cpu) || cpu.arch.starts_with("ppc")) return ExactIp::never;
  if (cpu.vendor != "GenuineIntel" || !cpu.family || !cpu.model) return ExactIp::unknown;
  const auto* found = std::find_if(kIntel.begin(), kIntel.end(), [&](const Generation& one) {
    return one.family == *cpu.family && one.model == *cpu.model;
  });
  return found == kIntel.end() ? ExactIp::unknown : found->meaning;
}

}  // namespace skid::events
