#include "src/events/kernel_rules.h"

#include "src/events/cpu.h"
#include "src/events/intel_table.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <array>

namespace skid::events {
namespace {

constexpr std::string_view kStoppedUops = "UOPS_RETIRED.ALL, inverted (cmask 16)";
constexpr std::string_view kStoppedInstructions = "INST_RETIRED.ANY_P, inverted (cmask 16)";
constexpr std::string_view kStoppedPrecDist = "INST_RETIRED.PREC_DIST, inverted (cmask 16)";

/// INST_RETIRED.ALL, INST_RETIRED.PREC_DIST: event and umask.
constexpr std::uint64_t kInstructions = 0x01c0;
constexpr std::uint64_t kEventAndUmask = 0xffff;
constexpr std::uint64_t kCycles = 0x003c;

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

}  // namespace

std::string_view counted_for_cycles(const machine::CpuIdentity& cpu, int level) {
  if (level < 1) return {};
  const bool highest = level >= 3;
  switch (core_of(cpu)) {
    case Core::bonnell:
    case Core::core_2:
    case Core::silvermont:
    case Core::knights_landing:
    case Core::nehalem:
    case Core::westmere:
      return kStoppedInstructions;
    case Core::sandy_bridge:
      return kStoppedUops;
    case Core::ivy_bridge:
    case Core::haswell:
    case Core::broadwell:
      return highest ? kStoppedPrecDist : kStoppedUops;
    case Core::skylake:
    case Core::skylake_server:
      return highest ? kStoppedPrecDist : kStoppedInstructions;
    default:
      return {};
  }
}

std::optional<PeriodRule> period_rule(const machine::CpuIdentity& cpu, const RuledEvent& event) {
  if (event.ibs) return PeriodRule{.least = 144, .multiple_of = 16, .who = "IBS"};
  // Cycles at level 3 are INST_RETIRED.PREC_DIST, inverted. The kernel replaces them after it has
  // checked the period.
  const bool alias = event.config == kCycles && event.level >= 3;
  const bool instructions = (event.config & kEventAndUmask) == kInstructions || alias;
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
  constexpr std::uint64_t kTime = PERF_SAMPLE_TIME;
  constexpr std::uint64_t kBranches = PERF_SAMPLE_BRANCH_STACK;
  constexpr std::uint64_t kUnknown = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
                                     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
  // Fields that the record of a guest without the baseline lacks, as it lacks time and branches.
  constexpr std::uint64_t kWithBaseline =
      PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION;
  const std::uint64_t rest = sample_type & ~kInAnyRecord;
  if ((rest & ~(kTime | kBranches | kUnknown)) != 0) return false;
  switch (core_of(cpu)) {
    case Core::nehalem:
    case Core::westmere:
    case Core::sandy_bridge:
    case Core::ivy_bridge:
    case Core::haswell:
    case Core::broadwell:  // no time in the record
      if ((rest & (kTime | kBranches)) != 0) return false;
      break;
    case Core::skylake:
    case Core::skylake_server:
      if ((rest & kBranches) != 0) return false;
      break;
    case Core::core_2:
    case Core::bonnell:
    case Core::silvermont:
    case Core::goldmont:
    case Core::knights_landing:
    case Core::other:
      if (!is_since_golden_cove(cpu)) return std::nullopt;
      [[fallthrough]];
    case Core::icelake:
    case Core::sapphire_rapids:
      if (cpu.hypervisor && (rest != 0 || (sample_type & kWithBaseline) != 0)) return std::nullopt;
      break;
  }
  if ((rest & kUnknown) != 0) return std::nullopt;
  return true;
}

}  // namespace skid::events
