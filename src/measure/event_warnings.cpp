#include "src/measure/event_warnings.h"

#include "analysis/event_identity.h"
#include "src/events/errata.h"
#include "src/events/event.h"
#include "src/events/kernel_rules.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace skid::measure {

namespace {

using Warnings = std::vector<std::string>;

/// Core PMUs have 3 to 8 counters for any event; Intel's with SMT on have 4.
constexpr std::size_t kCounters = 4;

int level_of(const RecordedEvent& recorded) {
  return static_cast<int>(recorded.attribute.precise_ip);
}

std::string name_of(const RecordedEvent& recorded) {
  const auto& event = recorded.entry;
  return event ? event->name : recorded.attribute.name;
}

void warn_of_imprecise(const RecordedEvent& recorded, Warnings& warnings) {
  // On AMD the levels are IBS's, and what it does not do is refused. Arm has none.
  if (level_of(recorded) == 0 || !recorded.imprecise() || machine::is_amd(recorded.machine.cpu) ||
      is_of_arm(recorded))
    return;
  if (counts_cycles(recorded)) return;
  warnings.push_back(
      fmt::format("{} is not precise on this CPU ({}), though level {} was accepted: its records "
                  "are written at the next opportunity, at another instruction.",
                  name_of(recorded), recorded.catalogue, level_of(recorded)));
}

void warn_of_cycles(const RecordedEvent& recorded, Warnings& warnings) {
  if (!counts_cycles(recorded)) return;
  const std::string_view counted =
      events::counted_for_cycles(recorded.machine.cpu, level_of(recorded));
  if (counted.empty()) return;
  warnings.push_back(
      fmt::format("At level {} the kernel counts {} on this CPU instead of cycles: another event "
                  "than at level 0, which counts while the core is halted too.",
                  level_of(recorded), counted));
}

void warn_of_errata(const RecordedEvent& recorded, Warnings& warnings) {
  if (!recorded.entry) return;
  const bool one_mode = recorded.attribute.exclude_user != recorded.attribute.exclude_kernel;
  const std::optional<bool> smt_active = recorded.machine.smt_active;
  for (const events::Erratum& erratum : events::errata_of(*recorded.entry)) {
    if (erratum.of_one_mode && one_mode) {
      warnings.push_back(
          fmt::format("Erratum {} of {}: {}.", erratum.ids, name_of(recorded), erratum.effect));
    }
    if (erratum.of_smt && smt_active != false) {
      warnings.push_back(fmt::format("Erratum {} of {}: {}{}.", erratum.ids, name_of(recorded),
                                     erratum.effect,
                                     smt_active ? "" : "; whether it was on is not known"));
    }
  }
}

void warn_of_period(const RecordedEvent& recorded, Warnings& warnings) {
  if (!recorded.period) return;
  const auto rule = period_rule_of(recorded);
  if (!rule || rule->takes(*recorded.period)) return;
  if (!rule->refuses(*recorded.period)) {
    warnings.push_back(
        fmt::format("A period of {} was requested, and the kernel silently rounds periods of {} to "
                    "multiples of {}: counts that are derived from it are off.",
                    *recorded.period, rule->who, rule->multiple_of));
    return;
  }
  const std::string multiples =
      rule->multiple_of > 1 ? fmt::format(", multiples of {}", rule->multiple_of) : std::string();
  warnings.push_back(fmt::format(
      "A period of {} was recorded, which kernels that check it refuse: {} takes periods from "
      "{}{}. This kernel does not check it, and the hardware's own period may differ.",
      *recorded.period, rule->who, rule->least, multiples));
}

void warn_of_counting(const RecordedEvent& recorded, Warnings& warnings) {
  if (!recorded.attribute.is_only_counted()) return;
  warnings.push_back(
      fmt::format("{} was not sampled: it was counted at the samples of its group (:S). 'skidscan "
                  "samples' prints the counts as perf script does.",
                  recorded.identity.label));
}

void warn_of_sharing(const RecordedEvent& recorded, Warnings& warnings) {
  if (recorded.counters <= kCounters || !takes_counter(recorded.attribute, recorded.pmu_name)) {
    return;
  }
  warnings.push_back(fmt::format(
      "{} events of the CPU were recorded at once, and many CPUs have {} counters for them: events "
      "may have taken turns (multiplexing), so that each was counted for a part of the time only.",
      recorded.counters, kCounters));
}

}  // namespace

std::vector<std::string> event_warnings(const RecordedEvent& recorded) {
  Warnings warnings;
  warn_of_counting(recorded, warnings);
  warn_of_imprecise(recorded, warnings);
  warn_of_cycles(recorded, warnings);
  warn_of_errata(recorded, warnings);
  warn_of_period(recorded, warnings);
  warn_of_sharing(recorded, warnings);
  return warnings;
}

}  // namespace skid::measure
