#include "src/measure/skid_in_events.h"

#include "src/measure/event_identity.h"
#include "src/perfdata/format.h"

#include <fmt/format.h>

namespace skid::measure {
namespace {

using perfdata::Attribute;

/// Of an event that counts in software: the reason is in kernel/events/core.c.
std::string refusal_of_software(const Attribute& attribute) {
  // perf_swevent_hrtimer()
  if (is_clock(attribute))
    return "a timer takes the samples of a clock, whatever its counter is at";
  // perf_swevent_event()
  if (attribute.has(PERF_SAMPLE_PERIOD)) {
    return "where samples contain their period, the kernel takes one of every event";
  }
  return {};
}

/// Of an event of a PMU.
std::string refusal_of_pmu(const RecordedEvent& event) {
  const Attribute& attribute = event.attribute;
  const EventKnowledge& knowledge = event.knowledge;
  const machine::CpuIdentity& cpu = event.machine.cpu;
  if (!knowledge.core_pmu) return "this PMU has no counter that interrupts at each period";
  if (attribute.precise_ip > 0 && !knowledge.of_arm) {
    return "at a precise level the counter is read at the interrupt, not at the record";
  }
  // arch/s390/kernel/perf_cpum_sf.c
  if (cpu.arch.starts_with("s390")) return "the CPU samples at intervals, without a counter";
  // amd_pmu_limit_period() in arch/x86/events/perf_event.h
  if (machine::is_amd(cpu) && attribute.has(PERF_SAMPLE_BRANCH_STACK)) {
    return "the kernel shortens periods for branch stacks (BRS)";
  }
  const auto rule = period_rule_of(event);
  if (!rule || rule->takes(attribute.period_or_frequency)) return {};
  return fmt::format("the kernel rounds this period of {}", rule->who);
}

}  // namespace

std::string no_skid_in_events(const RecordedEvent& event) {
  const Attribute& attribute = event.attribute;
  if (attribute.frequency) return "with a frequency the kernel changes the period";
  if (attribute.inherit) {
    return "counters of several tasks have one id; record without inheritance (perf record -i)";
  }
  const bool has_ids = attribute.has(PERF_SAMPLE_ID) || attribute.has(PERF_SAMPLE_IDENTIFIER) ||
                       (attribute.read_format & PERF_FORMAT_ID) != 0;
  if (!has_ids) return "the samples do not contain the id of their counter";
  if (is_ibs(event)) {
    return "IBS tags operations and randomizes its period";
  }
  return ignores_level(attribute) ? refusal_of_software(attribute) : refusal_of_pmu(event);
}

void OvershootCounter::add(const std::optional<perfdata::CounterValue>& value) {
  if (!value) {
    ++result_.left_out;
    return;
  }
  Counter& counter = counters_[value->id];
  const std::uint64_t multiple = value->value / period_;
  const bool is_next = value->lost >= counter.lost && multiple > counter.multiple &&
                       multiple - counter.multiple - 1 == value->lost - counter.lost;
  const bool is_multiplexed = value->time_enabled != 0 && value->time_running != 0 &&
                              value->time_running != value->time_enabled;
  if (!is_next || is_multiplexed) counter.is_known = false;
  if (!counter.is_known) {
    ++result_.left_out;
    return;
  }
  counter.multiple = multiple;
  counter.lost = value->lost;
  result_.overshoots.add(static_cast<std::int64_t>(value->value % period_), 1);
}

SkidInEventsReader::SkidInEventsReader(const perfdata::Recording& recording,
                                       const std::vector<RecordedEvent>& events,
                                       std::vector<analysis::Basis>& bases)
    : recording_(recording) {
  for (const RecordedEvent& event : events) {
    const Attribute& attribute = event.attribute;
    const std::uint64_t period = attribute.period_or_frequency;
    // Without a period it takes no samples: another event of its group does.
    if (!attribute.has(PERF_SAMPLE_READ) || attribute.is_dummy() || period == 0) continue;
    auto& skid = bases[event.index].skid_in_events.emplace();
    skid.refused = no_skid_in_events(event);
    if (skid.refused.empty()) counters_.emplace(event.index, OvershootCounter(period, skid));
  }
}

void SkidInEventsReader::add(const locate::VisitedRecord& visited) {
  if (visited.sample == nullptr) return;
  const auto counter = counters_.find(visited.sample->attribute);
  if (counter == counters_.end()) return;
  const auto details = recording_.decoder().details(visited.record, *visited.sample);
  counter->second.add(details ? details->counter : std::nullopt);
}

}  // namespace skid::measure
