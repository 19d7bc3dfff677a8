#include "src/measure/precision_lost.h"

#include "src/measure/event_description.h"
#include "src/measure/event_identity.h"
#include "src/measure/event_knowledge.h"
#include "src/perftool/event_syntax.h"

#include <cstddef>

#include <fmt/format.h>

namespace skid::measure {
namespace {

bool is_of_cpu(const RecordedPrecision& of) {
  return is_core_event(of.attribute, of.pmu_name) || of.pmu_name.starts_with("ibs_");
}

}  // namespace

std::string precision_lost(const RecordedPrecision& of) {
  const analysis::EventIdentity& event = of.described.event;
  const analysis::PreciseLevel& precise = of.described.precise;
  if (event.substituted) {
    return fmt::format(
        "perf recorded {} instead of {}: this machine does not have the requested "
        "event.{}",
        event.recorded, event.requested.value_or(""),
        is_clock(of.attribute) ? " Its samples are where a timer interrupted." : "");
  }
  if (event.requested && perftool::leaves_level_to_perf(*event.requested)) {
    if (precise.recorded == 0 && is_of_cpu(of)) {
      return fmt::format(
          "{} requests the highest precise level, level 0 was recorded: samples are where the "
          "interrupt arrived.",
          *event.requested);
    }
  } else if (precise.requested && *precise.requested != precise.recorded) {
    return fmt::format("Precise level {} was requested, {} was recorded.", *precise.requested,
                       precise.recorded);
  }
  if (!is_of_cpu(of)) return {};
  return analysis::ignored_level(precise.recorded, of.exact_ip, of.exact, of.samples);
}

std::string why_not_precise(const RecordedPrecision& of) {
  if (std::string lost = precision_lost(of); !lost.empty()) return lost;
  if (is_clock(of.attribute)) return "A timer samples whatever runs.";
  if (of.attribute.precise_ip == 0 && is_core_event(of.attribute, of.pmu_name))
    return "Level 0: arbitrary skid.";
  return {};
}

std::vector<EventPrecision> precision_of(const perfdata::Recording& recording,
                                         const perfdata::RecordCounts& counts) {
  const auto& attributes = recording.attributes();
  const auto machine = recorded_machine(recording.features(), nullptr);
  const auto requested = requested_by_attribute(recording);
  const Source source{recording.path(), {}, nullptr, nullptr};
  RecordedCpu cpu(machine, {}, nullptr);
  std::vector<EventPrecision> all(attributes.size());
  for (std::size_t index = 0; index < attributes.size(); ++index) {
    const perfdata::Attribute& attribute = attributes[index];
    if (attribute.is_dummy()) continue;
    const auto described = describe_measurement(
        source, recording, machine, static_cast<std::uint32_t>(index), requested[index]);
    const auto counted =
        index < counts.events.size() ? counts.events[index] : perfdata::RecordCounts::Event{};
    const std::string pmu = pmu_name(recording.features(), attribute);
    const RecordedPrecision of{
        attribute,       described,       pmu, exact_ip_of(attribute, pmu, machine),
        counted.samples, counted.exact_ip};
    all[index] = {precision_lost(of), why_not_precise(of)};
    // As audit judges it; looked up last, as it takes longest.
    if (all[index].not_precise.empty() && attribute.precise_ip > 0 &&
        cpu.know(attribute, pmu).imprecise()) {
      all[index].not_precise =
          fmt::format("It is {}.", analysis::describe(analysis::NotJudged::imprecise));
    }
  }
  return all;
}

}  // namespace skid::measure
