#include "src/events/catalogue.h"

#include "src/events/perfmon.h"
#include "src/events/pfm_tables.h"
#include "src/events/spelling.h"
#include "src/events/triggers.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

namespace skid::events {
namespace {

constexpr std::string_view kPfm = "libpfm4";

ConfigLayout layout_of(std::string_view pmu) {
  if (pmu.starts_with("amd64")) return ConfigLayout::amd;
  return pmu.starts_with("arm") ? ConfigLayout::arm : ConfigLayout::intel;
}

/// The preferred one of several events with one code: not deprecated, named with an umask. libpfm4
/// also has architectural names without one ("LLC_MISSES").
auto rank(const Event& event) {
  return std::make_tuple(event.deprecated, event.name.find('.') == std::string::npos);
}

/// A name up to its umask: "L2_RQSTS" of "L2_RQSTS.MISS".
std::string_view event_part(std::string_view name) {
  return name.substr(0, name.find('.'));
}

/// One event for each PMU, the best by rank; the names of the others become its aliases.
std::vector<Event> best_of_each_pmu(const std::vector<const Event*>& found) {
  std::vector<Event> best;
  for (const Event* event : found) {
    Event* same = find_by(best, &Event::pmu, event->pmu);
    if (same == nullptr) {
      best.push_back(*event);
      continue;
    }
    Event other = *event;
    if (rank(other) < rank(*same)) std::swap(other, *same);
    same->aliases.push_back(other.name);
    same->aliases.insert(same->aliases.end(), other.aliases.begin(), other.aliases.end());
  }
  return best;
}

bool is_caused_by(const Cpu& cpu, const Event& event, runway::TriggerKind kind) {
  const auto causes = triggers_of(cpu, event);
  return std::any_of(causes.begin(), causes.end(),
                     [kind](const TriggerCause& cause) { return cause.kind == kind; });
}

std::string modifiers_of(std::uint64_t config, ConfigLayout layout) {
  Event bare;
  bare.config = config;
  const std::string terms = perf_encoding(layout, bare);
  const std::size_t after_umask = terms.find(',', terms.find(',') + 1);
  return after_umask == std::string::npos
             ? std::string()
             : terms.substr(after_umask + 1, terms.size() - after_umask - 2);
}

/// libpfm4's events of a PMU, corrected. `at_hand`: they are those of `here`.
Catalogue catalogue_of(const PfmPmu& pmu, const machine::Machine& here, bool at_hand) {
  Cpu cpu;
  cpu.name = pmu.name;
  cpu.description = pmu.description;
  cpu.source = kPfm;
  cpu.layout = layout_of(pmu.name);
  cpu.core = core_of(pmu.name);
  cpu.at_hand = at_hand;
  std::vector<Event> events = pfm_events(pmu.name);
  apply_overrides(cpu.core, events);
  if (cpu.layout == ConfigLayout::arm) {
    const bool named = at_hand && !here.core_pmus.empty();
    const std::string arm_pmu = named ? here.core_pmus.front().name : "armv8_pmuv3_0";
    for (Event& event : events) event.pmu = arm_pmu;
  }
  return {std::move(cpu), std::move(events)};
}

std::string shown_cpu(const machine::CpuIdentity& cpu) {
  std::string text = cpu.model_name.empty() ? cpu.vendor : cpu.model_name;
  if (cpu.family) text += fmt::format(", family {}", *cpu.family);
  if (cpu.model) text += fmt::format(", model {}", *cpu.model);
  return text.empty() ? cpu.arch : text;
}

}  // namespace

std::vector<Event> Catalogue::find_name(std::string_view name) const {
  const std::string wanted = normalized(name);
  std::vector<Event> found;
  for (const Event& event : events_) {
    const bool alias =
        std::any_of(event.aliases.begin(), event.aliases.end(),
                    [&wanted](const auto& other) { return normalized(other) == wanted; });
    if (alias || normalized(event.name) == wanted) found.push_back(event);
  }
  return found;
}

Event Catalogue::with_exact_code(Event event, std::uint64_t config) const {
  // What no umask of an event is, none of its codes is: but a precise one may lose it.
  const bool imprecise = std::none_of(events_.begin(), events_.end(), [&](const Event& other) {
    return event_select(cpu_.layout, other.config) == event_select(cpu_.layout, config) &&
           other.precise != false;
  });
  event.config = config;
  event.aliases.clear();
  if (!imprecise) {
    event.precise.reset();
    event.precise_source.clear();
  }
  return event;
}

std::vector<Event> Catalogue::find_code(std::uint64_t config, std::uint64_t config1) const {
  std::vector<const Event*> same, base, select;
  const ConfigLayout layout = cpu_.layout;
  for (const Event& event : events_) {
    const std::uint64_t plain = without_modifiers(layout, config);
    if (event.config == config && event.config1 == config1) {
      same.push_back(&event);
    } else if (event.config == plain && event.config1 == config1) {
      base.push_back(&event);
    } else if (event_select(layout, event.config) == event_select(layout, config)) {
      select.push_back(&event);
    }
  }
  if (!same.empty()) return best_of_each_pmu(same);
  const std::string modifiers = modifiers_of(config, layout);
  std::vector<Event> found;
  for (const Event& row : best_of_each_pmu(base)) {
    Event event = with_exact_code(row, config);
    if (!modifiers.empty()) event.name += fmt::format(" with {}", modifiers);
    found.push_back(std::move(event));
  }
  if (!found.empty()) return found;
  for (const Event& row : best_of_each_pmu(select)) {
    Event event = with_exact_code(row, config);
    event.config1 = config1;
    event.name = fmt::format("{}.0x{:02x}", event_part(row.name), unit_mask(layout, config));
    if (!modifiers.empty()) event.name += fmt::format(" with {}", modifiers);
    event.description = "An umask without a name";
    event.errata.clear();
    event.manual_errors.clear();
    found.push_back(std::move(event));
  }
  return found;
}

std::vector<Event> Catalogue::find(std::string_view spelling) const {
  const Spelling parts = take_apart(spelling, cpu_.layout);
  std::vector<Event> found;
  if (parts.config) {
    found = find_code(*parts.config, parts.config1);
  } else {
    found = find_name(parts.full);
    if (found.empty()) found = find_name(parts.name);
    if (const auto code = generic_event(cpu_.layout, parts.name); found.empty() && code) {
      found = find_code(*code, 0);
    }
    if (found.empty() && cpu_.source == kPfm) {
      for (const auto& name : {parts.full, parts.name}) {
        auto event = pfm_encode(cpu_.name, name);
        if (!event) continue;
        event->pmu = events_.empty() ? event->pmu : events_.front().pmu;
        // A row of the table has more, and may have been corrected.
        const bool is_row = std::any_of(events_.begin(), events_.end(), [&event](const Event& row) {
          return row.config == event->config && row.config1 == event->config1;
        });
        found = is_row ? find_code(event->config, event->config1) : std::vector<Event>{*event};
        break;
      }
    }
  }
  if (found.empty()) {
    throw UsageError(
        fmt::format("'{}' is no event of {} in {}; 'skidscan events --list{} PATTERN' lists them",
                    spelling, cpu_.name, cpu_.source,
                    cpu_.at_hand ? std::string() : fmt::format(" --cpu {}", cpu_.name)));
  }
  return found;
}

std::vector<Event> Catalogue::list(const Filter& filter) const {
  const bool glob = filter.pattern.find_first_of("*?") != std::string::npos;
  const std::string pattern = glob ? filter.pattern : fmt::format("*{}*", filter.pattern);
  const auto matches = [&pattern](const std::string& name) {
    return ::fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD | FNM_NOESCAPE) == 0;
  };
  std::vector<Event> listed;
  for (const Event& event : events_) {
    if (filter.precise_only && event.precise != true) continue;
    if (filter.trigger && !is_caused_by(cpu_, event, *filter.trigger)) continue;
    if (!matches(event.name) && std::none_of(event.aliases.begin(), event.aliases.end(), matches)) {
      continue;
    }
    listed.push_back(event);
  }
  std::stable_sort(listed.begin(), listed.end(), [](const Event& a, const Event& b) {
    return std::tie(a.name, a.pmu) < std::tie(b.name, b.pmu);
  });
  return listed;
}

const PfmPmu& choose_pmu(const std::vector<PfmPmu>& pmus, std::string_view cpu,
                         const machine::CpuIdentity& here, std::string_view option) {
  const std::string name = cpu.empty() ? pfm_name_of(here) : pfm_name_of(cpu);
  const PfmPmu* found = find_by(pmus, &PfmPmu::name, name);
  if (found == nullptr && cpu.empty()) found = find_by(pmus, &PfmPmu::present, true);
  if (found != nullptr) return *found;
  if (cpu.empty()) {
    throw Error(
        fmt::format("libpfm4 has no events of this CPU ({}); name another one with --cpu, or give "
                    "a directory of Intel's event files (github.com/intel/perfmon) with --perfmon",
                    shown_cpu(here)));
  }
  std::vector<std::string_view> names;
  names.reserve(pmus.size());
  for (const PfmPmu& pmu : pmus) names.push_back(pmu.name);
  throw UsageError(fmt::format(
      "{} {}: libpfm4 as built for this architecture does not support it; give a directory of "
      "Intel's event files with --perfmon, or one of: {}",
      option, cpu, fmt::join(names, ", ")));
}

std::optional<Catalogue> find_catalogue(const machine::Machine& machine) {
  const std::string name = pfm_name_of(machine.cpu);
  const std::vector<PfmPmu> pmus = pfm_core_pmus();
  const PfmPmu* found = find_by(pmus, &PfmPmu::name, name);
  if (found == nullptr) return std::nullopt;
  return catalogue_of(*found, machine, true);
}

Catalogue open_catalogue(const CatalogueRequest& request, const machine::Machine& here) {
  if (request.perfmon.empty()) {
    const std::vector<PfmPmu> pmus = pfm_core_pmus();
    return catalogue_of(choose_pmu(pmus, request.cpu, here.cpu, request.option), here,
                        request.cpu.empty());
  }
  Cpu cpu;
  cpu.at_hand = request.cpu.empty();
  PerfmonEvents read = read_perfmon(request.perfmon, request.cpu, here.cpu);
  cpu.name = read.name;
  cpu.description = cpu.at_hand ? shown_cpu(here.cpu) : std::string();
  cpu.source = fmt::format("perfmon {}", read.version);
  cpu.core = core_of(cpu.name);
  return {std::move(cpu), std::move(read.events)};
}

}  // namespace skid::events
