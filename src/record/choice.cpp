#include "src/record/choice.h"

#include "runway/kinds/kind.h"
#include "src/events/catalogue.h"
#include "src/events/causes.h"
#include "src/events/cpu.h"
#include "src/events/default_set.h"
#include "src/events/errata.h"
#include "src/events/event.h"
#include "src/events/perf_names.h"
#include "src/events/spelling.h"
#include "src/perfdata/generic_event.h"
#include "src/run/perftool/event_name.h"
#include "src/support/error.h"
#include "src/support/near_names.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::record {
namespace {

/// What passes the filters of SPE, and the trigger for it.
struct SpeFilter {
  std::string_view type;  ///< the filter of the operation's type
  /// The bit of event_filter, that of the events packet; 0: any operation.
  std::uint64_t event = 0;
  events::Counted counted;
  std::string_view trigger;
};
/// The events packet of the Arm ARM (Statistical Profiling Extension): bit 3 is a refill of the
/// level 1 data cache, 7 a mispredicted branch, 9 a miss of the last level cache.
constexpr std::array kSpeFilters{
    SpeFilter{"load_filter", 1U << 9U, events::Counted::l3_misses, "load-dram"},
    SpeFilter{"load_filter", 1U << 3U, events::Counted::l1_misses, "load-l2"},
    SpeFilter{"branch_filter", 1U << 7U, events::Counted::mispredicted, "branch-mispredict"},
    SpeFilter{"load_filter", 0, events::Counted::loads, "load"},
    SpeFilter{"store_filter", 0, events::Counted::stores, "store"},
    SpeFilter{"branch_filter", 0, events::Counted::branches, "branch-taken"}};

/// The filter of an SPE event, with the rarest of the events that it names; null for other events,
/// without one, and with several types, any of which an operation may pass.
const SpeFilter* spe_filter_of(const RequestedEvent& event) {
  if (!event.name.starts_with("arm_spe_")) return nullptr;
  const std::uint64_t events = perftool::number_of_term(event.name, "event_filter").value_or(0);
  const SpeFilter* found = nullptr;
  for (const SpeFilter& filter : kSpeFilters) {
    if (perftool::number_of_term(event.name, filter.type).value_or(0) == 0) continue;
    if (found != nullptr && found->type != filter.type) return nullptr;
    if (found == nullptr && (events & filter.event) == filter.event) found = &filter;
  }
  return found;
}

bool is_of_every_instruction(events::Counted counted) {
  return counted == events::Counted::cycles || counted == events::Counted::instructions;
}

bool is_built_in(EventKind kind) {
  return kind != EventKind::other;
}

/// One of perf's own hardware events, which it knows better than we do: on a hybrid machine they
/// are events of all cores.
bool is_generic(std::string_view name) {
  const auto* generic = perfdata::find_generic_event(name);
  return generic != nullptr && generic->type == PERF_TYPE_HARDWARE;
}

/// The intended event of the catalogue, if there is one: by any name that it has, or by a code.
std::optional<events::Event> catalogued(const RequestedEvent& event, const events::Spelling& parts,
                                        const events::Catalogue* catalogue,
                                        const machine::Machine& machine) {
  if (catalogue == nullptr || is_built_in(event.kind)) return std::nullopt;
  const machine::CorePmu* pmu = events::main_core_pmu(machine);
  if (!parts.cpu.empty() && !events::is_called(catalogue->cpu().name, parts.cpu)) {
    throw Error("{}: is an event of {}, and this CPU is {}", event.text(), parts.cpu,
                catalogue->cpu().name);
  }
  // perf has its own names for "cpu/cache-misses/" and tracepoints ("sched:sched_switch").
  const std::vector<events::Event> found = catalogue->find(parts);
  const auto of_pmu = std::ranges::find_if(
      found, [&](const auto& candidate) { return pmu == nullptr || candidate.pmu == pmu->name; });
  return of_pmu == found.end() ? std::nullopt : std::optional(*of_pmu);
}

/// Makes perf take a name of the catalogue as a raw event. Names that only perf understands stay:
/// its generic events, codes, and terms of a PMU.
void name_for_perf(RequestedEvent& event, const events::Spelling& parts, const events::Event& known,
                   const machine::Machine& machine) {
  const bool raw = contains(event.name, '/') || parts.config;
  if (raw || is_generic(event.name)) return;
  const machine::CorePmu* pmu = events::main_core_pmu(machine);
  if (pmu == nullptr) {
    throw Error(
        "{}: is an event of the CPU ({}), and this machine has no PMU of the CPU; 'skidscan "
        "doctor' reports why",
        event.text(), known.name);
  }
  event.perf_name = events::raw_perf_event(known, pmu->name);
}

runway::TriggerKind trigger_for(const RequestedEvent& event,
                                std::optional<runway::TriggerKind> asked,
                                const std::optional<events::Event>& known) {
  if (event.name != "faults" && asked) return *asked;
  if (event.kind == EventKind::faults) return runway::trigger_kind_from("fault");
  if (known) {
    if (const auto best = events::best_trigger(*known)) return *best;
  }
  if (const SpeFilter* filter = spe_filter_of(event)) {
    return runway::trigger_kind_from(filter->trigger);
  }
  if (event.name == "branch-misses") return runway::trigger_kind_from("branch-mispredict");
  for (const std::string_view branch : {"branches", "branch-instructions", "r00c4", "rc4"}) {
    if (event.name == branch) return runway::trigger_kind_from("branch-taken");
  }
  return {};
}

std::vector<int> levels_for(const RequestedEvent& event, const PlanOptions& options) {
  if (event.perf_picks_level()) {
    if (options.levels) {
      throw ValueError("{}: P leaves the precise level to perf; leave out -p or the P",
                       event.text());
    }
    return {0};
  }
  if (event.own_level) {
    if (options.levels) {
      throw ValueError("{}: names its precise level itself; leave out -p or the p's of the event",
                       event.at_level(*event.own_level));
    }
    return {*event.own_level};
  }
  if (options.levels) return *options.levels;
  return {0, 1, 2, 3};
}

std::vector<int> common(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

void check_pmu(const PlanOptions& options, const machine::Machine& machine) {
  if (!options.pmu ||
      find_by(machine.core_pmus, &machine::CorePmu::name, *options.pmu) != nullptr) {
    return;
  }
  std::vector<std::string> names;
  for (const machine::CorePmu& pmu : machine.core_pmus) names.push_back(pmu.name);
  throw ValueError("PMU {}: no core PMU has that name; expected {}", *options.pmu,
                   names.empty() ? "a machine with a PMU of the CPU"
                                 : fmt::format("{}", fmt::join(names, ", ")));
}

/// The machine with the core PMUs whose events can be recorded: the one of --pmu, else all that are
/// on CPUs that may be used. A note names each PMU that is left out.
machine::Machine sampled_pmus(const PlanOptions& options, machine::Machine machine,
                              std::vector<std::string>& notes) {
  if (options.pmu) {
    std::erase_if(machine.core_pmus,
                  [&options](const auto& pmu) { return pmu.name != *options.pmu; });
    return machine;
  }
  if (machine.core_pmus.size() < 2) return machine;
  std::erase_if(machine.core_pmus, [&](const machine::CorePmu& pmu) {
    if (!options.cpu && machine.allowed_cpus.empty()) return false;
    const std::vector<int> usable =
        options.cpu ? std::vector<int>{*options.cpu} : machine.allowed_cpus;
    if (!common(usable, pmu.cpus).empty()) return false;
    notes.push_back(
        fmt::format("{}: left out, it is on other CPUs ({})", pmu.name, fmt::join(pmu.cpus, ", ")));
    return true;
  });
  return machine;
}

/// cycles:P, once for each kind of core.
void add_perf_default(const PlanOptions& options, const machine::Machine& machine,
                      std::vector<ChosenEvent>& chosen) {
  const auto add = [&](std::string name) {
    ChosenEvent cycles;
    cycles.event.name = std::move(name);
    cycles.event.modifiers = "P";
    cycles.levels = {0};
    cycles.counted = events::Counted::cycles;
    cycles.trigger = options.trigger.value_or(chosen.back().trigger);
    for (const ChosenEvent& other : chosen) {
      if (!options.trigger && is_busy(other) && !is_tagged(other)) cycles.trigger = other.trigger;
    }
    chosen.push_back(std::move(cycles));
  };
  const machine::CorePmu* main = events::main_core_pmu(machine);
  const auto name_on = [](const machine::CorePmu& pmu) {
    return events::is_of_hybrid(pmu) ? pmu.name + "/cycles/" : std::string("cycles");
  };
  if (main != nullptr) add(name_on(*main));
  for (const machine::CorePmu& pmu : machine.core_pmus) {
    if (&pmu != main) add(name_on(pmu));
  }
}

/// Recorded by default: the built-in events, the default set of the CPU, and perf's own default.
std::vector<ChosenEvent> default_events(const PlanOptions& options, const machine::Machine& machine,
                                        const events::Catalogue* catalogue,
                                        std::vector<std::string>& notes) {
  std::vector<ChosenEvent> chosen;
  for (RequestedEvent& event : parse_events({"access", "execute", "faults", "cpu-clock"})) {
    if (event.kind == EventKind::access && options.trigger && runway::is_chase(*options.trigger)) {
      notes.push_back(
          fmt::format("access: left out, {}'s chase comes to the datum once a round, so that a "
                      "sample can take minutes; name it with -e to record it",
                      runway::name_of(*options.trigger)));
      continue;
    }
    ChosenEvent& built_in = chosen.emplace_back();
    built_in.levels = levels_for(event, options);
    built_in.trigger = trigger_for(event, options.trigger, std::nullopt);
    built_in.event = std::move(event);
  }
  if (!machine.has_core_pmu()) {
    notes.emplace_back(
        "no core PMU here, so the built-in events are recorded, whose skid is known: this shows "
        "the method at work, not PEBS");
    return chosen;
  }
  notes.emplace_back(
      "no event was named, so the built-in ones, whose skid is known, and a representative set of "
      "the CPU's are recorded; name others with -e");
  const machine::Machine sampled = sampled_pmus(options, machine, notes);
  events::DefaultSet set = events::default_set(sampled, catalogue);
  for (events::DefaultEvent& event : set.events) {
    if (options.trigger && !is_of_every_instruction(event.counted) &&
        !runway::kind_of(*options.trigger).causes(event.counted)) {
      notes.push_back(fmt::format("{}: left out, the trigger {} does not cause it", event.name,
                                  runway::name_of(*options.trigger)));
      continue;
    }
    ChosenEvent& of_cpu = chosen.emplace_back();
    auto [name, modifiers] = perftool::split_event_name(event.name);
    of_cpu.event.name = std::move(name);
    of_cpu.event.modifiers = std::move(modifiers);
    of_cpu.event.perf_name = perftool::split_event_name(event.perf_event).name;
    of_cpu.levels = options.levels.value_or(event.levels);
    of_cpu.trigger = options.trigger.value_or(event.trigger);
    of_cpu.counted = event.counted;
  }
  if (!options.levels) add_perf_default(options, sampled, chosen);
  notes.insert(notes.end(), set.notes.begin(), set.notes.end());
  return chosen;
}

/// perf's own hardware events and raw codes on the PMU of --pmu: "cpu_atom/cycles/".
void name_on_pmu(RequestedEvent& event, const events::Spelling& parts, const std::string& pmu) {
  if (is_built_in(event.kind) || contains(event.name, '/')) return;
  if (is_generic(event.name)) {
    const std::string name = event.name == "branches" ? "branch-instructions" : event.name;
    event.perf_name = fmt::format("{}/{}/", pmu, name);
    return;
  }
  if (parts.config) event.perf_name = fmt::format("{}/config={:#x}/", pmu, *parts.config);
}

/// Whether an event has a name of perf or the kernel, or is no name but a code, terms of a PMU, a
/// tracepoint or a breakpoint.
bool is_of_perf(const RequestedEvent& event, const events::Spelling& parts) {
  // Cache events (tools/perf/util/parse-events.c), and names in the kernel's folders of core PMUs.
  constexpr std::array<std::string_view, 13> kPrefixes{
      "L1-dcache-", "L1-icache-", "LLC-",  "dTLB-", "iTLB-",   "branch-load", "node-",
      "mem-",       "topdown-",   "slots", "tx-",   "cycles-", "el-"};
  const std::string_view name = event.name;
  return is_built_in(event.kind) || perfdata::find_generic_event(name) != nullptr ||
         name.find_first_of(":/{") != std::string_view::npos || parts.config ||
         std::ranges::any_of(kPrefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

/// "; did you mean …?" with built-in names, those of perf and of the catalogue.
std::string near_events(const std::string& name, const events::Catalogue& catalogue) {
  std::vector<std::string> names{"access",       "execute",       "faults",
                                 "cycles",       "instructions",  "branches",
                                 "cache-misses", "branch-misses", "cpu-clock"};
  for (const events::Event& event : catalogue.events()) names.push_back(event.name);
  return did_you_mean(name, names);
}

/// The erratum of an event that counts wrong in a single mode, if only one mode is requested.
std::string erratum_of_modes(const RequestedEvent& requested, const events::Event& event) {
  const bool user = contains(requested.modifiers, 'u');
  const bool kernel = contains(requested.modifiers, 'k');
  if (user == kernel) return {};
  for (const events::Erratum& erratum : events::errata_of(event)) {
    if (!erratum.of_one_mode) continue;
    return fmt::format("{}: erratum {}: {}; record it without :{}", requested.text(), erratum.ids,
                       erratum.effect, user ? 'u' : 'k');
  }
  return {};
}

std::vector<ChosenEvent> named_events(const PlanOptions& options, const machine::Machine& machine,
                                      const events::Catalogue* catalogue) {
  std::vector<std::string> ignored;
  const machine::Machine sampled = options.pmu ? sampled_pmus(options, machine, ignored) : machine;
  std::vector<ChosenEvent> chosen;
  for (RequestedEvent& event : parse_events(options.events)) {
    ChosenEvent& named = chosen.emplace_back();
    const auto parts = events::parse_spelling(event.name, events::layout_of(machine.cpu));
    if (options.pmu) name_on_pmu(event, parts, *options.pmu);
    const auto known = catalogued(event, parts, catalogue, sampled);
    if (known) {
      named.erratum = erratum_of_modes(event, *known);
      name_for_perf(event, parts, *known, sampled);
    } else if (catalogue != nullptr && !is_of_perf(event, parts)) {
      named.near_names = near_events(event.name, *catalogue);
    }
    named.levels = levels_for(event, options);
    // Without a PMU perf puts a timer in the place of generic cycles.
    const auto caused = machine.has_core_pmu() ? known : std::nullopt;
    named.trigger = trigger_for(event, options.trigger, caused);
    const SpeFilter* filter = spe_filter_of(event);
    named.counted = known               ? events::counted_by(*known)
                    : filter != nullptr ? filter->counted
                                        : events::counted_by_generic(event.name);
    named.event = std::move(event);
  }
  return chosen;
}

}  // namespace

std::string target_file(const ChosenEvent& chosen, const PlanOptions& options) {
  return fmt::format("target.{}{}", runway::name_of(chosen.trigger),
                     is_tagged(chosen) && !options.nops ? ".short" : "");
}

bool is_busy(const ChosenEvent& chosen) {
  return is_of_every_instruction(chosen.counted);
}

std::vector<ChosenEvent> choose_events(const PlanOptions& options, const machine::Machine& machine,
                                       const events::Catalogue* catalogue,
                                       std::vector<std::string>& notes) {
  check_pmu(options, machine);
  std::vector<ChosenEvent> events = options.events.empty()
                                        ? default_events(options, machine, catalogue, notes)
                                        : named_events(options, machine, catalogue);
  for (ChosenEvent& chosen : events) {
    chosen.cpu = cpu_for(options, chosen.event, machine);
    chosen.period =
        options.period.value_or(default_period(chosen, machine.cpu, triggers_of(options)));
    if (options.trigger && chosen.trigger != *options.trigger) {
      notes.push_back(fmt::format("{}: with the trigger {}, since {} does not cause it",
                                  chosen.event.text(), runway::name_of(chosen.trigger),
                                  runway::name_of(*options.trigger)));
    }
  }
  return events;
}

int cpu_for(const PlanOptions& options, const RequestedEvent& event,
            const machine::Machine& machine) {
  std::vector<int> candidates = machine.allowed_cpus;
  if (options.cpu) {
    if (!candidates.empty() && !std::ranges::binary_search(candidates, *options.cpu)) {
      throw ValueError("CPU {}: this process may not run there; expected one of {}", *options.cpu,
                       fmt::join(candidates, ", "));
    }
    candidates = {*options.cpu};
  }
  const machine::CorePmu* pmu =
      named_pmu(event.perf_name.empty() ? event.name : event.perf_name, machine);
  if (pmu != nullptr && !pmu->cpus.empty()) {
    candidates = common(candidates, pmu->cpus);
    if (candidates.empty()) {
      throw Error("{}: the PMU {} is on the CPUs {} only; choose one of them", event.text(),
                  pmu->name, fmt::join(pmu->cpus, ", "));
    }
    return candidates.back();
  }
  const machine::CorePmu* main =
      options.pmu ? find_by(machine.core_pmus, &machine::CorePmu::name, *options.pmu)
                  : events::main_core_pmu(machine);
  if (main != nullptr && machine.core_pmus.size() > 1) {
    const std::vector<int> cores = common(candidates, main->cpus);
    if (!cores.empty()) candidates = cores;
  }
  return candidates.empty() ? 0 : candidates.back();
}

}  // namespace skid::record
