// What the kernel does with an event that was requested at a precise level. perf_event_attr is the
// same on every CPU, but its meaning is not:
//
//   question                       answered by                          differs by
//   Does EXACT_IP prove a precise  setup_pebs_fixed_sample_data(),      core, IBS, Arm
//   IP, or only state the request? setup_pebs_adaptive_sample_data(),
//                                  perf_ibs_handle_irq()
//   What does level 3 add?         x86_pmu_max_precise(), the cores'    core, event
//                                  get_event_constraints()
//   What is counted for cycles?    intel_pebs_aliases_precdist() and    core, level
//                                  the comments of intel_pmu_init()
//   Which periods are taken?       x86_pmu_hw_config(), perf_ibs_init() core, IBS, event
//   One interrupt per PEBS record? intel_pmu_large_pebs_flags()         core, sample_type
//
// Example: cycles:ppp on Skylake is INST_RETIRED.PREC_DIST, inverted with cmask 16, so that the
// samples are of an event that can be precise.
//
// kCoreRules has a row for each Core; Intel's newer CPUs follow is_since_golden_cove(). The sources
// are arch/x86/events/core.c, arch/x86/events/intel/core.c, arch/x86/events/intel/ds.c,
// arch/x86/events/amd/ibs.c, drivers/perf/arm_pmu.c and arch/powerpc/perf/core-book3s.c of Linux.

#include "src/events/kernel_rules.h"

#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/intel_table.h"
#include "src/events/spelling.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/perfdata/format.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::events {
namespace {

constexpr std::string_view kNoUops = "UOPS_RETIRED.ALL, inverted (cmask 16)";
constexpr std::string_view kNoInstructions = "INST_RETIRED.ANY_P, inverted (cmask 16)";
constexpr std::string_view kNoPrecDist = "INST_RETIRED.PREC_DIST, inverted (cmask 16)";

/// INST_RETIRED.PREC_DIST is INST_RETIRED.ALL on some cores.
constexpr std::uint64_t kCycles = 0x003c, kInstRetired = 0x00c0, kFixedInstRetired = 0x0100,
                        kPrecDist = 0x01c0;
constexpr std::uint64_t kEventAndUmask = 0xffff;
constexpr std::uint64_t kTimestamp = PERF_SAMPLE_TIME, kBranchStack = PERF_SAMPLE_BRANCH_STACK;

/// Whether the kernel treats a CPU like Golden Cove, Gracemont or their successors
/// (intel_pmu_init_glc(), intel_pmu_init_grt()): all CPUs of Intel's table without an entry of
/// their own in Core, except Goldmont Plus and Tremont.
bool is_since_golden_cove(const machine::CpuIdentity& cpu) {
  constexpr std::array<std::string_view, 3> kBefore{"goldmontplus", "elkhartlake", "snowridgex"};
  const Core core = core_of(cpu);
  if (core != Core::other) return core == Core::sapphire_rapids;
  const auto files = intel_files_of(cpu);
  return !files.empty() && std::ranges::find(kBefore, files.front().name) == kBefore.end();
}

LevelThree is_refused(const Event& /*event*/) {
  return LevelThree::refused;
}

LevelThree is_level_2(const Event& /*event*/) {
  return LevelThree::same_as_level_2;
}

LevelThree distinct_if(bool distinct) {
  return distinct ? LevelThree::distinct : LevelThree::same_as_level_2;
}

/// INST_RETIRED.PREC_DIST on counter 1; cycles at level 3 are the same, inverted.
LevelThree by_prec_dist(const Event& event) {
  return distinct_if(without_modifiers(ConfigLayout::intel, event.config) == kPrecDist ||
                     event.config == kCycles);
}

/// Ice Lake counts instructions at level 3 on fixed counter 0, by any of their codes.
LevelThree by_fixed_counter(const Event& event) {
  return distinct_if(event.config == kInstRetired || event.config == kFixedInstRetired ||
                     event.config == kPrecDist);
}

/// Cores whose level 3 is on counter 0, or 0 and 1, with "reduced skid PEBS", by the kernel's
/// glp_get_event_constraints(), tnt_… and cmt_…. Goldmont has that at every level.
bool has_reduced_skid(const Event& event) {
  constexpr std::array<std::string_view, 11> kFiles{
      "goldmontplus", "elkhartlake", "snowridgex",   "gracemont",  "crestmont",       "skymont",
      "darkmont",     "arcticwolf",  "sierraforest", "grandridge", "clearwaterforest"};
  return std::ranges::any_of(kFiles, [&event](std::string_view file) {
    return event.source.find(file) != std::string::npos;
  });
}

/// Golden Cove and later, Goldmont Plus and later.
LevelThree by_pdist(const Event& event) {
  if (event.precise == false) return LevelThree::same_as_level_2;
  const bool goldmont_plus = event.source.find("goldmontplus") != std::string::npos;
  if (event.config == kInstRetired && !goldmont_plus) return LevelThree::distinct;
  const bool distinct = event.pdist && !event.pdist->empty();
  if (has_reduced_skid(event)) return distinct ? LevelThree::distinct : LevelThree::reduced_skid;
  // glc_get_event_constraints(): code 0x00c0 alone is on fixed counter 0, and 0x0100 on no other.
  if (event.config == kFixedInstRetired) return LevelThree::refused;
  if (!event.pdist) return LevelThree::unknown;
  return distinct_if(distinct);
}

/// What Linux and a core's PEBS records do.
struct CoreRules {
  Core core;
  /// Linux, arch/x86/events/intel/ds.c. A PEBS record of format 0 or 1 contains the address after
  /// the instruction; at level 2 intel_pmu_pebs_fixup_ip() goes back with the LBR, and only where
  /// that worked setup_pebs_fixed_sample_data() sets the flag. From format 2 (Haswell) on the
  /// record contains the eventing IP, and the flag is set for every record of level 2 and above.
  /// setup_pebs_adaptive_sample_data() (format 4, Ice Lake) sets it for every record but those of
  /// level 1 with the group of general registers.
  ExactIp exact_ip = ExactIp::unknown;
  LevelThree (*level_3)(const Event& event) = by_pdist;
  /// Events counted instead of cycles at levels 1 and 2, and at level 3.
  std::string_view cycles = {}, cycles_at_3 = {};
  /// Fields of a sample that no record has, so that each record gets an interrupt; nullopt: not
  /// known.
  std::optional<std::uint64_t> not_in_record = {};
};

constexpr std::array<CoreRules, 16> kCoreRules{{
    {Core::other},
    {Core::core_2, ExactIp::evidence, is_refused, kNoInstructions, kNoInstructions},
    {Core::bonnell, ExactIp::unknown, is_refused, kNoInstructions, kNoInstructions},
    {Core::nehalem, ExactIp::evidence, is_refused, kNoInstructions, kNoInstructions,
     kTimestamp | kBranchStack},
    {Core::westmere, ExactIp::evidence, is_refused, kNoInstructions, kNoInstructions,
     kTimestamp | kBranchStack},
    {Core::sandy_bridge, ExactIp::evidence, is_refused, kNoUops, kNoUops,
     kTimestamp | kBranchStack},
    {Core::ivy_bridge, ExactIp::evidence, by_prec_dist, kNoUops, kNoPrecDist,
     kTimestamp | kBranchStack},
    {Core::haswell, ExactIp::request, by_prec_dist, kNoUops, kNoPrecDist,
     kTimestamp | kBranchStack},
    {Core::broadwell, ExactIp::request, by_prec_dist, kNoUops, kNoPrecDist,
     kTimestamp | kBranchStack},
    {Core::skylake, ExactIp::request, by_prec_dist, kNoInstructions, kNoPrecDist, kBranchStack},
    {Core::skylake_server, ExactIp::request, by_prec_dist, kNoInstructions, kNoPrecDist,
     kBranchStack},
    {Core::icelake, ExactIp::request, by_fixed_counter, {}, {}, 0},
    {Core::sapphire_rapids, ExactIp::request, by_pdist, {}, {}, 0},
    {Core::silvermont, ExactIp::unknown, is_refused, kNoInstructions, kNoInstructions},
    {Core::goldmont, ExactIp::unknown, is_level_2},
    {Core::knights_landing, ExactIp::unknown, is_refused, kNoInstructions, kNoInstructions},
}};

const CoreRules& rules_of(Core core) {
  return *find_by(kCoreRules, &CoreRules::core, core);
}

}  // namespace

ExactIp exact_ip_of(const machine::CpuIdentity& cpu, bool ibs) {
  if (machine::is_amd(cpu)) {
    // arch/x86/events/amd/ibs.c, perf_ibs_handle_irq(): set unless IbsRipInvalid.
    return ibs ? ExactIp::evidence : ExactIp::never;
  }
  // drivers/perf/arm_pmu.c and arch/powerpc/perf/core-book3s.c have no precise samples.
  if (is_arm(cpu) || cpu.arch.starts_with("ppc")) return ExactIp::never;
  if (cpu.vendor != "GenuineIntel") return ExactIp::unknown;
  const Core core = core_of(cpu);
  // The rest of Intel's table is of Goldmont Plus (format 3) and later.
  if (core == Core::other && !intel_files_of(cpu).empty()) return ExactIp::request;
  return rules_of(core).exact_ip;
}

LevelThree level_3_of(const Cpu& cpu, const Event& event) {
  if (cpu.layout == ConfigLayout::amd) return LevelThree::refused;
  if (cpu.layout == ConfigLayout::arm) return LevelThree::same_as_level_2;
  return rules_of(cpu.core).level_3(event);
}

std::string_view counted_for_cycles(const machine::CpuIdentity& cpu, int level) {
  const CoreRules& rules = rules_of(core_of(cpu));
  return level < 1 ? "" : level < 3 ? rules.cycles : rules.cycles_at_3;
}

std::optional<PeriodRule> period_rule(const machine::CpuIdentity& cpu, const RuledEvent& event) {
  if (event.ibs) return PeriodRule{.least = 144, .multiple_of = 16, .who = "IBS"};
  // Cycles at level 3 are INST_RETIRED.PREC_DIST, inverted. The kernel replaces them after it has
  // checked the period.
  const bool alias = event.config == kCycles && event.level >= 3;
  const bool instructions = (event.config & kEventAndUmask) == kPrecDist || alias;
  const Core core = core_of(cpu);
  if (instructions && core == Core::broadwell) {
    return PeriodRule{.least = alias ? 1U : 128U,
                      .multiple_of = 64,
                      .who = "INST_RETIRED.PREC_DIST on Broadwell (erratum BDM11)"};
  }
  if (core == Core::haswell) {
    return instructions && !alias
               ? PeriodRule{.least = 128, .who = "INST_RETIRED.PREC_DIST on Haswell (HSW11)"}
               : PeriodRule{.least = 32, .who = "Haswell"};
  }
  if (core == Core::nehalem) return PeriodRule{.least = 32, .who = "Nehalem"};
  if (event.level >= 3 && is_since_golden_cove(cpu)) {
    return PeriodRule{.least = 128, .who = "precise distribution (level 3)"};
  }
  return std::nullopt;
}

std::optional<bool> batches_pebs_records(const machine::CpuIdentity& cpu, bool frequency,
                                         std::uint64_t sample_type) {
  using namespace perfdata;  // NOLINT(google-build-using-namespace): constants of the ABI
  if (frequency) return false;
  constexpr std::uint64_t kInAnyRecord = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR |
                                         PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID |
                                         PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER |
                                         PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |
                                         PERF_SAMPLE_PERIOD | PERF_SAMPLE_CODE_PAGE_SIZE;
  // Fields that the record has, depending on CPU, kernel, or the requested registers.
  constexpr std::uint64_t kUnknown = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
                                     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
  // Fields that the record of a guest without the baseline lacks, as it lacks time and branches.
  constexpr std::uint64_t kWithBaseline =
      PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION;
  const std::uint64_t rest = sample_type & ~kInAnyRecord;
  if ((rest & ~(kTimestamp | kBranchStack | kUnknown)) != 0) return false;
  std::optional<std::uint64_t> not_in_record = rules_of(core_of(cpu)).not_in_record;
  if (!not_in_record && is_since_golden_cove(cpu)) not_in_record = 0;
  if (!not_in_record) return std::nullopt;
  if ((rest & *not_in_record) != 0) return false;
  const bool is_adaptive = *not_in_record == 0;
  if (is_adaptive && cpu.hypervisor && (rest != 0 || (sample_type & kWithBaseline) != 0)) {
    return std::nullopt;
  }
  if ((rest & kUnknown) != 0) return std::nullopt;
  return true;
}

}  // namespace skid::events
