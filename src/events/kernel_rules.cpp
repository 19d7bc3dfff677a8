#include "src/events/kernel_rules.h"

#include "src/events/cpu.h"
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

/// Golden Cove and its derivatives in family 6, whose counters for precise distribution have a
/// minimum period: Sapphire and Emerald Rapids, Granite Rapids, Alder, Raptor, Meteor and Arrow
/// Lake.
constexpr std::array<int, 15> kPreciseDistribution{143, 207, 173, 174, 151, 154, 183, 186,
                                                   191, 170, 172, 181, 197, 198, 189};
constexpr std::array<int, 3> kNehalem{26, 30, 46};

template <std::size_t N>
bool is_one_of(const std::array<int, N>& models, const machine::CpuIdentity& cpu) {
  return cpu.vendor == "GenuineIntel" && cpu.family == 6 && cpu.model &&
         std::find(models.begin(), models.end(), *cpu.model) != models.end();
}

}  // namespace

std::string_view counted_for_cycles(const machine::CpuIdentity& cpu, int level) {
  if (level < 1) return {};
  const bool highest = level >= 3;
  switch (core_of(cpu)) {
    case Core::core_2:
    case Core::silvermont:
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
  if (event.ibs) return PeriodRule{.least = 16, .multiple_of = 16, .who = "IBS"};
  // Cycles at level 3 are INST_RETIRED.PREC_DIST, inverted, which the kernel makes of them after it
  // has checked the period.
  const bool alias = event.config == kCycles && event.level >= 3;
  const bool instructions = (event.config & kEventAndUmask) == kInstructions || alias;
  const Core core = core_of(cpu);
  if (instructions && core == Core::broadwell) {
    return PeriodRule{.least = alias ? 1U : 128U,
                      .multiple_of = 64,
                      .who = "INST_RETIRED.PREC_DIST on Broadwell (erratum BDM11)",
                      .rounds = true};
  }
  if (core == Core::haswell) {
    return instructions && !alias
               ? PeriodRule{.least = 128, .who = "INST_RETIRED.PREC_DIST on Haswell (HSW11)"}
               : PeriodRule{.least = 32, .who = "Haswell"};
  }
  if (is_one_of(kNehalem, cpu)) {
    return PeriodRule{.least = 32, .who = "Nehalem"};
  }
  if (event.level >= 3 && is_one_of(kPreciseDistribution, cpu)) {
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
  // In the record by CPU, kernel, or the registers that are asked for.
  constexpr std::uint64_t kTime = PERF_SAMPLE_TIME;
  constexpr std::uint64_t kBranches = PERF_SAMPLE_BRANCH_STACK;
  constexpr std::uint64_t kUnknown = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
                                     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
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
    case Core::icelake:
    case Core::sapphire_rapids:
      // A guest without the baseline has neither time nor branches in the record.
      if (cpu.hypervisor && rest != 0) return std::nullopt;
      break;
    case Core::core_2:
    case Core::bonnell:
    case Core::silvermont:
    case Core::goldmont:
    case Core::knights_landing:
    case Core::other:
      if (!is_one_of(kPreciseDistribution, cpu) || cpu.hypervisor) return std::nullopt;
      break;
  }
  if ((rest & kUnknown) != 0) return std::nullopt;
  return true;
}

}  // namespace skid::events
