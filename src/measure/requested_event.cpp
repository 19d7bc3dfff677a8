#include "src/measure/requested_event.h"

#include "src/events/cpu.h"
#include "src/events/perf_names.h"
#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/generic_event.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/record_arguments.h"
#include "src/support/since.h"

#include <algorithm>
#include <utility>

#include <linux/perf_event.h>

namespace skid::measure {

namespace {

using perfdata::Attribute;

/// Whether an attribute is a generic event of perf. perf 7 takes some of them from sysfs, so that
/// they are recorded as raw codes.
bool is_generic_event(const perfdata::GenericEvent& generic, const Attribute& recorded,
                      events::ConfigLayout layout) {
  if (generic.type == recorded.type) return generic.config == generic_config(recorded);
  const bool is_raw = recorded.type == PERF_TYPE_RAW || recorded.type > PERF_TYPE_BREAKPOINT;
  return generic.type == PERF_TYPE_HARDWARE && is_raw && recorded.config1 == 0 &&
         recorded.config2 == 0 && events::generic_event(layout, generic.name) == recorded.config;
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
  // On s390, `perf record -g` records a clock by default, so a clock there replaces nothing.
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

}  // namespace

bool is_substituted(std::string_view requested, const Attribute& recorded,
                    events::ConfigLayout layout) {
  const auto name = perftool::split_event_name(requested).name;
  const auto before_terms = name.substr(0, name.find('/'));  // cpu-clock/period=1000/
  if (const auto* generic = perfdata::find_generic_event(before_terms)) {
    return !is_generic_event(*generic, recorded, layout);
  }
  // No other requested event is a clock.
  if (is_clock(recorded)) return true;
  const auto code = perftool::number_of_term(name, "config");
  return code && *code != recorded.config;
}

bool is_recorded_as_requested(std::string_view requested, const Attribute& recorded,
                              events::ConfigLayout layout) {
  const auto name = perftool::split_event_name(requested).name;
  if (const auto* generic = perfdata::find_generic_event(name)) {
    return is_generic_event(*generic, recorded, layout);
  }
  const auto before_modifiers = [](std::string_view event) {
    return event.substr(0, event.find_last_of('/') + 1);  // "intel_pt//" of "intel_pt//u"
  };
  const auto code = perftool::number_of_term(name, "config");
  return (code && *code == recorded.config) ||
         perftool::split_event_name(recorded.name).name == name ||
         (!before_modifiers(name).empty() &&
          before_modifiers(name) == before_modifiers(recorded.name));
}

std::vector<std::string> requested_events(const std::vector<std::string>& arguments,
                                          std::size_t measured_events) {
  std::vector<std::string> events;
  for (const std::string& argument : arguments) {
    const auto list = perftool::split_event_list(argument);
    if (!list) return {};  // the command line of a recording may hold anything
    events.insert(events.end(), list->begin(), list->end());
  }
  const bool has_group = std::ranges::any_of(events, [](const std::string& event) {
    return event.find_first_of("{}") != std::string::npos;
  });
  if (has_group || events.size() != measured_events) return {};
  return events;
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

}  // namespace skid::measure
