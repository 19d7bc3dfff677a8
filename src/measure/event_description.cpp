#include "src/measure/event_description.h"

#include "analysis/event_identity.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/kernel_rules.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/measure/recorded_event.h"
#include "src/measure/requested_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/generic_event.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/event_name.h"
#include "src/run/run.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::measure {

namespace {

using perfdata::Attribute;

std::vector<std::string> excluded_modes(const Attribute& attribute) {
  std::vector<std::string> modes;
  if (attribute.exclude_user) modes.emplace_back("user");
  if (attribute.exclude_kernel) modes.emplace_back("kernel");
  if (attribute.exclude_hypervisor) modes.emplace_back("hypervisor");
  if (attribute.exclude_host) modes.emplace_back("host");
  if (attribute.exclude_guest) modes.emplace_back("guest");
  return modes;
}

analysis::EventIdentity identity_of(const Attribute& attribute,
                                    const run::PlannedMeasurement* planned,
                                    const std::optional<std::string>& requested,
                                    events::ConfigLayout layout, std::string_view pmu_name) {
  analysis::EventIdentity event;
  event.recorded = attribute.name;
  event.type = attribute.type;
  event.config = attribute.config;
  event.config1 = attribute.config1;
  event.config2 = attribute.config2;
  event.breakpoint_type = attribute.bp_type;
  event.excluded = excluded_modes(attribute);
  if (planned != nullptr) {
    event.requested = planned->requested;
    event.label = planned->event;
    event.substituted = is_substituted(planned->perf_event, attribute, layout);
  } else {
    event.requested = requested;
    event.label = perftool::split_event_name(requested.value_or(attribute.name)).name;
    event.substituted = requested && is_substituted(*requested, attribute, layout);
  }
  // perf 7 records some generic events as raw codes: with any version they are the same event.
  const auto* generic = perfdata::find_generic_event(perftool::split_event_name(event.label).name);
  if (generic != nullptr && generic->type != attribute.type && !event.substituted &&
      (planned != nullptr || requested)) {
    event.type = generic->type;
    event.config = generic->config;
  }
  // perf records an event of a hybrid CPU once for each core type.
  if (planned == nullptr && pmu_name.starts_with("cpu_") &&
      event.label.find('/') == std::string::npos) {
    event.label = fmt::format("{}/{}/", pmu_name, event.label);
  }
  return event;
}

analysis::PreciseLevel precise_of(const Attribute& attribute,
                                  const run::PlannedMeasurement* planned,
                                  const analysis::EventIdentity& identity) {
  analysis::PreciseLevel precise;
  precise.recorded = static_cast<int>(attribute.precise_ip);
  const auto& requested = identity.requested;
  // Otherwise perf chose the level itself, by trying.
  if (requested && !perftool::leaves_level_to_perf(*requested)) {
    precise.requested =
        planned != nullptr
            ? planned->level
            : perftool::level_of_modifiers(perftool::split_event_name(*requested).modifiers);
  }
  return precise;
}

ExactIp exact_ip_of(const RecordedEvent& event) {
  if (ignores_level(event.attribute)) return ExactIp::never;
  const bool ibs = is_ibs(event);
  const bool known = ibs || is_core_event(event);
  return known ? events::exact_ip_of(event.machine.cpu, ibs) : ExactIp::unknown;
}

}  // namespace

std::string pmu_name(const perfdata::Features& features, const Attribute& attribute) {
  constexpr unsigned kPmuShift = 32;
  const std::uint64_t of_generic =
      attribute.type == PERF_TYPE_HARDWARE || attribute.type == PERF_TYPE_HW_CACHE
          ? attribute.config >> kPmuShift
          : 0;
  const std::uint64_t type = of_generic != 0 ? of_generic : attribute.type;
  for (const auto& [number, name] : features.pmu_mappings) {
    if (number == type) return name;
  }
  return {};
}

bool is_cross_check(const perfdata::Attribute& attribute, const Source& source) {
  return source.planned != nullptr && !source.planned->cross_check.empty() &&
         attribute.type == PERF_TYPE_TRACEPOINT;
}

bool takes_counter(const perfdata::Attribute& attribute, std::string_view pmu_name) {
  if (!is_core_event(attribute, pmu_name)) return false;
  if (attribute.type != PERF_TYPE_HARDWARE) return true;
  const std::uint64_t generic = generic_config(attribute);
  return generic != PERF_COUNT_HW_CPU_CYCLES && generic != PERF_COUNT_HW_INSTRUCTIONS &&
         generic != PERF_COUNT_HW_REF_CPU_CYCLES;
}

bool is_synthetic(const Source& source, const perfdata::Features& features) {
  return perfdata::is_synthetic(features) || (source.run != nullptr && source.run->synthetic);
}

std::vector<RecordedEvent> describe_events(const Source& source,
                                           const perfdata::Recording& recording,
                                           const machine::Machine& machine) {
  const auto requested = requested_by_attribute(recording);
  std::vector<RecordedEvent> events;
  events.reserve(requested.size());
  for (std::uint32_t index = 0; index < requested.size(); ++index) {
    const Attribute& attribute = recording.attributes()[index];
    RecordedEvent& event =
        events.emplace_back(RecordedEvent{.index = index,
                                          .attribute = attribute,
                                          .pmu_name = pmu_name(recording.features(), attribute),
                                          .machine = machine,
                                          .of_run = source.run != nullptr,
                                          .synthetic = is_synthetic(source, recording.features())});
    event.identity = identity_of(attribute, source.planned, requested[index],
                                 events::layout_of(machine.cpu), event.pmu_name);
    event.precise = precise_of(attribute, source.planned, event.identity);
    event.exact_ip = exact_ip_of(event);
    if (attribute.frequency) continue;
    event.period =
        source.planned != nullptr ? source.planned->period : attribute.period_or_frequency;
  }
  return events;
}

bool is_pebs(const RecordedEvent& event) {
  return is_core_event(event) && event.attribute.precise_ip > 0 &&
         event.machine.cpu.vendor == "GenuineIntel";
}

bool is_ibs(const RecordedEvent& event) {
  if (event.pmu_name == "ibs_op" || event.pmu_name == "ibs_fetch") return true;
  return machine::is_amd(event.machine.cpu) && event.attribute.precise_ip > 0 &&
         is_core_event(event);
}

bool is_spe(const RecordedEvent& event) {
  return event.pmu_name.starts_with("arm_spe");
}

std::string request_at(const RecordedEvent& event, int level) {
  const Attribute& attribute = event.attribute;
  const bool is_raw = attribute.type == PERF_TYPE_RAW;
  std::string name = event.identity.label;
  if (is_raw && attribute.config1 == 0 && attribute.config2 == 0) {
    name = fmt::format("r{:04x}", attribute.config);
  } else if (!event.identity.requested && (is_raw || attribute.type > PERF_TYPE_BREAKPOINT)) {
    // The recorded name may be the user's own.
    if (event.pmu_name.empty()) return {};
    name = fmt::format("{}/config={:#x}", event.pmu_name, attribute.config);
    if (attribute.config1 != 0) name += fmt::format(",config1={:#x}", attribute.config1);
    if (attribute.config2 != 0) name += fmt::format(",config2={:#x}", attribute.config2);
    name += '/';
  }
  const std::string modes = attribute.exclude_kernel ? "u" : attribute.exclude_user ? "k" : "";
  return perftool::event_at_level(name, modes, level);
}

std::string precise_request(const RecordedEvent& event) {
  const bool is_precise = event.entry && event.entry->precise == true;
  if (event.catalogue.empty() || is_of_arm(event) ||
      !(is_precise || is_generic_cycles(event.attribute))) {
    return {};
  }
  return request_at(event, 2);
}

std::optional<std::uint64_t> events_to_record(const RecordedEvent& event) {
  if (is_ibs(event)) return std::nullopt;
  if (!is_pebs(event)) return 0;
  if (!event.entry) return std::nullopt;
  const auto number =
      events::events_to_record(*event.entry, static_cast<int>(event.attribute.precise_ip));
  return number == 0 && event.machine.cpu.hypervisor ? std::nullopt : number;
}

std::optional<analysis::AddressSource> address_source(const RecordedEvent& event) {
  using analysis::AddressSource;
  const Attribute& attribute = event.attribute;
  if (!attribute.has(PERF_SAMPLE_ADDR)) return std::nullopt;
  if (attribute.type == PERF_TYPE_BREAKPOINT) return AddressSource::request;
  if (attribute.type == PERF_TYPE_TRACEPOINT) return AddressSource::none;
  // do_user_addr_fault() in arch/x86/mm/fault.c and its counterparts give the kernel's
  // perf_sw_event() the faulting address.
  if (is_page_fault(attribute)) return AddressSource::page_fault;
  if (attribute.type == PERF_TYPE_SOFTWARE) return AddressSource::none;
  if (event.pmu_name == "ibs_op" || is_spe(event)) {
    return AddressSource::tagged;
  }
  if (is_of_arm(event)) return AddressSource::none;
  if (!is_core_event(event)) return AddressSource::unknown;
  if (attribute.precise_ip == 0) return AddressSource::none;
  if (machine::is_amd(event.machine.cpu)) return AddressSource::tagged;
  if (!event.entry || !event.entry->data_la) return AddressSource::unknown;
  return *event.entry->data_la ? AddressSource::pebs : AddressSource::none;
}

analysis::RecordingPath recording_path(const RecordedEvent& event) {
  const Attribute& attribute = event.attribute;
  analysis::RecordingPath path;
  if (attribute.frequency) path.frequency = attribute.period_or_frequency;
  path.call_graph = attribute.has(PERF_SAMPLE_CALLCHAIN);
  path.branch_stack = attribute.has(PERF_SAMPLE_BRANCH_STACK);
  if (is_pebs(event)) {
    path.batched = events::batches_pebs_records(event.machine, attribute);
    if (path.batched && event.shares_interrupts) path.batched = false;
  }
  return path;
}

std::optional<events::PeriodRule> period_rule_of(const RecordedEvent& event) {
  if (is_ibs(event) && event.pmu_name != "ibs_fetch") return events::kIbsPeriods;
  if (!event.code) return std::nullopt;
  return events::period_rule(event.machine.cpu, *event.code,
                             static_cast<int>(event.attribute.precise_ip));
}

}  // namespace skid::measure
