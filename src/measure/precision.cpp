#include "src/measure/precision.h"

#include "analysis/event_identity.h"
#include "analysis/figures.h"
#include "analysis/not_judged.h"
#include "analysis/wording.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/event_name.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace skid::measure {

namespace {

bool is_of_cpu(const RecordedEvent& event) {
  return is_core_event(event) || event.pmu_name.starts_with("ibs_");
}

}  // namespace

std::string not_as_requested(const RecordedEvent& event) {
  const auto& requested = event.identity.requested;
  const analysis::PreciseLevel& precise = event.precise;
  if (event.identity.substituted) {
    return fmt::format(
        "perf recorded {} instead of {}: this machine does not have the requested event.{}",
        event.identity.recorded, requested.value_or(""),
        is_clock(event.attribute) ? " Its samples are where a timer interrupted." : "");
  }
  if (requested && perftool::leaves_level_to_perf(*requested)) {
    if (precise.recorded == 0 && is_of_cpu(event)) {
      return fmt::format(
          "{} requests the highest precise level, level 0 was recorded: samples are where the "
          "interrupt arrived.",
          *requested);
    }
  } else if (precise.requested && *precise.requested != precise.recorded) {
    return fmt::format("Precise level {} was requested, {} was recorded.", *precise.requested,
                       precise.recorded);
  }
  return {};
}

std::string precision_lost(const RecordedEvent& event) {
  if (std::string lost = not_as_requested(event); !lost.empty()) return lost;
  if (!is_of_cpu(event)) return {};
  if (is_ibs(event) && event.exact < event.samples) {
    const std::string late =
        event.exact == 0 ? "All" : analysis::in_thousands(event.samples - event.exact) + " of";
    return fmt::format(
        "{} {} have no EXACT_IP: IBS reported their address as invalid, and they have that of the "
        "interrupt.",
        late, analysis::counted(event.samples, "sample"));
  }
  return analysis::ignored_level(event.precise.recorded, event.exact_ip, event.exact,
                                 event.samples);
}

std::string why_not_precise(const RecordedEvent& event) {
  // Of IBS a few samples are late on sound CPUs, too.
  const bool some_are_late = is_ibs(event) && event.exact > 0;
  std::string lost = some_are_late ? not_as_requested(event) : precision_lost(event);
  if (!lost.empty()) return lost;
  if (is_clock(event.attribute)) return "A timer samples whatever runs.";
  if (event.attribute.precise_ip == 0 && is_core_event(event)) return "Level 0: arbitrary skid.";
  return {};
}

std::vector<EventPrecision> precision_of(const perfdata::Recording& recording,
                                         const perfdata::RecordCounts& counts) {
  const Source source{recording.path(), {}, nullptr, nullptr};
  RecordedCpu cpu(recorded_machine(recording.features(), nullptr));
  std::vector<EventPrecision> all;
  for (RecordedEvent& event : describe_events(source, recording, cpu.machine())) {
    EventPrecision& precision = all.emplace_back();
    if (event.attribute.is_dummy()) continue;
    event.samples = counts.events[event.index].samples;
    event.exact = counts.events[event.index].exact_ip;
    precision = {precision_lost(event), why_not_precise(event)};
    if (!precision.not_precise.empty() || event.attribute.precise_ip == 0) continue;
    cpu.look_up(event);  // as audit judges it; last, as it takes longest
    if (event.imprecise()) {
      precision.not_precise =
          fmt::format("It is {}.", analysis::describe(analysis::NotJudged::imprecise));
    }
  }
  return all;
}

}  // namespace skid::measure
