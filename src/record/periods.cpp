// The periods of events.

#include "runway/instructions.h"
#include "runway/specification.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/record/choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace skid::record {
namespace {

// Primes, so that no period is a multiple of the loop. A breakpoint hit or a page fault costs
// microseconds whether it is sampled or not, so those events are sampled often.
constexpr std::uint64_t kBuiltInPeriod = 7;
constexpr std::uint64_t kBuiltInPeriodOfSevens = 11;  // where 7 divides the number of triggers
constexpr std::uint64_t kClockPeriod = 99'991;        // nanoseconds
constexpr std::uint64_t kEventPeriod = 10'007;        // of what nothing is known
/// An event that a trigger causes comes once in an iteration, some thousand cycles.
constexpr std::uint64_t kTriggerPeriod = 1'009;
/// Cycles and instructions come some 10^10 times a second; the kernel throttles above 10^5 samples.
constexpr std::uint64_t kBusyPeriod = 400'009;
/// 16 times a prime: IBS, to which AMD's kernels hand precise events, rounds periods down to
/// multiples of 16.
constexpr std::uint64_t kIbsPeriodUnit = 16;
constexpr std::uint64_t kAmdPeriod = kIbsPeriodUnit * 631;
constexpr std::uint64_t kBusyAmdPeriod = kIbsPeriodUnit * 25'013;
/// Operations. The kernel raises it to the least of the CPU, 256 to 4096 (PMSIDR_EL1.Interval in
/// drivers/perf/arm_spe_pmu.c).
constexpr std::uint64_t kSpePeriod = 1024;

std::uint64_t events_of_iteration(const ChosenEvent& chosen,
                                  const runway::Specification& specification) {
  const auto triggers = static_cast<double>(runway::triggers_of(specification));
  const auto events =
      runway::events_per_iteration(specification, chosen.counted).value_or(triggers);
  return static_cast<std::uint64_t>(std::max(1.0, events));
}

}  // namespace

std::uint64_t default_period(const ChosenEvent& chosen, const machine::CpuIdentity& cpu,
                             std::size_t triggers) {
  using events::Counted;
  if (chosen.event.kind == EventKind::clock) return kClockPeriod;
  if (chosen.event.kind != EventKind::other) {
    return triggers % kBuiltInPeriod == 0 ? kBuiltInPeriodOfSevens : kBuiltInPeriod;
  }
  if (is_of_spe(chosen)) return kSpePeriod;
  const bool busy = is_busy(chosen);
  const bool is_unknown_x86 = cpu.vendor.empty() && cpu.arch == "x86_64";
  // AMD's too for an x86 CPU of unknown vendor: others accept any period.
  if (machine::is_amd(cpu) || is_unknown_x86) return busy ? kBusyAmdPeriod : kAmdPeriod;
  if (busy) return kBusyPeriod;
  const bool once = chosen.counted != Counted::other && chosen.counted != Counted::any_instruction;
  std::uint64_t period = once ? kTriggerPeriod : kEventPeriod;
  // With PEBS the period and one: of an even number of triggers either has the factor 2.
  while (triggers % 2 != 0 && std::gcd(period * (period + 1), triggers) > 1) ++period;
  return period;
}

bool resonates(const ChosenEvent& chosen, const runway::Specification& specification) {
  const std::uint64_t count = events_of_iteration(chosen, specification);
  const bool precise = chosen.event.kind == EventKind::other && chosen.levels.back() > 0;
  return std::gcd(chosen.period, count) > 1 || (precise && std::gcd(chosen.period + 1, count) > 1);
}

std::vector<std::uint64_t> periods_of(const ChosenEvent& chosen, const PlanOptions& options,
                                      const runway::Specification& specification) {
  if (!options.vary_period) {
    return std::vector(static_cast<std::size_t>(options.repeat), chosen.period);
  }
  const auto count = static_cast<std::uint64_t>(repeats_of(options));
  const std::uint64_t step = chosen.period % kIbsPeriodUnit == 0 ? kIbsPeriodUnit : 1;
  const std::uint64_t events = events_of_iteration(chosen, specification);
  std::vector<std::uint64_t> periods;
  for (std::uint64_t i = 0; i < count; ++i) {
    // Remainders from 1 on, but for the largest one: with it the period and one resonates.
    const std::uint64_t remainder = events < 3 ? 0 : 1 + i * (events - 2) / count % (events - 2);
    ChosenEvent next = chosen;
    next.period = periods.empty() ? chosen.period : periods.back() + step;
    // Any where the remainder is none of a period that does not resonate.
    constexpr std::uint64_t kMostTried = 10'000;
    for (std::uint64_t tried = 0; tried < kMostTried; ++tried, next.period += step) {
      const bool fits = events < 3 || next.period % events == remainder || tried > 2 * events;
      if (fits && !resonates(next, specification)) break;
    }
    periods.push_back(next.period);
  }
  return periods;
}

}  // namespace skid::record
