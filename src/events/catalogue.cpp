#include "src/events/catalogue.h"

#include "src/events/cache_events.h"
#include "src/events/causes.h"
#include "src/events/intel_table.h"
#include "src/events/perf_names.h"
#include "src/events/pfm_tables.h"
#include "src/events/spelling.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/support/error.h"
#include "src/support/near_names.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>
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
  return std::make_tuple(event.deprecated, !contains(event.name, '.'));
}

bool is_spelling_of(const std::string& name, const std::string& wanted) {
  return name.size() == wanted.size() && normalized(name) == wanted;
}

/// A name up to its umask: "L2_RQSTS" of "L2_RQSTS.MISS".
std::string_view event_part(std::string_view name) {
  return name.substr(0, name.find('.'));
}

/// Adds another name of the same code. Tables may call a code precise by one of its names only
/// (BR_INST_RETIRED.COND, .CONDITIONAL on Skylake; INST_RETIRED.ANY_P, .ANY_PS on Knights Landing):
/// the hardware counts the code.
void add_name(const Event& other, Event& event) {
  event.aliases.push_back(other.name);
  event.aliases.insert(event.aliases.end(), other.aliases.begin(), other.aliases.end());
  if (other.precise == true) event.precise = true;
  if (other.data_la == true) event.data_la = true;
  event.errata.insert(event.errata.end(), other.errata.begin(), other.errata.end());
  event.errata = each_once(std::move(event.errata));
}

/// The best of `found` by rank; the names of the others become its aliases.
Event best_of(const std::vector<const Event*>& found) {
  Event best = *found.front();
  for (const Event* event : found) {
    if (event == found.front()) continue;
    Event other = *event;
    if (rank(other) < rank(best)) std::swap(other, best);
    add_name(other, best);
  }
  return best;
}

/// The common properties of events that differ in config1 alone: any load latency threshold is as
/// precise as those that have names.
Event of_other_config1(const std::vector<const Event*>& kin, std::uint64_t config1) {
  Event common = *kin.front();
  for (const Event* event : kin) {
    const auto end = std::mismatch(common.name.begin(), common.name.end(), event->name.begin(),
                                   event->name.end());
    common.name.erase(end.first, common.name.end());
    if (common.precise != event->precise) common.precise.reset();
    if (common.data_la != event->data_la) common.data_la.reset();
    if (common.pdist != event->pdist) common.pdist.reset();
    std::erase_if(common.errata,
                  [event](const std::string& id) { return !contains(event->errata, id); });
  }
  common.name.erase(common.name.find_last_not_of("._0123456789") + 1);
  common.name += fmt::format(" with config1=0x{:x}", config1);
  common.config1 = config1;
  common.description.clear();
  common.aliases.clear();
  return common;
}

std::string modifiers_of(std::uint64_t config, ConfigLayout layout) {
  const std::string terms = perf_encoding({.layout = layout, .config = config});
  const std::size_t after_umask = terms.find(',', terms.find(',') + 1);
  return after_umask == std::string::npos
             ? std::string()
             : terms.substr(after_umask + 1, terms.size() - after_umask - 2);
}

/// AMD's events by perf's names (amd/README.md): the core events of a Zen, by the name that libpfm4
/// has or would have for its PMU ("amd64_fam19h_zen4"). Empty for others.
std::vector<Event> amd_events(std::string_view pmu) {
  const int zen = zen_of(pmu);
  if (zen == 0) return {};
  const std::string generation = std::to_string(zen);
  std::vector<Event> events;
  std::string_view text = amd_events_table();
  take_until('\n', text);  // the names of the columns
  while (!text.empty()) {
    std::string_view line = take_until('\n', text);
    const std::string_view name = take_until('\t', line);
    const auto config = whole_number<std::uint64_t>(take_until('\t', line), 16);
    if (!config || !contains(line, generation)) continue;
    events.push_back({.name = std::string(name),
                      .config = *config,
                      .source = fmt::format("perf's events of amdzen{}", zen)});
  }
  return events;
}

/// libpfm4's events of a PMU. `at_hand`: they are those of `here`.
Catalogue pfm_catalogue(const PfmPmu& pmu, const machine::Machine& here, bool at_hand) {
  Cpu cpu;
  cpu.name = pmu.name;
  if (!pmu.of_perf_alone) cpu.pfm_name = pmu.name;
  cpu.description = pmu.description;
  cpu.source = pmu.of_perf_alone ? "perf's events" : kPfm;
  cpu.layout = layout_of(pmu.name);
  cpu.core = core_of(pmu.name);
  cpu.at_hand = at_hand;
  std::vector<Event> events = pmu.of_perf_alone ? std::vector<Event>() : pfm_events(pmu.name);
  if (std::vector<Event> more = amd_events(pmu.name); !more.empty()) {
    std::ranges::move(more, std::back_inserter(events));
    // The kernel hands cycles and micro-ops (codes 0x76 and 0xc1) to IBS and refuses a level of all
    // others (core_pmu_ibs_config() in arch/x86/events/amd/ibs.c).
    for (Event& event : events) {
      event.precise = (event.config == 0x76 || event.config == 0xc1) && event.config1 == 0;
      event.precise_source = PreciseSource::kernel;
    }
  }
  if (cpu.layout == ConfigLayout::arm) {
    const bool named = at_hand && !here.core_pmus.empty();
    const std::string arm_pmu = named ? here.core_pmus.front().name : "armv8_pmuv3_0";
    for (Event& event : events) event.pmu = arm_pmu;
  }
  return {std::move(cpu), std::move(events)};
}

Catalogue intel_catalogue(const std::vector<IntelFile>& files, bool at_hand) {
  Cpu cpu;
  cpu.at_hand = at_hand;
  std::vector<Event> events;
  for (const IntelFile& file : files) {
    std::vector<Event> of_file = intel_events(file);
    cpu.source += fmt::format("{}{} {}", cpu.source.empty() ? "" : ", ", file.name, file.version);
    std::ranges::move(of_file, std::back_inserter(events));
  }
  cpu.name = files.front().name;
  cpu.source = fmt::format("Intel's event file{} {}", files.size() > 1 ? "s" : "", cpu.source);
  if (files.size() > 1) {
    cpu.name.erase(cpu.name.find('_'));
  } else if (const CpuNames* names = find_cpu(cpu.name)) {
    cpu.core = names->core;
    cpu.pfm_name = names->pfm;
  }
  return {std::move(cpu), std::move(events)};
}

/// The PMUs that libpfm4 has, and those that only perf's events cover.
std::vector<PfmPmu> core_pmus() {
  std::vector<PfmPmu> pmus = pfm_core_pmus();
  for (const int zen : {5, 6}) {
    const std::string name = fmt::format("amd64_fam1ah_zen{}", zen);
    if (find_by(pmus, &PfmPmu::name, name) != nullptr) continue;
    pmus.push_back({.name = name,
                    .description = fmt::format("AMD64 Fam1Ah Zen{}", zen),
                    .of_perf_alone = true});
  }
  return pmus;
}

std::string shown_cpu(const machine::CpuIdentity& cpu) {
  std::string text = cpu.model_name.empty() ? cpu.vendor : cpu.model_name;
  if (cpu.family) text += fmt::format(", family {}", *cpu.family);
  if (cpu.model) text += fmt::format(", model {}", *cpu.model);
  return text.empty() ? cpu.arch : text;
}

}  // namespace

Catalogue::Catalogue(Cpu cpu, std::vector<Event> events)
    : cpu_(std::move(cpu)), events_(std::move(events)) {
  for (Event& event : events_) {
    if (event.core == Core::other) event.core = cpu_.core;
    event.layout = cpu_.layout;
    if (cpu_.layout == ConfigLayout::intel) {
      event.config = fixed_counter_event(event.name).value_or(event.config);
    }
    pmus_.push_back(event.pmu);
  }
  pmus_ = each_once(std::move(pmus_));
}

std::vector<Event> Catalogue::find_name(std::string_view name) const {
  const std::string wanted = normalized(name);
  std::vector<Event> found;
  for (const Event& event : events_) {
    const bool alias = std::ranges::any_of(
        event.aliases, [&wanted](const auto& other) { return is_spelling_of(other, wanted); });
    if (alias || is_spelling_of(event.name, wanted)) found.push_back(event);
  }
  for (Event& event : found) {
    for (const Event& other : events_) {
      const bool same_code = other.config == event.config && other.config1 == event.config1;
      if (same_code && other.pmu == event.pmu && other.name != event.name) add_name(other, event);
    }
  }
  return found;
}

Event Catalogue::with_exact_code(Event event, std::uint64_t config) const {
  // A code is imprecise if all umasks of its event are. Else it may lack the precision of the
  // event.
  const bool imprecise = std::ranges::none_of(events_, [&](const Event& other) {
    return event_select(cpu_.layout, other.config) == event_select(cpu_.layout, config) &&
           other.pmu == event.pmu && other.precise != false;
  });
  event.config = config;
  event.aliases.clear();
  if (!imprecise) {
    event.precise.reset();
    event.precise_source.reset();
  }
  event.data_la.reset();
  event.pdist.reset();
  return event;
}

std::vector<Event> Catalogue::find_code(std::uint64_t config, std::uint64_t config1) const {
  std::vector<Event> found;
  for (const std::string& pmu : pmus_) {
    if (auto event = find_code(pmu, config, config1)) found.push_back(std::move(*event));
  }
  return found;
}

std::optional<Event> Catalogue::find_code(std::string_view pmu, std::uint64_t config,
                                          std::uint64_t config1) const {
  std::vector<const Event*> same, kin, base, select;
  const ConfigLayout layout = cpu_.layout;
  const std::uint64_t plain = without_modifiers(layout, config);
  const std::uint64_t selects = event_select(layout, ~std::uint64_t{0});
  for (const Event& event : events_) {
    if (((event.config ^ config) & selects) != 0 || event.pmu != pmu) continue;
    if (event.config == config && event.config1 == config1) {
      same.push_back(&event);
    } else if (event.config == config && event.config1 != 0 && config1 != 0) {
      kin.push_back(&event);
    } else if (event.config == plain && event.config1 == config1) {
      base.push_back(&event);
    } else {
      select.push_back(&event);
    }
  }
  if (!same.empty()) return best_of(same);
  if (!kin.empty()) return of_other_config1(kin, config1);
  if (base.empty() && select.empty()) return std::nullopt;
  Event event = with_exact_code(best_of(base.empty() ? select : base), config);
  if (base.empty()) {
    event.config1 = config1;
    event.name = fmt::format("{}.0x{:02x}", event_part(event.name), unit_mask(layout, config));
    event.description = "An umask without a name";
    event.errata.clear();
  }
  const std::string modifiers = modifiers_of(config, layout);
  if (!modifiers.empty()) event.name += fmt::format(" with {}", modifiers);
  return event;
}

void Catalogue::describe(std::vector<Event>& events) const {
  if (cpu_.pfm_name.empty()) return;
  for (Event& event : events) {
    if (!event.description.empty()) continue;
    const auto known = pfm_encode(cpu_.pfm_name, event.name);
    if (known && known->config == event.config) event.description = known->description;
  }
}

std::vector<Event> Catalogue::find_kernel_event(const Spelling& parts) const {
  std::vector<Event> found;
  for (const std::string& pmu : pmus_) {
    const Core core = find_by(events_, &Event::pmu, pmu)->core;
    const auto event = kernel_event(core, parts.name, cpu_.name);
    if (!event) continue;
    // Another threshold of load latency may be given: "mem-loads,ldlat=30".
    const std::uint64_t config1 =
        event->config1 != 0 && parts.config1 != 0 ? parts.config1 : event->config1;
    if (auto known = find_code(pmu, event->config, config1)) found.push_back(std::move(*known));
  }
  return found;
}

std::vector<Event> Catalogue::find_cache_event(std::uint64_t config) const {
  std::vector<Event> found;
  for (const std::string& pmu : pmus_) {
    const Core core = find_by(events_, &Event::pmu, pmu)->core;
    const auto code = cache_event(core, cpu_.layout, config);
    if (!code) continue;
    if (auto known = find_code(pmu, *code, 0)) found.push_back(std::move(*known));
  }
  return found;
}

std::vector<Event> Catalogue::find_pfm_event(const Spelling& parts) const {
  if (cpu_.pfm_name.empty()) return {};
  for (const auto& name : {parts.full, parts.name}) {
    auto event = pfm_encode(cpu_.pfm_name, name);
    if (!event) continue;
    event->pmu = events_.empty() ? event->pmu : events_.front().pmu;
    event->core = cpu_.core;
    event->layout = cpu_.layout;
    // A row of the table knows more than libpfm4, and Intel's table has its own.
    const bool is_row = std::ranges::any_of(events_, [&event](const Event& row) {
      return row.config == event->config && row.config1 == event->config1;
    });
    return is_row ? find_code(event->config, event->config1) : std::vector<Event>{*event};
  }
  return {};
}

std::vector<Event> Catalogue::find(const Spelling& parts) const {
  if (!parts.problem.empty()) return {};
  std::vector<Event> found;
  if (parts.config) {
    found = find_code(*parts.config, parts.config1);
  } else {
    found = find_name(parts.full);
    if (found.empty()) found = find_name(parts.name);
    if (const auto code = generic_event(cpu_.layout, parts.name); found.empty() && code) {
      found = find_code(*code, 0);
    }
    if (const auto cache = cache_event_config(parts.name); found.empty() && cache) {
      found = find_cache_event(*cache);
    }
    if (found.empty()) found = find_kernel_event(parts);
    if (found.empty()) found = find_pfm_event(parts);
  }
  if (contains(pmus_, parts.pmu)) {
    std::erase_if(found, [&parts](const Event& event) { return event.pmu != parts.pmu; });
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
    if (filter.trigger && verdict_on(event, *filter.trigger) == Verdict::never) continue;
    if (!matches(event.name) && std::ranges::none_of(event.aliases, matches)) continue;
    listed.push_back(event);
  }
  std::ranges::stable_sort(listed, {},
                           [](const Event& event) { return std::tie(event.name, event.pmu); });
  return listed;
}

const PfmPmu& choose_pmu(const std::vector<PfmPmu>& pmus, std::string_view cpu,
                         const machine::CpuIdentity& here) {
  const std::string name = cpu.empty() ? pfm_name_of(here) : pfm_name_of(cpu);
  const PfmPmu* found = find_by(pmus, &PfmPmu::name, name);
  if (found == nullptr && cpu.empty()) found = find_by(pmus, &PfmPmu::present, true);
  if (found != nullptr) return *found;
  if (cpu.empty()) {
    throw Error(
        "no table has events of this CPU ({}); name another CPU, or give a directory of Intel's "
        "event files (github.com/intel/perfmon)",
        shown_cpu(here));
  }
  if (name.starts_with("arm_")) {
    throw ValueError(
        "CPU {}: the events of Arm's CPUs are in skidscan for aarch64 and in portable archives; "
        "this one answers what to record there, see 'skidscan events --help'",
        cpu);
  }
  std::vector<std::string> names;
  for (auto& of_cpu : known_cpus()) std::ranges::move(of_cpu, std::back_inserter(names));
  std::string remedy = did_you_mean(cpu, names);
  if (remedy.empty()) {
    remedy = "; 'skidscan events --help' states how CPUs are listed and newer event files read";
  }
  throw ValueError(
      "CPU {}: neither Intel's event files nor libpfm4 as built for this architecture have it{}",
      cpu, remedy);
}

std::vector<std::vector<std::string>> known_cpus() {
  auto all = all_cpu_names();
  for (const PfmPmu& pmu : core_pmus()) {
    if (find_cpu(pmu.name) == nullptr) all.push_back({pmu.name});
  }
  return all;
}

std::optional<Catalogue> find_catalogue(const machine::Machine& machine) {
  const auto files = intel_files_of(machine.cpu);
  if (!files.empty()) return intel_catalogue(files, true);
  const std::string name = pfm_name_of(machine.cpu);
  if (name.empty()) return std::nullopt;
  return find_pfm_catalogue(name, machine, true);
}

std::optional<Catalogue> find_pfm_catalogue(std::string_view cpu, const machine::Machine& machine,
                                            bool at_hand) {
  const std::vector<PfmPmu> pmus = core_pmus();
  const PfmPmu* found = find_by(pmus, &PfmPmu::name, pfm_name_of(cpu));
  if (found == nullptr) return std::nullopt;
  return pfm_catalogue(*found, machine, at_hand);
}

Catalogue open_catalogue(const CatalogueRequest& request, const machine::Machine& here) {
  const bool at_hand = request.cpu.empty();
  if (request.perfmon.empty()) {
    const auto files = at_hand ? intel_files_of(here.cpu) : intel_files_of(request.cpu);
    if (!files.empty()) return intel_catalogue(files, at_hand);
    const std::vector<PfmPmu> pmus = core_pmus();
    const std::string name = pfm_name_of(request.cpu);
    if (request.may_lack_events && name.starts_with("arm_") &&
        find_by(pmus, &PfmPmu::name, name) == nullptr) {
      return {Cpu{.name = name, .source = "no table of events", .layout = ConfigLayout::arm}, {}};
    }
    return pfm_catalogue(choose_pmu(pmus, request.cpu, here.cpu), here, at_hand);
  }
  Cpu cpu;
  cpu.at_hand = at_hand;
  PerfmonEvents read = read_perfmon(request.perfmon, request.cpu, here.cpu);
  cpu.name = read.name;
  cpu.description = at_hand ? shown_cpu(here.cpu) : std::string();
  cpu.source = fmt::format("perfmon {}", read.version);
  cpu.core = core_of(cpu.name);
  for (Event& event : read.events) event.source = cpu.catalogue();
  return {std::move(cpu), std::move(read.events)};
}

}  // namespace skid::events
