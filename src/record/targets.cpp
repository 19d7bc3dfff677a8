#include "runway/specification.h"
#include "src/record/plan.h"
#include "src/support/error.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace skid::record {

namespace {

using runway::TriggerKind;

runway::Specification specification_for(TriggerKind trigger, const PlanOptions& options,
                                        Arch arch) {
  runway::Specification specification = runway::default_specification(arch, trigger);
  if (options.nops) specification.nops = *options.nops;
  if (options.nop_bytes) specification.nop_bytes = *options.nop_bytes;
  specification.gaps = runway::gaps_for(options.triggers, options.gaps, specification.nops);
  runway::check(specification);
  return specification;
}

runway::MemorySizes memory_sizes(const machine::Machine& machine, int cpu) {
  runway::MemorySizes sizes;
  sizes.memory = machine.memory_bytes;
  const auto caches = machine.data_caches.find(cpu);
  if (caches == machine.data_caches.end()) return sizes;
  for (const machine::DataCache& cache : caches->second) {
    if (cache.level == 1) sizes.l1 = cache.bytes;
    if (cache.level == 2) sizes.l2 = cache.bytes;
    if (cache.level == 3) sizes.l3 = cache.bytes;
  }
  return sizes;
}

/// Adds triggers and NOPs, as few as it takes, until no event of the target resonates. What the
/// user has chosen stays.
void avoid_resonance(runway::Specification& specification, const std::vector<ChosenEvent>& events,
                     const PlanOptions& options) {
  constexpr std::uint32_t kMostTriggers = 3, kMostNops = 64;
  const auto any = [&](bool busy) {
    return std::ranges::any_of(events, [&](const ChosenEvent& chosen) {
      return chosen.trigger == specification.trigger && is_busy(chosen) == busy &&
             !is_tagged(chosen) && resonates(chosen, specification);
    });
  };
  if (!options.triggers && options.gaps.empty()) {
    const auto before = specification.gaps;
    for (std::uint32_t triggers = 2; any(false) && triggers <= kMostTriggers; ++triggers) {
      specification.gaps = runway::gaps_for(triggers, {}, specification.nops);
    }
    if (any(false)) specification.gaps = before;
  }
  const std::uint32_t nops = specification.nops;
  while (!options.nops && any(true) && specification.nops < nops + kMostNops) ++specification.nops;
}

/// Passes the target the facts of the CPU that it will run on. Throws Error when that CPU
/// cannot run it.
void fit_to_cpu(runway::Specification& specification, const PlanOptions& options,
                const machine::Machine& machine, int cpu, std::vector<std::string>& notes) {
  const TriggerKind kind = specification.trigger;
  if (const auto reason = runway::refusal(kind, specification.arch, machine.cpu_flags)) {
    throw Error(*reason);
  }
  if (!runway::is_chase(kind)) return;
  if (options.working_set) {
    specification.working_set_bytes = *options.working_set;
    runway::check(specification);
    return;
  }
  const runway::WorkingSet set = runway::working_set_for(kind, memory_sizes(machine, cpu));
  if (!set.refusal.empty()) throw Error(set.refusal + "; --working-set names a size");
  if (!set.remark.empty()) notes.push_back(set.remark);
  specification.working_set_bytes = set.bytes;
}

/// Why no target of a kind can be run on the CPU; empty: one can.
std::string why_not(TriggerKind kind, const PlanOptions& options, const machine::Machine& machine,
                    int cpu, Arch arch) {
  if (const auto reason = runway::refusal(kind, arch, machine.cpu_flags)) return *reason;
  const bool sized = runway::is_chase(kind);
  if (!sized || options.working_set) return {};
  return runway::working_set_for(kind, memory_sizes(machine, cpu)).refusal;
}

}  // namespace

void leave_out_impossible(std::vector<ChosenEvent>& events, const PlanOptions& options,
                          const machine::Machine& machine, int cpu,
                          std::vector<std::string>& notes) {
  const Arch arch = runway::arch_from(machine.cpu.arch);
  if (options.trigger) return;
  const TriggerKind div = runway::trigger_kind_from("div");
  std::erase_if(events, [&](ChosenEvent& chosen) {
    const std::string reason = why_not(chosen.trigger, options, machine, cpu, arch);
    if (reason.empty()) return false;
    if (is_busy(chosen) && why_not(div, options, machine, cpu, arch).empty()) {
      chosen.trigger = div;
      notes.push_back(fmt::format("{}: with the trigger div; {}", chosen.event.text(), reason));
      return false;
    }
    notes.push_back(fmt::format("{}: left out; {}", chosen.event.text(), reason));
    return true;
  });
}

std::vector<runway::Specification> choose_targets(const std::vector<ChosenEvent>& events,
                                                  const PlanOptions& options,
                                                  const machine::Machine& machine, int cpu,
                                                  std::vector<std::string>& notes) {
  const Arch arch = runway::arch_from(machine.cpu.arch);
  std::vector<runway::Specification> targets;
  std::set<TriggerKind> triggers;
  for (const ChosenEvent& chosen : events) {
    if (!triggers.insert(chosen.trigger).second) continue;
    const bool tagged = std::ranges::any_of(events, [&](const ChosenEvent& one) {
      return one.trigger == chosen.trigger && is_tagged(one);
    });
    targets.push_back(specification_for(chosen.trigger, options, arch));
    // The trigger's operation is one of this many.
    constexpr std::uint32_t kTaggedNops = 20;
    if (tagged && !options.nops) targets.back().nops = targets.back().lead_in_nops = kTaggedNops;
    avoid_resonance(targets.back(), events, options);
    fit_to_cpu(targets.back(), options, machine, cpu, notes);
  }
  const bool chases = std::ranges::any_of(
      targets, [](const runway::Specification& target) { return target.working_set_bytes != 0; });
  if (options.working_set && !chases) {
    throw UsageError(
        "--working-set: no trigger chases pointers; it goes with --trigger load-l2, load-l3 or "
        "load-dram");
  }
  return targets;
}

Targets build_targets(const std::vector<runway::Specification>& specifications,
                      const std::filesystem::path& directory) {
  Targets targets;
  for (const runway::Specification& specification : specifications) {
    const std::string trigger(runway::name_of(specification.trigger));
    targets.emplace(trigger,
                    runway::build_target(specification, directory / ("target." + trigger)));
  }
  return targets;
}

}  // namespace skid::record
