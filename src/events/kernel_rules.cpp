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
//   One interrupt per PEBS record? intel_pmu_large_pebs_flags()         core, kernel, attribute
//
// Example: cycles:ppp on Skylake is INST_RETIRED.PREC_DIST, inverted with cmask 16, so that the
// samples are of an event that can be precise.
//
// kCoreRules has a row for each Core up to Ice Lake and Tremont; newer ones are alike. The sources
// are arch/x86/events/core.c, arch/x86/events/intel/core.c, arch/x86/events/intel/ds.c,
// arch/x86/events/amd/ibs.c, drivers/perf/arm_pmu.c and arch/powerpc/perf/core-book3s.c of Linux.

#include "src/events/kernel_rules.h"

#include "src/events/counters.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/intel_table.h"
#include "src/events/spelling.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/support/since.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace skid::events {
namespace {

constexpr std::string_view kNoUops = "UOPS_RETIRED.ALL, inverted (cmask 16)";
constexpr std::string_view kNoInstructions = "INST_RETIRED.ANY_P, inverted (cmask 16)";
constexpr std::string_view kNoPrecDist = "INST_RETIRED.PREC_DIST, inverted (cmask 16)";

/// INST_RETIRED.PREC_DIST is INST_RETIRED.ALL on some cores.
constexpr std::uint64_t kCycles = 0x003c, kPrecDist = 0x01c0;
/// UOPS_RETIRED.ANY, the one event of Goldmont without a reduced skid.
constexpr std::uint64_t kUopsRetired = 0x00c2;
constexpr std::uint64_t kEventAndUmask = 0xffff;
constexpr std::uint64_t kTimestamp = PERF_SAMPLE_TIME, kBranchStack = PERF_SAMPLE_BRANCH_STACK;

/// Fields of samples that PEBS records have since a version: general registers and flags with
/// 2fe1bc1f501d, weights by LARGE_PEBS_FLAGS, counters with e02e9b0374c3 in records of format 6.
constexpr Since kRegistersInBatches{4, 16}, kWeightInBatches{6, 0}, kCountersInRecords{6, 15};
/// A number of wakeup_events excludes batches (583feb08e7f7; a watermark does not, since 5.2).
constexpr Since kWakeupsInterrupt{5, 1};
/// PEBS_GP_REGS of arch/x86/events/perf_event.h: AX to FLAGS and R8 to R15.
constexpr std::uint64_t kRecordedRegisters = 0xff'03ff;

/// The core of a CPU, of a hybrid CPU that of its performance cores.
Core first_core_of(const machine::CpuIdentity& cpu) {
  const auto files = intel_files_of(cpu);
  return files.empty() ? core_of(cpu) : core_of(files.front().name);
}

/// What the kernel does at level 3 for the events of a core.
enum class LevelThreeRule : std::uint8_t {
  refused,      ///< the kernel takes no level 3
  as_level_2,   ///< on the counters of level 2
  cycles_only,  ///< cycles alone become another event (INST_RETIRED.PREC_DIST, inverted)
  by_counters   ///< by the counters that the event may be on
};

/// The bit of fixed counter 0 in Counters.
constexpr int kFixedCounter0 = 32;

/// Compares the counters of an event at levels 2 and 3. Fixed counter 0 has precise distribution;
/// of general counters those that the event file lists (Event::pdist). E-cores have a reduced skid
/// on the others that level 3 allows.
LevelThree compare_counters(const Event& event) {
  if (event.precise == false) return LevelThree::same_as_level_2;
  const auto at_2 = counters_of(event.core, event.config, 2);
  const auto at_3 = counters_of(event.core, event.config, 3);
  if (!at_2 || !at_3) return LevelThree::unknown;
  if (*at_3 == 0) return LevelThree::refused;
  if (*at_3 == *at_2) return LevelThree::same_as_level_2;
  const auto is_allowed = [&at_3](int counter) { return (*at_3 >> counter & 1) != 0; };
  if (is_allowed(kFixedCounter0)) return LevelThree::distinct;
  if (event.pdist && std::ranges::any_of(*event.pdist, is_allowed)) return LevelThree::distinct;
  if (event.core >= Core::goldmont_plus) return LevelThree::reduced_skid;
  return event.pdist ? LevelThree::same_as_level_2 : LevelThree::unknown;
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
  LevelThreeRule level_3 = LevelThreeRule::by_counters;
  /// Events counted instead of cycles at levels 1 and 2, and at level 3.
  std::string_view cycles = {}, cycles_at_3 = {};
  /// Fields of a sample that no record has, so that each record gets an interrupt; nullopt: not
  /// known.
  std::optional<std::uint64_t> not_in_record = {};
};

using enum LevelThreeRule;
constexpr auto kCoreRules = std::to_array<CoreRules>({
    {Core::core_2, ExactIp::evidence, refused, kNoInstructions, kNoInstructions},
    {Core::bonnell, ExactIp::unknown, refused, kNoInstructions, kNoInstructions},
    {Core::nehalem, ExactIp::evidence, refused, kNoInstructions, kNoInstructions,
     kTimestamp | kBranchStack},
    {Core::westmere, ExactIp::evidence, refused, kNoInstructions, kNoInstructions,
     kTimestamp | kBranchStack},
    {Core::sandy_bridge, ExactIp::evidence, refused, kNoUops, kNoUops, kTimestamp | kBranchStack},
    {Core::ivy_bridge, ExactIp::evidence, cycles_only, kNoUops, kNoPrecDist,
     kTimestamp | kBranchStack},
    {Core::haswell, ExactIp::request, cycles_only, kNoUops, kNoPrecDist, kTimestamp | kBranchStack},
    {Core::broadwell, ExactIp::request, cycles_only, kNoUops, kNoPrecDist,
     kTimestamp | kBranchStack},
    {Core::skylake, ExactIp::request, cycles_only, kNoInstructions, kNoPrecDist, kBranchStack},
    {Core::skylake_server, ExactIp::request, cycles_only, kNoInstructions, kNoPrecDist,
     kBranchStack},
    {Core::icelake, ExactIp::request, by_counters, {}, {}, 0},
    {Core::silvermont, ExactIp::unknown, refused, kNoInstructions, kNoInstructions},
    {Core::knights_landing, ExactIp::unknown, refused, kNoInstructions, kNoInstructions},
    {Core::goldmont, ExactIp::unknown, as_level_2},
    {Core::goldmont_plus, ExactIp::request},
    {Core::tremont, ExactIp::request},
});

const CoreRules& rules_of(Core core) {
  static constexpr CoreRules kUnknown{Core::other};
  static constexpr CoreRules kSinceGoldenCove{
      Core::golden_cove, ExactIp::request, LevelThreeRule::by_counters, {}, {}, 0};
  if (is_since_golden_cove(core)) return kSinceGoldenCove;
  const CoreRules* found = find_by(kCoreRules, &CoreRules::core, core);
  return found == nullptr ? kUnknown : *found;
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
  return rules_of(first_core_of(cpu)).exact_ip;
}

LevelThree level_3_of(const Event& event) {
  if (event.layout == ConfigLayout::amd) return LevelThree::refused;
  if (event.layout == ConfigLayout::arm) return LevelThree::same_as_level_2;
  switch (rules_of(event.core).level_3) {
    case refused:
      return LevelThree::refused;
    case as_level_2:
      return LevelThree::same_as_level_2;
    case cycles_only:
      return event.config == kCycles ? LevelThree::distinct : LevelThree::same_as_level_2;
    case by_counters:
      return compare_counters(event);
  }
  return LevelThree::unknown;
}

bool has_precise_distribution(const Event& event) {
  if (level_3_of(event) == LevelThree::distinct) return true;
  if (rules_of(event.core).level_3 == cycles_only) {
    return without_modifiers(ConfigLayout::intel, event.config) == kPrecDist;
  }
  return counters_of(event.core, event.config, 2) == Counters{1} << kFixedCounter0;
}

std::optional<std::uint64_t> events_to_record(const Event& event, int level) {
  if (event.layout != ConfigLayout::intel || event.core == Core::other) return std::nullopt;
  if (event.core == Core::goldmont) return event.config == kUopsRetired ? 1 : 0;
  const auto counters = counters_of(event.core, event.config, level);
  if (!counters) {
    return has_precise_distribution(event) ? std::nullopt : std::optional<std::uint64_t>(1);
  }
  // Fixed counter 0 has precise distribution from Golden Cove and Gracemont on (PDISTCounter 32 of
  // INST_RETIRED.PREC_DIST or .ANY), and PDIR on Ice Lake.
  const Counters fixed_0 = Counters{1} << kFixedCounter0;
  Counters precise = is_since_golden_cove(event.core) ? fixed_0 : 0;
  for (const int counter : event.pdist.value_or(std::vector<int>())) {
    precise |= Counters{1} << counter;
  }
  if (*counters != 0 && (*counters & ~precise) == 0) return 0;
  // The counters of level 3 have a reduced skid on E-cores.
  Counters uncertain = fixed_0;
  if (event.core >= Core::goldmont_plus || (event.core != Core::icelake && !event.pdist)) {
    uncertain |= counters_of(event.core, event.config, 3).value_or(0);
  }
  const bool is_next = *counters != 0 && (*counters & (precise | uncertain)) == 0;
  return is_next ? std::optional<std::uint64_t>(1) : std::nullopt;
}

std::string_view counted_for_cycles(const machine::CpuIdentity& cpu, int level) {
  const CoreRules& rules = rules_of(core_of(cpu));
  return level < 1 ? "" : level < 3 ? rules.cycles : rules.cycles_at_3;
}

std::optional<PeriodRule> period_rule(const machine::CpuIdentity& cpu, std::uint64_t code,
                                      int level) {
  // Cycles at level 3 are INST_RETIRED.PREC_DIST, inverted. The kernel replaces them after it has
  // checked the period.
  const bool alias = code == kCycles && level >= 3;
  const bool instructions = (code & kEventAndUmask) == kPrecDist || alias;
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
  if (level >= 3 && is_since_golden_cove(first_core_of(cpu))) {
    return PeriodRule{.least = 128, .who = "precise distribution (level 3)"};
  }
  return std::nullopt;
}

std::optional<bool> batches_pebs_records(const machine::Machine& machine,
                                         const perfdata::Attribute& attribute) {
  using namespace perfdata;  // NOLINT(google-build-using-namespace): constants of the ABI
  if (attribute.aux_output) return std::nullopt;
  if (attribute.frequency || attribute.aux_action) return false;
  // Others than those of kUnknown are always in the record, or never.
  std::uint64_t in_record = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                            PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID |
                            PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER |
                            PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_PERIOD |
                            PERF_SAMPLE_CODE_PAGE_SIZE | kBranchStack;
  std::uint64_t unknown = 0;
  const Since kernel = version_of(machine.kernel);
  const auto add_since = [&](Since since, std::uint64_t fields) {
    if (kernel == Since{}) unknown |= fields;
    if (kernel >= since) in_record |= fields;
  };
  add_since(kWeightInBatches, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
  if ((attribute.sample_regs_intr & ~kRecordedRegisters) == 0) {
    add_since(kRegistersInBatches, PERF_SAMPLE_REGS_INTR);
  }
  if ((attribute.sample_regs_user & ~kRecordedRegisters) == 0 && attribute.exclude_kernel) {
    add_since(kRegistersInBatches, PERF_SAMPLE_REGS_USER);
  }
  const Core core = first_core_of(machine.cpu);
  // Format 6 has counters; which of these cores have it is not known.
  const bool may_have_counters =
      (core >= Core::lion_cove && core <= Core::coyote_cove) || core >= Core::skymont;
  if (may_have_counters && (kernel == Since{} || kernel >= kCountersInRecords)) {
    unknown |= PERF_SAMPLE_READ;
  }
  if (attribute.use_clockid) in_record &= ~kTimestamp;
  if ((attribute.sample_type & ~in_record & ~unknown) != 0) return false;

  const std::optional<std::uint64_t> not_in_record = rules_of(core).not_in_record;
  if (!not_in_record) return std::nullopt;
  if ((attribute.sample_type & *not_in_record) != 0) return false;
  // Fields that the record of a guest without the baseline lacks.
  constexpr std::uint64_t kWithBaseline =
      PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |
      PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR | kBranchStack;
  const bool is_adaptive = *not_in_record == 0;
  if (is_adaptive && machine.cpu.hypervisor) unknown |= kWithBaseline;
  if ((attribute.sample_type & unknown) != 0) return std::nullopt;
  // Stable kernels got 583feb08e7f7 as well.
  if (attribute.wakeup_events > 0) {
    return kernel >= kWakeupsInterrupt ? std::optional(false) : std::nullopt;
  }
  return true;
}

}  // namespace skid::events
