#include "src/measure/event_warnings.h"

#include "src/events/errata.h"
#include "src/events/kernel_rules.h"
#include "src/perfdata/format.h"

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
  const auto& event = recorded.knowledge.event;
  return event ? event->name : recorded.attribute.name;
}

void warn_of_imprecise(const RecordedEvent& recorded, Warnings& warnings) {
  // On AMD the levels are IBS's, and what it does not do is refused. Arm has none.
  if (level_of(recorded) == 0 || !recorded.knowledge.imprecise() ||
      machine::is_amd(recorded.machine.cpu) || recorded.knowledge.of_arm)
    return;
  if (recorded.knowledge.core->cycles) return;
  warnings.push_back(fmt::format(
      "{} is not precise on this CPU ({}), though level {} was accepted: its records are written "
      "at the next opportunity, at another instruction.",
      name_of(recorded), recorded.knowledge.catalogue, level_of(recorded)));
}

void warn_of_cycles(const RecordedEvent& recorded, Warnings& warnings) {
  if (!recorded.knowledge.core || !recorded.knowledge.core->cycles) return;
  const std::string_view counted =
      events::counted_for_cycles(recorded.machine.cpu, level_of(recorded));
  if (counted.empty()) return;
  warnings.push_back(fmt::format(
      "At level {} the kernel counts {} on this CPU instead of cycles: another event than at level "
      "0, which counts while the core is halted too.",
      level_of(recorded), counted));
}

void warn_of_errata(const RecordedEvent& recorded, Warnings& warnings) {
  const auto& [attribute, pmu_name, knowledge, machine, period, counters] = recorded;
  if (!knowledge.core || knowledge.catalogue.empty()) return;
  for (const events::Erratum& erratum :
       events::errata_of(knowledge.cpu.core, knowledge.core->config)) {
    const bool one_mode = attribute.exclude_user != attribute.exclude_kernel;
    if (erratum.of_one_mode && one_mode) {
      warnings.push_back(
          fmt::format("Erratum {} of {}: {}.", erratum.ids, name_of(recorded), erratum.effect));
    }
    if (erratum.of_smt && machine.smt_active != false) {
      warnings.push_back(fmt::format("Erratum {} of {}: {}{}.", erratum.ids, name_of(recorded),
                                     erratum.effect,
                                     machine.smt_active ? "" : "; whether it was on is not known"));
    }
  }
}

bool is_ibs(const RecordedEvent& recorded) {
  if (recorded.pmu_name == "ibs_op" || recorded.pmu_name == "ibs_fetch") return true;
  return machine::is_amd(recorded.machine.cpu) && recorded.knowledge.core_pmu &&
         level_of(recorded) > 0;
}

void warn_of_period(const RecordedEvent& recorded, Warnings& warnings) {
  if (!recorded.period || (!recorded.knowledge.core && !is_ibs(recorded))) return;
  const auto rule =
      events::period_rule(recorded.machine.cpu,
                          {.config = recorded.knowledge.core ? recorded.knowledge.core->config : 0,
                           .level = level_of(recorded),
                           .ibs = is_ibs(recorded)});
  if (!rule || rule->takes(*recorded.period)) return;
  const std::string multiples =
      rule->multiple_of > 1 ? fmt::format(", multiples of {}", rule->multiple_of) : std::string();
  warnings.push_back(fmt::format(
      "A period of {} was requested, but {} accepts periods from {}{}: the kernel rewrites it, and "
      "counts that are derived from it are off.",
      *recorded.period, rule->who, rule->least, multiples));
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

bool takes_counter(const perfdata::Attribute& attribute, std::string_view pmu_name) {
  if (!is_core_event(attribute, pmu_name)) return false;
  if (attribute.type != perfdata::PERF_TYPE_HARDWARE) return true;
  constexpr std::uint64_t kCycles = 0, kInstructions = 1, kReferenceCycles = 9;
  const std::uint64_t generic = attribute.config & 0xffff'ffff;
  return generic != kCycles && generic != kInstructions && generic != kReferenceCycles;
}

std::vector<std::string> event_warnings(const RecordedEvent& recorded) {
  Warnings warnings;
  warn_of_imprecise(recorded, warnings);
  warn_of_cycles(recorded, warnings);
  warn_of_errata(recorded, warnings);
  warn_of_period(recorded, warnings);
  warn_of_sharing(recorded, warnings);
  return warnings;
}

}  // namespace skid::measure
