#include "src/events/default_set.h"

#include "runway/specification.h"
#include "src/events/catalogue.h"
#include "src/events/causes.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/perf_names.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/support/address.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::events {
namespace {

using runway::TriggerKind;

struct Role {
  std::string_view stands_for;
  std::array<Counted, 2> counted;  ///< either will do, the first rather
  /// A precise event is preferred to one that is closer to the intended count. This does not hold
  /// for cycles: their precise events count something else, inverted.
  bool precise_first;
};
constexpr std::array kRoles{
    Role{"a load", {Counted::loads, Counted::loads}, true},
    Role{"an L3-missing load", {Counted::l3_misses, Counted::local_memory}, true},
    Role{"a store", {Counted::stores, Counted::stores}, true},
    Role{"a taken branch", {Counted::taken_branches, Counted::branches}, true},
    Role{"a mispredicted branch", {Counted::mispredicted_conditional, Counted::mispredicted}, true},
    // Each instruction is an event, from whose samples the delay of PEBS follows.
    Role{"instructions", {Counted::instructions, Counted::instructions}, false},
    Role{"cycles", {Counted::cycles, Counted::cycles}, false},
};

/// Codes of fixed counters have the event select 0, at which nothing is counted as a raw event.
bool counts_nothing_raw(const Event& event) {
  constexpr std::uint64_t kEventSelect = 0xff;
  return event.layout == ConfigLayout::intel && (event.config & kEventSelect) == 0;
}

/// The event of the PMU that plays a role best; null where none does.
const Event* event_for(const Role& role, const Catalogue& catalogue, const std::string& pmu) {
  const Event* best = nullptr;
  const auto rank = [&](const Event& event) {
    const bool second = counted_by(event) != role.counted[0];
    return std::make_tuple(role.precise_first && event.precise == false, second, event.deprecated,
                           preference(event));
  };
  for (const Event& event : catalogue.events()) {
    const Counted counted = counted_by(event);
    const bool plays = counted == role.counted[0] || counted == role.counted[1];
    if (!plays || event.pmu != pmu || counts_nothing_raw(event)) continue;
    if (best == nullptr || rank(event) < rank(*best)) best = &event;
  }
  return best;
}

/// The kind whose trigger takes most of an iteration's cycles.
TriggerKind long_trigger(Arch arch) {
  const std::vector<TriggerKind> kinds = kinds_causing(Counted::cycles, arch);
  return kinds.empty() ? TriggerKind{} : kinds.front();
}

/// An event that perf knows by its name.
void add_named(DefaultSet& set, std::string_view stands_for, const std::string& name,
               TriggerKind trigger, Counted counted, std::vector<int> levels) {
  set.events.push_back({stands_for, name, name, trigger, counted, std::move(levels)});
}

void add_level_note(const machine::CorePmu& pmu, DefaultSet& set) {
  const int highest = pmu.max_precise.value_or(0);
  if (highest >= machine::kHighestLevel) return;
  set.notes.push_back(
      fmt::format("{}: levels above {} are left out: caps/max_precise {}", pmu.name,
                  machine::level_name(highest),
                  pmu.max_precise ? fmt::format("is {}", highest) : std::string("does not exist")));
}

void add_catalogued(const machine::CorePmu& pmu, const Catalogue& catalogue, DefaultSet& set) {
  const bool one_of_several = is_of_hybrid(pmu);
  const Cpu& cpu = catalogue.cpu();
  const std::vector<int> levels = machine::levels_up_to(pmu.max_precise.value_or(0));
  for (const Role& role : kRoles) {
    if (role.counted[0] == Counted::instructions && levels.size() == 1) continue;
    const std::string shown_role = one_of_several
                                       ? fmt::format("{} of {}", role.stands_for, pmu.name)
                                       : std::string(role.stands_for);
    const Event* event = event_for(role, catalogue, pmu.name);
    if (event == nullptr) {
      set.notes.push_back(fmt::format("{}: left out, the catalogue ({}) has no event for it",
                                      shown_role, cpu.catalogue()));
      continue;
    }
    const auto trigger = best_trigger(*event);
    if (!trigger) {
      set.notes.push_back(fmt::format("{}: left out, no trigger for {} causes {}", shown_role,
                                      runway::name_of(arch_of(cpu.layout)), event->name));
      continue;
    }
    const bool level_0_only = role.precise_first && event->precise == false;
    if (level_0_only && levels.size() > 1) {
      set.notes.push_back(fmt::format("{}: {} is not precise here; levels above none are left out",
                                      shown_role, event->name));
    }
    set.events.push_back(
        {.stands_for = role.stands_for,
         .name = one_of_several ? fmt::format("{}/{}/", pmu.name, event->name) : event->name,
         .perf_event = raw_perf_event(*event, pmu.name),
         .trigger = *trigger,
         .counted = counted_by(*event),
         .levels = level_0_only ? std::vector<int>{0} : levels});
  }
  add_level_note(pmu, set);
}

/// The three events that AMD's kernels hand to IBS at levels 1 and 2, and IBS itself for triggers
/// that access memory: there the data address shows which samples must be on the trigger.
void add_ibs(const machine::Machine& machine, DefaultSet& set) {
  const auto& others = machine.other_pmus;
  const bool ibs = contains(others, "ibs_op");
  const TriggerKind trigger = long_trigger(Arch::x86_64);
  constexpr std::array<std::tuple<std::string_view, const char*, Counted>, 3> kEvents{
      {{"cycles", "cycles", Counted::cycles},
       {"cycles not in halt", "r076", Counted::cycles},
       {"retired operations", "r0c1", Counted::instructions}}};
  for (const auto& [stands_for, name, counted] : kEvents) {
    add_named(set, stands_for, name, trigger, counted, machine::levels_up_to(ibs ? 2 : 0));
  }
  if (ibs) {
    const bool filters = !machine.may_sample_kernel() && machine.ibs_op && machine.ibs_op->swfilt;
    // The two ways of counting up to the operation to tag.
    add_named(set, "a load", filters ? "ibs_op/swfilt=1/u" : "ibs_op//",
              runway::trigger_kind_from("load"), Counted::cycles, {0});
    add_named(set, "a store", filters ? "ibs_op/cnt_ctl=1,swfilt=1/u" : "ibs_op/cnt_ctl=1/",
              runway::trigger_kind_from("store"), Counted::instructions, {0});
  }
  set.notes.emplace_back(
      ibs ? "AMD: cycles, r076 and r0c1, which IBS samples at p and pp (ppp is left out: IBS has "
            "none), and ibs_op on loads and stores. IBS samples any op, NOPs included; only "
            "samples with the address of the trigger's data are judged. Other events are left out: "
            "they have no precise level"
          : "AMD: cycles, r076 and r0c1 without p and pp: ibs_op, which samples them, does not "
            "exist here");
}

/// Loads and stores, the accesses that a trigger alone in its loop makes (drivers/perf/
/// arm_spe_pmu.c has the terms).
void add_spe(const std::string& pmu, DefaultSet& set) {
  add_named(set, "a load", pmu + "/load_filter=1,jitter=1/u", runway::trigger_kind_from("load"),
            Counted::loads, {0});
  add_named(set, "a store", pmu + "/store_filter=1,jitter=1/u", runway::trigger_kind_from("store"),
            Counted::stores, {0});
  set.notes.push_back(fmt::format(
      "{}: loads and stores in user mode, without p, pp and ppp, which the kernel ignores; with "
      "jitter=1 the CPU varies the interval, so that samples do not keep to some instructions of "
      "the loop; min_latency stays 0, so that hits in the caches are sampled, too",
      pmu));
}

void add_generic(const machine::Machine& machine, const machine::CorePmu& pmu, DefaultSet& set) {
  const Arch arch = runway::arch_from(machine.cpu.arch);
  const bool one_of_several = is_of_hybrid(pmu);
  const std::vector<int> levels = machine::levels_up_to(pmu.max_precise.value_or(0));
  const auto add = [&](std::string_view stands_for, std::string_view name,
                       std::string_view name_of_pmu, TriggerKind trigger) {
    add_named(set, stands_for,
              one_of_several ? fmt::format("{}/{}/", pmu.name, name_of_pmu) : std::string(name),
              trigger, counted_by_generic(name), levels);
  };
  add("cycles", "cycles", "cycles", long_trigger(arch));
  add("a branch", "branches", "branch-instructions", runway::trigger_kind_from("branch-taken"));
  add_level_note(pmu, set);
}

/// perf reads these as a name without quotes (tools/perf/util/parse-events.l).
bool is_plain_name(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view kMore = "0123456789.";
  return !name.empty() && contains(kLetters, name.front()) &&
         std::ranges::all_of(name,
                             [&](char c) { return contains(kLetters, c) || contains(kMore, c); });
}

}  // namespace

bool is_of_hybrid(const machine::CorePmu& pmu) {
  return pmu.name.starts_with("cpu_");
}

const machine::CorePmu* main_core_pmu(const machine::Machine& machine) {
  const auto* found = find_by(machine.core_pmus, &machine::CorePmu::name, "cpu_core");
  if (found != nullptr) return found;
  return machine.core_pmus.empty() ? nullptr : &machine.core_pmus.front();
}

std::string raw_perf_event(const Event& event, std::string_view pmu) {
  std::string terms = fmt::format("config=0x{:x}", event.config);
  if (event.config1 != 0) terms += fmt::format(",config1=0x{:x}", event.config1);
  if (is_plain_name(event.name)) terms += ",name=" + event.name;
  return fmt::format("{}/{}/", pmu, terms);
}

DefaultSet default_set(const machine::Machine& machine, const Catalogue* catalogue) {
  DefaultSet set;
  const machine::CorePmu* main = main_core_pmu(machine);
  if (main == nullptr) return set;
  if (machine::is_amd(machine.cpu)) {
    add_ibs(machine, set);
  } else {
    const auto add = [&](const machine::CorePmu& pmu) {
      if (catalogue != nullptr && find_by(catalogue->events(), &Event::pmu, pmu.name) != nullptr) {
        add_catalogued(pmu, *catalogue, set);
      } else {
        add_generic(machine, pmu, set);
      }
    };
    add(*main);
    for (const machine::CorePmu& other : machine.core_pmus) {
      if (&other != main) add(other);
    }
    if (catalogue == nullptr) {
      set.notes.emplace_back(
          "no table has events of this CPU, so the generic cycles and branches are used; where the "
          "CPU is Intel's, a directory of its event files (github.com/intel/perfmon) gives the "
          "others");
    }
  }
  for (const std::string& other : machine.other_pmus) {
    if (other.starts_with("arm_spe")) add_spe(other, set);
  }
  return set;
}

}  // namespace skid::events
