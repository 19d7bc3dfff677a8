#include "src/measure/event_description.h"

#include "analysis/figures.h"
#include "analysis/not_judged.h"
#include "analysis/wording.h"
#include "src/events/cpu.h"
#include "src/events/errata.h"
#include "src/events/event.h"
#include "src/events/kernel_rules.h"
#include "src/locate/filter.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/measure.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/generic_event.h"
#include "src/run/perftool/record_arguments.h"
#include "src/run/run.h"
#include "src/support/since.h"

#include <algorithm>
#include <set>
#include <utility>

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
  const auto* generic = perftool::find_generic_event(event.label);
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
  const bool known = ibs || is_core_event(event.attribute, event.pmu_name);
  return known ? events::exact_ip_of(event.machine.cpu, ibs) : ExactIp::unknown;
}

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
  warnings.push_back(
      fmt::format("{} is not precise on this CPU ({}), though level {} was accepted: its records "
                  "are written at the next opportunity, at another instruction.",
                  name_of(recorded), recorded.knowledge.catalogue, level_of(recorded)));
}

void warn_of_cycles(const RecordedEvent& recorded, Warnings& warnings) {
  if (!recorded.knowledge.core || !recorded.knowledge.core->cycles) return;
  const std::string_view counted =
      events::counted_for_cycles(recorded.machine.cpu, level_of(recorded));
  if (counted.empty()) return;
  warnings.push_back(
      fmt::format("At level {} the kernel counts {} on this CPU instead of cycles: another event "
                  "than at level 0, which counts while the core is halted too.",
                  level_of(recorded), counted));
}

void warn_of_errata(const RecordedEvent& recorded, Warnings& warnings) {
  const EventKnowledge& knowledge = recorded.knowledge;
  if (!knowledge.event) return;
  const bool one_mode = recorded.attribute.exclude_user != recorded.attribute.exclude_kernel;
  const std::optional<bool> smt_active = recorded.machine.smt_active;
  for (const events::Erratum& erratum : events::errata_of(knowledge.cpu.core, *knowledge.event)) {
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

bool is_name_of(std::string_view name, std::string_view event) {
  auto parts = perftool::split_event_name(event);
  if (name == event || name == parts.name) return true;
  std::erase(parts.modifiers, 'p');
  if (name == perftool::join_event_name(parts)) return true;
  // An event of one core type: "cpu_core/cycles/", which perf 5.15 to 6.0 write with its level,
  // "cpu_core/cycles:pp/". perf records it for "cycles"
  // (tools/perf/Documentation/intel-hybrid.txt).
  const std::size_t open = parts.name.find('/');
  if (!parts.name.starts_with("cpu_") || open == parts.name.npos || !parts.name.ends_with('/')) {
    return false;
  }
  const std::string inner = parts.name.substr(open + 1, parts.name.size() - open - 2);
  const std::string bare = perftool::split_event_name(inner).name;
  return name == bare || name == fmt::format("{}/{}/", parts.name.substr(0, open), bare);
}

/// Returns the event that perf records where none is named (cmd_record() in
/// tools/perf/builtin-record.c), if `recorded` is that or the clock which perf substitutes for it:
/// cycles at the highest level, up to perf 4.1 at none (7f8d1ade1b19). Empty: no such event, or the
/// version does not show the level.
std::vector<std::string> default_event(const perfdata::Features& features,
                                       const Attribute& recorded, events::ConfigLayout layout) {
  constexpr Since kHighestLevel{4, 3}, kMaybeHighest{4, 2};
  const Since version = version_of(features.perf_version);
  const bool is_cycles = is_recorded_as_requested("cycles", recorded, layout);
  // With call graphs the default of s390 is a clock.
  const bool is_fallback = is_clock(recorded) && !features.arch.starts_with("s390");
  if (!is_cycles && !is_fallback) return {};
  if (version >= kHighestLevel) return {"cycles:P"};
  const bool is_level_known = version != Since{} && version < kMaybeHighest;
  if (is_fallback || is_level_known) return {"cycles"};
  return {};
}

/// Returns the request for which perf recorded a clock with a precise level: it takes cpu-clock in
/// place of cycles where no PMU counts them, and keeps the level (evsel__fallback() in
/// tools/perf/util/evsel.c). nullopt: another event, or a clock that an argument of -e names.
std::optional<std::string> replaced_by_clock(
    const Attribute& recorded, const std::optional<std::vector<std::string>>& arguments) {
  if (recorded.precise_ip == 0 || !is_clock(recorded)) return std::nullopt;
  const bool is_named =
      arguments && std::ranges::any_of(*arguments, [](const std::string& argument) {
        return argument.find("-clock") != std::string::npos;
      });
  if (is_named) return std::nullopt;
  constexpr unsigned kHighest = 3;  // cycles:P, the default, at which perf begins
  return "cycles:" +
         (recorded.precise_ip == kHighest ? "P" : std::string(recorded.precise_ip, 'p'));
}

bool is_of_cpu(const RecordedEvent& event) {
  return is_core_event(event.attribute, event.pmu_name) || event.pmu_name.starts_with("ibs_");
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

std::vector<std::optional<std::string>> requested_by_attribute(
    const perfdata::Recording& recording) {
  const auto& attributes = recording.attributes();
  const auto measured = static_cast<std::size_t>(std::ranges::count_if(
      attributes, [](const Attribute& attribute) { return !attribute.is_dummy(); }));
  std::vector<std::optional<std::string>> result(attributes.size());
  const perfdata::Features& features = recording.features();
  const auto layout = events::layout_of(recorded_machine(features, nullptr).cpu);
  const auto arguments = perftool::event_arguments(features.command_line);
  auto requested = requested_events(arguments.value_or(std::vector<std::string>()), measured);
  if (arguments && arguments->empty() && measured == 1) {
    requested = default_event(features, *std::ranges::find_if_not(attributes, &Attribute::is_dummy),
                              layout);
  }
  // perf may sort events. Where several fit, those that were recorded as requested come first, and
  // the rest follow in order.
  for (const bool must_fit : {true, false}) {
    for (std::size_t index = 0; index < attributes.size(); ++index) {
      if (attributes[index].is_dummy() || result[index]) continue;
      const auto found = std::ranges::find_if(requested, [&](const std::string& event) {
        return !must_fit || is_recorded_as_requested(event, attributes[index], layout);
      });
      if (found == requested.end()) continue;
      result[index] = std::move(*found);
      requested.erase(found);
    }
  }
  for (std::size_t index = 0; index < attributes.size(); ++index) {
    if (!result[index]) result[index] = replaced_by_clock(attributes[index], arguments);
  }
  return result;
}

bool is_cross_check(const perfdata::Attribute& attribute, const Source& source) {
  return source.planned != nullptr && !source.planned->cross_check.empty() &&
         attribute.type == PERF_TYPE_TRACEPOINT;
}

bool takes_counter(const perfdata::Attribute& attribute, std::string_view pmu_name) {
  if (!is_core_event(attribute, pmu_name)) return false;
  if (attribute.type != PERF_TYPE_HARDWARE) return true;
  constexpr std::uint64_t kCycles = 0, kInstructions = 1, kReferenceCycles = 9;
  const std::uint64_t generic = attribute.config & 0xffff'ffff;
  return generic != kCycles && generic != kInstructions && generic != kReferenceCycles;
}

bool is_synthetic(const Source& source, const perfdata::Features& features) {
  return perfdata::is_synthetic(features) || (source.run != nullptr && source.run->synthetic);
}

RecordedEvent describe_event(const Source& source, const perfdata::Recording& recording,
                             const machine::Machine& machine, std::uint32_t index,
                             const std::optional<std::string>& requested) {
  const Attribute& attribute = recording.attributes()[index];
  RecordedEvent event{.index = index,
                      .attribute = attribute,
                      .pmu_name = pmu_name(recording.features(), attribute),
                      .knowledge = {},
                      .machine = machine,
                      .of_run = source.run != nullptr,
                      .synthetic = is_synthetic(source, recording.features())};
  event.identity = identity_of(attribute, source.planned, requested, events::layout_of(machine.cpu),
                               event.pmu_name);
  event.precise = precise_of(attribute, source.planned, event.identity);
  event.exact_ip = exact_ip_of(event);
  if (!attribute.frequency) {
    event.period =
        source.planned != nullptr ? source.planned->period : attribute.period_or_frequency;
  }
  return event;
}

EventSummary event_summary(const RecordedEvent& event) {
  return {.event = event.identity.label,
          .requested = event.identity.requested.value_or(""),
          .substituted = event.identity.substituted,
          .recorded = event.identity.recorded,
          .level = event.precise.recorded,
          .period = event.period};
}

bool is_event_named(std::string_view name, const analysis::EventIdentity& event) {
  return name == event.label || is_name_of(name, event.recorded) ||
         (event.requested && is_name_of(name, *event.requested));
}

bool select_event(const analysis::EventIdentity& event, const locate::Filter& filter,
                  std::uint64_t samples, locate::Filtered& filtered) {
  const auto& names = filter.events;
  const bool is_selected =
      names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
        return is_event_named(name, event);
      });
  filtered.events.insert(event.label);
  filtered.has_event |= is_selected;
  if (!is_selected) filtered.selected -= samples;
  return is_selected;
}

std::vector<bool> selected_events(const Source& source, const perfdata::Recording& recording,
                                  const locate::Filter& filter, locate::Filtered& filtered) {
  const auto requested = requested_by_attribute(recording);
  const auto layout = events::layout_of(recorded_machine(recording.features(), source.run).cpu);
  std::vector<bool> selected;
  for (std::uint32_t index = 0; index < requested.size(); ++index) {
    const Attribute& attribute = recording.attributes()[index];
    const bool is_event = !attribute.is_dummy() && !is_cross_check(attribute, source);
    selected.push_back(
        is_event ? select_event(identity_of(attribute, source.planned, requested[index], layout,
                                            pmu_name(recording.features(), attribute)),
                                filter, 0, filtered)
                 : filter.events.empty());
  }
  return selected;
}

bool is_pebs(const RecordedEvent& event) {
  return event.knowledge.core_pmu && event.attribute.precise_ip > 0 &&
         event.machine.cpu.vendor == "GenuineIntel";
}

bool is_ibs(const RecordedEvent& event) {
  if (event.pmu_name == "ibs_op" || event.pmu_name == "ibs_fetch") return true;
  return machine::is_amd(event.machine.cpu) && event.attribute.precise_ip > 0 &&
         is_core_event(event.attribute, event.pmu_name);
}

std::string precise_request(const RecordedEvent& event) {
  const EventKnowledge& knowledge = event.knowledge;
  const bool is_precise = knowledge.event && knowledge.event->precise == true;
  if (knowledge.catalogue.empty() || knowledge.of_arm ||
      !(is_precise || is_generic_cycles(event.attribute))) {
    return {};
  }
  const Attribute& attribute = event.attribute;
  // The name of a raw event may be the user's own.
  const bool is_raw = attribute.type == PERF_TYPE_RAW && attribute.config1 == 0;
  const std::string modes = attribute.exclude_kernel ? "u" : attribute.exclude_user ? "k" : "";
  return perftool::join_event_name(
      {is_raw ? fmt::format("r{:04x}", attribute.config) : event.identity.label, modes + "pp"});
}

std::optional<std::uint64_t> events_to_record(const RecordedEvent& event) {
  if (is_ibs(event)) return std::nullopt;
  if (!is_pebs(event)) return 0;
  const EventKnowledge& knowledge = event.knowledge;
  if (!knowledge.event) return std::nullopt;
  const auto number = events::events_to_record(knowledge.cpu, *knowledge.event,
                                               static_cast<int>(event.attribute.precise_ip));
  return number == 0 && event.machine.cpu.hypervisor ? std::nullopt : number;
}

std::optional<analysis::AddressSource> address_source(const RecordedEvent& event) {
  using analysis::AddressSource;
  const Attribute& attribute = event.attribute;
  const EventKnowledge& knowledge = event.knowledge;
  if (!attribute.has(PERF_SAMPLE_ADDR)) return std::nullopt;
  if (attribute.type == PERF_TYPE_BREAKPOINT) return AddressSource::request;
  if (attribute.type == PERF_TYPE_TRACEPOINT) return AddressSource::none;
  // do_user_addr_fault() in arch/x86/mm/fault.c and its counterparts give the kernel's
  // perf_sw_event() the faulting address.
  if (is_page_fault(attribute)) return AddressSource::page_fault;
  if (attribute.type == PERF_TYPE_SOFTWARE) return AddressSource::none;
  if (event.pmu_name == "ibs_op" || event.pmu_name.starts_with("arm_spe")) {
    return AddressSource::tagged;
  }
  if (knowledge.of_arm) return AddressSource::none;
  if (!knowledge.core_pmu) return AddressSource::unknown;
  if (attribute.precise_ip == 0) return AddressSource::none;
  if (machine::is_amd(event.machine.cpu)) return AddressSource::tagged;
  if (!knowledge.event || !knowledge.event->data_la) return AddressSource::unknown;
  return *knowledge.event->data_la ? AddressSource::pebs : AddressSource::none;
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
  const auto& core = event.knowledge.core;
  const bool ibs = is_ibs(event);
  if (!core && !ibs) return std::nullopt;
  return events::period_rule(event.machine.cpu,
                             {.config = core ? core->config : 0,
                              .level = static_cast<int>(event.attribute.precise_ip),
                              .ibs = ibs && event.pmu_name != "ibs_fetch"});
}

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
  if (event.attribute.precise_ip == 0 && is_core_event(event.attribute, event.pmu_name))
    return "Level 0: arbitrary skid.";
  return {};
}

std::vector<EventPrecision> precision_of(const perfdata::Recording& recording,
                                         const perfdata::RecordCounts& counts) {
  const auto& attributes = recording.attributes();
  const auto machine = recorded_machine(recording.features(), nullptr);
  const auto requested = requested_by_attribute(recording);
  const Source source{recording.path(), {}, nullptr, nullptr};
  RecordedCpu cpu(machine);
  std::vector<EventPrecision> all(attributes.size());
  for (std::uint32_t index = 0; index < attributes.size(); ++index) {
    const perfdata::Attribute& attribute = attributes[index];
    if (attribute.is_dummy()) continue;
    RecordedEvent event = describe_event(source, recording, machine, index, requested[index]);
    if (index < counts.events.size()) {
      event.samples = counts.events[index].samples;
      event.exact = counts.events[index].exact_ip;
    }
    all[index] = {precision_lost(event), why_not_precise(event)};
    // As audit judges it; looked up last, as it takes longest.
    if (all[index].not_precise.empty() && attribute.precise_ip > 0 &&
        cpu.know(attribute, event.pmu_name).imprecise()) {
      all[index].not_precise =
          fmt::format("It is {}.", analysis::describe(analysis::NotJudged::imprecise));
    }
  }
  return all;
}

}  // namespace skid::measure
