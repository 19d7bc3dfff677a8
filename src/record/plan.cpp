#include "src/record/plan.h"

#include "runway/instructions.h"
#include "runway/trigger.h"
#include "src/events/counted.h"
#include "src/events/kernel_rules.h"
#include "src/instructions/counted.h"
#include "src/machine/answer_reason.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/machine/sampled_event.h"
#include "src/measure/page_fault_checker.h"
#include "src/perfdata/attribute.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/record_command.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "src/support/text.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::events {
class Catalogue;
}  // namespace skid::events

namespace skid::record {
namespace {

using runway::TriggerKind;
using std::chrono::nanoseconds;

/// The kernel's software clocks tick no faster (kernel/events/core.c, cpu_clock_event).
constexpr std::uint64_t kShortestClockPeriod = 10'000;  // nanoseconds

/// The length of the first try for an event of unknown frequency.
constexpr nanoseconds kFirstTry = std::chrono::seconds{1};
constexpr double kBreakpointSeconds = 5e-6;  // a hit, roughly
constexpr double kLongSeconds = 60;

constexpr std::size_t kMostMeasurements = 100'000;

/// NOPs before and after a trigger among tagged operations: its own is one of this many.
constexpr std::uint32_t kTaggedNops = 20;

/// Iterations for `samples` samples, one period more for the first and 2% for those lost.
std::uint64_t iterations_for(std::uint64_t samples, std::uint64_t period, double per_iteration) {
  const double events = 1.02 * static_cast<double>(samples) * static_cast<double>(period) +
                        static_cast<double>(period);
  const double iterations = std::ceil(events / per_iteration);
  constexpr double kMost = 1e18;
  if (iterations > kMost) {
    throw ValueError("period {}: {} samples would take {:.0e} iterations; expected at most 1e18",
                     period, samples, iterations);
  }
  return static_cast<std::uint64_t>(iterations);
}

/// How many samples to read so that as many as were asked for can be judged: samples of other
/// triggers cannot. 0 where a length was asked for instead.
std::uint64_t samples_for(const ChosenEvent& chosen, const PlanOptions& options,
                          const runway::TargetDescription& target) {
  if (options.duration_seconds || options.iterations) return 0;
  if (chosen.event.kind != EventKind::other) return options.samples;
  double share = runway::share_of_triggers(target.specification, chosen.counted);
  if (is_tagged(chosen) && (is_busy(chosen) || chosen.counted == events::Counted::other)) {
    const auto instructions =
        runway::events_per_iteration(target.specification, events::Counted::instructions);
    share =
        static_cast<double>(runway::triggers_of(target.specification)) / instructions.value_or(1);
  }
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(options.samples) / share));
}

runway::RunLength length_for(const ChosenEvent& chosen, const PlanOptions& options,
                             const runway::TargetDescription& target) {
  if (options.duration_seconds) return nanoseconds(std::llround(*options.duration_seconds * 1e9));
  if (options.iterations) return *options.iterations;
  const EventKind kind = chosen.event.kind;
  if (options.extras.frequency) {
    const double rate = static_cast<double>(*options.extras.frequency);
    return nanoseconds(
        std::llround(1e9 * (1.05 * static_cast<double>(options.samples) / rate + 0.02)));
  }
  if (is_counted_by_iteration(kind)) {
    const std::string key = kind == EventKind::faults ? "faults" : chosen.event.name;
    const runway::Expectation* expectation = target.expectation_of(key);
    const double expected = expectation == nullptr ? 0 : expectation->events_per_iteration;
    return iterations_for(options.samples, chosen.period, expected > 0 ? expected : 1);
  }
  if (kind == EventKind::clock) {
    const double period = static_cast<double>(std::max(chosen.period, kShortestClockPeriod));
    const double seconds = 1.05e-9 * period * static_cast<double>(options.samples) + 0.02;
    constexpr double kMostSeconds = 1e9;
    if (seconds > kMostSeconds) {
      throw ValueError("period {}: {} samples would take {:.0e} seconds; expected at most 1e9",
                       chosen.period, options.samples, seconds);
    }
    return nanoseconds(std::llround(seconds * 1e9));
  }
  return kFirstTry;
}

void add_notes(RecordRequest& request, const PlanOptions& options, const machine::PerfTool& perf) {
  std::string note = perftool::control_note(perf);
  if (!note.empty()) request.notes.push_back(std::move(note));
  for (const ChosenEvent& chosen : request.events) {
    const std::string text = chosen.event.text();
    if (!chosen.erratum.empty()) request.notes.push_back(chosen.erratum);
    if (options.extras.frequency) continue;  // what follows is about periods
    if (chosen.event.kind == EventKind::clock && chosen.period < kShortestClockPeriod) {
      request.notes.push_back(
          fmt::format("{}: the kernel samples a clock every {} ns at most, not every {} ns", text,
                      kShortestClockPeriod, chosen.period));
    }
    const runway::Specification& target = request.targets.at(target_file(chosen, options));
    if (chosen.event.kind != EventKind::clock && !is_busy(chosen) && resonates(chosen, target)) {
      request.notes.push_back(fmt::format(
          "{}: the period {} resonates with the loop: it, or with PEBS the period and one, has a "
          "factor in common with the events of an iteration, so that some are never sampled",
          text, chosen.period));
    }
    const std::uint64_t elements = runway::elements_of(target);
    if (chosen.event.kind == EventKind::access && elements != 0) {
      request.notes.push_back(
          fmt::format("{}: the datum is one of the {} elements of {}'s chase, so a sample takes "
                      "{:.0f} iterations; choose a smaller working set or period",
                      text, elements, runway::name_of(target.trigger),
                      static_cast<double>(elements) * static_cast<double>(chosen.period)));
    }
    const double hits = options.iterations ? static_cast<double>(*options.iterations)
                                           : static_cast<double>(options.samples) *
                                                 static_cast<double>(chosen.period);
    if (is_counted_by_iteration(chosen.event.kind) && !options.duration_seconds &&
        hits * kBreakpointSeconds > kLongSeconds) {
      request.notes.push_back(
          fmt::format("{}: a hit costs about 5 microseconds whether sampled or not, so a "
                      "measurement takes about {:.0f} minutes; use a smaller -c",
                      text, hits * kBreakpointSeconds / 60));
    }
  }
}

/// A clock's counter does not decide when it is sampled.
bool has_skid_in_events(const ChosenEvent& chosen, int level) {
  return level == 0 && !chosen.event.perf_picks_level() && chosen.event.kind != EventKind::clock;
}

/// Applies the kernel's answer to a measurement. Missing permissions, PMUs and free counters are
/// left to perf, which knows more of them or records something else.
void apply_answer(const ChosenEvent& chosen, int level, run::PlannedMeasurement& measurement) {
  const auto* answer = find_by(chosen.answers, &machine::LevelAnswer::level, level);
  if (answer == nullptr) return;
  if (answer->acceptance == machine::Acceptance::per_cpu) measurement.extras.per_cpu = true;
  if (answer->acceptance != machine::Acceptance::refused) return;
  if (answer->error != EINVAL && answer->error != EOPNOTSUPP) return;
  measurement.state = run::State::refused;
  measurement.reason = text_of(answer->reason);
}

runway::Specification specification_for(const ChosenEvent& chosen, const PlanOptions& options,
                                        Arch arch) {
  runway::Specification specification = runway::default_specification(arch, chosen.trigger);
  if (options.nops) {
    specification.nops = *options.nops;
  } else if (is_tagged(chosen)) {
    specification.lead_in_nops = kTaggedNops;
    specification.nops = kTaggedNops * static_cast<std::uint32_t>(triggers_of(options));
  }
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
void avoid_resonance(const std::string& file, runway::Specification& specification,
                     const std::vector<ChosenEvent>& events, const PlanOptions& options) {
  constexpr std::uint32_t kMostTriggers = 3, kMostNops = 64;
  const auto any = [&](bool busy) {
    return std::ranges::any_of(events, [&](const ChosenEvent& chosen) {
      return target_file(chosen, options) == file && is_busy(chosen) == busy &&
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
  if (!set.refusal.empty()) throw Error(set.refusal + "; name the size of the working set");
  if (!set.remark.empty()) notes.push_back(set.remark);
  specification.working_set_bytes = set.bytes;
}

/// Why no target of a kind can be run on the CPU; empty: one can.
std::string why_not(TriggerKind kind, const PlanOptions& options, const machine::Machine& machine,
                    int cpu, Arch arch) {
  if (const auto reason = runway::refusal(kind, arch, machine.cpu_flags)) return *reason;
  if (!runway::is_chase(kind) || options.working_set) return {};
  return runway::working_set_for(kind, memory_sizes(machine, cpu)).refusal;
}

/// Removes events without a possible trigger on this machine from the default set, so that the
/// others are recorded; for explicitly named events this is an error. Cycles get another trigger.
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

/// See ChosenEvent::registers_from. A page fault has its registers at any level, a PEBS record of
/// Intel's has them; registers that are not in the records would end their batches.
std::optional<int> registers_from(const ChosenEvent& chosen, const machine::Machine& machine) {
  if (arch_of_kernel(machine.cpu.arch) != Arch::x86_64) return std::nullopt;
  if (chosen.event.kind == EventKind::faults) return 0;
  const bool has_addresses = chosen.event.kind == EventKind::other && !is_busy(chosen);
  if (!has_addresses || machine.cpu.vendor != "GenuineIntel") return std::nullopt;
  perfdata::Attribute attribute;
  attribute.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
  const auto are_batched = events::batches_pebs_records(machine, attribute);
  attribute.sample_type |= PERF_SAMPLE_REGS_INTR;
  const bool ends_batches = events::batches_pebs_records(machine, attribute) != are_batched;
  return ends_batches ? std::nullopt : std::optional(1);
}

}  // namespace

Specifications choose_targets(const std::vector<ChosenEvent>& events, const PlanOptions& options,
                              const machine::Machine& machine, int cpu,
                              std::vector<std::string>& notes) {
  const Arch arch = runway::arch_from(machine.cpu.arch);
  Specifications targets;
  std::vector<std::string> of_tagged;
  for (const ChosenEvent& chosen : events) {
    const auto [target, is_new] = targets.try_emplace(target_file(chosen, options));
    if (!is_new) continue;
    target->second = specification_for(chosen, options, arch);
    avoid_resonance(target->first, target->second, events, options);
    fit_to_cpu(target->second, options, machine, cpu, notes);
    if (is_tagged(chosen) && !options.nops) of_tagged.push_back(target->first);
  }
  if (!of_tagged.empty()) {
    notes.push_back(
        fmt::format("{}: a short runway ({} NOPs), because IBS and SPE tag any operation, and of a "
                    "long one nearly all would be NOPs; the number of NOPs can be chosen",
                    fmt::join(of_tagged, ", "), targets.at(of_tagged.front()).nops));
  }
  const bool chases = std::ranges::any_of(
      targets, [](const auto& target) { return target.second.working_set_bytes != 0; });
  if (options.working_set && !chases) {
    throw ValueError(
        "working set: no trigger chases pointers; expected the trigger load-l2, load-l3 or "
        "load-dram");
  }
  return targets;
}

RecordRequest resolve_request(const PlanOptions& options, const machine::Machine& machine,
                              const machine::PerfTool& perf, const events::Catalogue* catalogue) {
  RecordRequest request;
  request.events = choose_events(options, machine, catalogue, request.notes);
  for (ChosenEvent& chosen : request.events) {
    chosen.registers_from = registers_from(chosen, machine);
  }
  request.cpu = cpu_for(options, {}, machine);
  if (!options.events.empty() && std::ranges::all_of(request.events, [&](const auto& chosen) {
        return chosen.cpu == request.events.front().cpu;
      })) {
    request.cpu = request.events.front().cpu;
  }
  if (options.events.empty()) {
    leave_out_impossible(request.events, options, machine, request.cpu, request.notes);
  }
  std::size_t measurements = 0;
  for (const ChosenEvent& chosen : request.events) {
    measurements += chosen.levels.size() * static_cast<std::size_t>(repeats_of(options));
  }
  if (measurements > kMostMeasurements) {
    throw ValueError("{} repetitions give {} measurements; expected at most {}", options.repeat,
                     measurements, kMostMeasurements);
  }
  const bool has_faults = std::ranges::any_of(
      request.events, [](const auto& chosen) { return chosen.event.kind == EventKind::faults; });
  if (options.check_ip && !has_faults) {
    throw ValueError(
        "the check of IPs needs page faults, of which none are recorded; add -e faults");
  }
  const bool has_counters = std::ranges::any_of(request.events, [](const ChosenEvent& chosen) {
    return std::ranges::any_of(chosen.levels,
                               [&](int level) { return has_skid_in_events(chosen, level); });
  });
  if (options.skid_in_events && !has_counters) {
    throw ValueError(
        "the skid in events needs an event at level none whose counter takes its samples; add "
        "level none, or an event other than a clock");
  }
  request.targets = choose_targets(request.events, options, machine, request.cpu, request.notes);
  add_notes(request, options, perf);
  return request;
}

std::vector<run::PlannedMeasurement> plan_measurements(const PlanOptions& options,
                                                       const RecordRequest& request,
                                                       const Targets& targets) {
  std::vector<run::PlannedMeasurement> plan;
  std::set<std::string> files;
  const int repeats = repeats_of(options);
  PlanOptions each = options;
  if (options.vary_period) each.samples = options.samples / static_cast<std::uint64_t>(repeats) + 1;
  std::vector<std::vector<std::uint64_t>> periods;  // by event and repetition
  for (const ChosenEvent& event : request.events) {
    const runway::TargetDescription& target = targets.at(target_file(event, options)).description;
    periods.push_back(periods_of(event, options, target.specification));
  }
  for (int repeat = 1; repeat <= repeats; ++repeat) {
    for (std::size_t i = 0; i < request.events.size(); ++i) {
      ChosenEvent chosen = request.events[i];
      chosen.period = periods[i].at(static_cast<std::size_t>(repeat) - 1);
      const std::string file = target_file(chosen, options);
      const runway::TargetDescription& target = targets.at(file).description;
      for (const int level : chosen.levels) {
        run::PlannedMeasurement& measurement = plan.emplace_back();
        measurement.event = chosen.event.text();
        measurement.requested = chosen.event.at_level(level);
        measurement.perf_event = chosen.event.for_perf(level, target);
        if (options.skid_in_events && has_skid_in_events(chosen, level)) {
          measurement.perf_event = perftool::with_counter_values(measurement.perf_event);
        }
        if (options.check_ip && chosen.event.kind == EventKind::faults) {
          measurement.cross_check = measure::kPageFaultTracepoint;
        }
        measurement.data_addresses = runway::touches_data(chosen.trigger);
        // Only PMUs have weights. With them instructions leave fixed counter 0 on Redwood Cove and
        // later (rwc_get_event_constraints()), so that levels would be of different counters.
        measurement.weights = measurement.data_addresses && chosen.event.kind == EventKind::other &&
                              chosen.counted != events::Counted::instructions;
        // The tracepoint of a cross-check would have them, too, every time.
        measurement.registers = measurement.data_addresses && measurement.cross_check.empty() &&
                                chosen.registers_from && level >= *chosen.registers_from;
        measurement.level = level;
        measurement.repeat = repeat;
        measurement.period = options.extras.frequency ? 0 : chosen.period;
        measurement.extras = options.extras;
        if (chosen.cpu != request.cpu) measurement.cpu = chosen.cpu;
        measurement.trigger = runway::name_of(chosen.trigger);
        measurement.target = file;
        measurement.length = length_for(chosen, each, target);
        measurement.samples = samples_for(chosen, each, target);
        const bool by_perf = chosen.event.perf_picks_level();
        measurement.file = run::recording_name(by_perf ? chosen.event.name : chosen.event.text(),
                                               by_perf ? "P" : machine::level_name(level),
                                               repeats > 1 ? repeat : 0, files);
        apply_answer(chosen, level, measurement);
      }
    }
  }
  return plan;
}

run::Run planned_run(const PlanOptions& options, const RecordRequest& request,
                     const Targets& targets) {
  run::Run run;
  for (const auto& [file, target] : targets) {
    run.targets.push_back(
        {.trigger = std::string(runway::name_of(target.description.specification.trigger)),
         .file = file,
         .build_id = target.build_id});
  }
  run.tool_version = SKIDSCAN_VERSION;
  run.command_line = own_command_line();
  run.cpu = request.cpu;
  run.samples = options.duration_seconds || options.iterations ? 0 : options.samples;
  run.duration_seconds = options.duration_seconds;
  run.measurements = plan_measurements(options, request, targets);
  run.notes = request.notes;
  return run;
}

Targets build_targets(const Specifications& specifications,
                      const std::filesystem::path& directory) {
  Targets targets;
  for (const auto& [file, specification] : specifications) {
    targets.emplace(file, runway::build_target(specification, directory / file));
  }
  return targets;
}

}  // namespace skid::record
