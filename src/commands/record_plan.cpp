#include "src/commands/record_plan.h"

#include "runway/working_set.h"
#include "src/events/default_set.h"
#include "src/events/spelling.h"
#include "src/events/triggers.h"
#include "src/measure/page_fault_check.h"
#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace skid::commands {

namespace {

using runway::TriggerKind;
using std::chrono::nanoseconds;

// Primes, so that no period is a multiple of the loop. A breakpoint hit or a page fault costs
// microseconds whether it is sampled or not, so those events are sampled often.
constexpr std::uint64_t kBuiltInPeriod = 7;
constexpr std::uint64_t kBuiltInPeriodOfSevens = 11;  // where 7 divides the number of triggers
constexpr std::uint64_t kClockPeriod = 99'991;        // nanoseconds
constexpr std::uint64_t kEventPeriod = 10'007;        // of what nothing is known
/// An event that a trigger causes comes once in an iteration, some thousand cycles.
constexpr std::uint64_t kTriggerPeriod = 1'009;
/// Cycles and instructions come some 10^10 times a second; the kernel throttles above 10^5 samples.
constexpr std::uint64_t kBusyPeriod = 400'009;
/// 16 times a prime: IBS, to which AMD's kernels hand precise events, takes multiples of 16 only.
constexpr std::uint64_t kAmdPeriod = std::uint64_t{16} * 631;
constexpr std::uint64_t kBusyAmdPeriod = std::uint64_t{16} * 25'013;
/// The kernel's software clocks tick no faster (kernel/events/core.c, cpu_clock_event).
constexpr std::uint64_t kShortestClockPeriod = 10'000;  // nanoseconds

/// How long an event of unknown frequency is tried first.
constexpr nanoseconds kFirstTry = std::chrono::seconds{1};
constexpr double kBreakpointSeconds = 5e-6;  // a hit, roughly
constexpr double kLongSeconds = 60;

constexpr std::size_t kMostMeasurements = 100'000;
constexpr std::size_t kLongestFileName = 100;

bool is_built_in(EventKind kind) {
  return kind != EventKind::other;
}

/// The events of one trigger instruction each, whose number follows from the iterations.
bool is_counted_by_iteration(EventKind kind) {
  return kind == EventKind::access || kind == EventKind::execute || kind == EventKind::faults;
}

/// perf's own names of generic hardware events (perf list hw), which it knows better than we do:
/// on a hybrid machine they are events of all cores.
bool is_generic(std::string_view name) {
  constexpr std::array<std::string_view, 14> kNames{"cycles",
                                                    "cpu-cycles",
                                                    "instructions",
                                                    "branches",
                                                    "branch-misses",
                                                    "branch-instructions",
                                                    "bus-cycles",
                                                    "ref-cycles",
                                                    "cache-references",
                                                    "cache-misses",
                                                    "idle-cycles-frontend",
                                                    "idle-cycles-backend",
                                                    "stalled-cycles-frontend",
                                                    "stalled-cycles-backend"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// The event of the catalogue that is meant, where one is: by any name that it has, or by a code.
std::optional<events::Event> catalogued(const RequestedEvent& event,
                                        const events::Catalogue* catalogue,
                                        const machine::Machine& machine) {
  if (catalogue == nullptr || is_built_in(event.kind)) return std::nullopt;
  const machine::CorePmu* pmu = events::main_core_pmu(machine);
  std::vector<events::Event> found;
  try {
    const events::Spelling parts = events::take_apart(event.name, catalogue->cpu().layout);
    const std::string own = events::pfm_name_of(parts.cpu);
    if (!own.empty() && own != catalogue->cpu().name) {
      throw Error(fmt::format("-e {}: is an event of {}, and this CPU is {}", event.text(), own,
                              catalogue->cpu().name));
    }
    // perf's "cpu/cache-misses/" and tracepoints ("sched:sched_switch") are none of ours to name.
    found = catalogue->find(event.name);
  } catch (const UsageError&) {
    return std::nullopt;
  }
  const auto of_pmu = std::find_if(found.begin(), found.end(), [&](const events::Event& candidate) {
    return pmu == nullptr || candidate.pmu == pmu->name;
  });
  return of_pmu == found.end() ? std::nullopt : std::optional(*of_pmu);
}

/// Makes perf take a name of the catalogue as a raw event; what perf can only mean itself stays:
/// its generic events, codes, and terms of a PMU.
void name_for_perf(RequestedEvent& event, const events::Event& known,
                   const machine::Machine& machine) {
  const bool raw = event.name.find('/') != std::string::npos ||
                   events::take_apart(event.name, events::ConfigLayout::intel).config;
  if (raw || is_generic(event.name)) return;
  const machine::CorePmu* pmu = events::main_core_pmu(machine);
  if (pmu == nullptr) {
    throw Error(fmt::format(
        "-e {}: is an event of the CPU ({}), and no PMU of the CPU is here; 'skidscan doctor' says "
        "why",
        event.text(), known.name));
  }
  event.perf_name = events::raw_perf_event(known, pmu->name);
}

TriggerKind trigger_for(const RequestedEvent& event, std::optional<TriggerKind> asked,
                        const std::optional<events::Event>& known,
                        const events::Catalogue* catalogue) {
  if (event.name == "faults") return TriggerKind::fault;
  if (asked) return *asked;
  if (event.kind == EventKind::faults) return TriggerKind::fault;
  if (known && catalogue != nullptr) {
    if (const auto best = events::best_trigger(catalogue->cpu(), *known)) return *best;
  }
  for (const std::string_view branch : {"branches", "branch-instructions", "r00c4", "rc4"}) {
    if (event.name == branch) return TriggerKind::branch_taken;
  }
  return TriggerKind::load;
}

bool is_of_every_instruction(events::Counted counted) {
  return counted == events::Counted::cycles || counted == events::Counted::instructions;
}

/// An event that comes with every cycle or instruction, some 10^10 times a second.
bool is_busy(const ChosenEvent& chosen) {
  return is_of_every_instruction(chosen.counted);
}

std::uint64_t default_period(const ChosenEvent& chosen, const machine::CpuIdentity& cpu,
                             std::size_t triggers) {
  using events::Counted;
  if (chosen.event.kind == EventKind::clock) return kClockPeriod;
  if (is_built_in(chosen.event.kind)) {
    return triggers % kBuiltInPeriod == 0 ? kBuiltInPeriodOfSevens : kBuiltInPeriod;
  }
  const bool busy = is_busy(chosen);
  if (machine::is_amd(cpu)) return busy ? kBusyAmdPeriod : kAmdPeriod;
  if (busy) return kBusyPeriod;
  const bool once = chosen.counted != Counted::other && chosen.counted != Counted::any_instruction;
  return once ? kTriggerPeriod : kEventPeriod;
}

std::vector<int> levels_for(const RequestedEvent& event, const RecordOptions& options) {
  if (event.own_level) {
    if (options.levels) {
      throw UsageError(
          fmt::format("-e {}: names its precise level itself; leave out -p or the p's of the event",
                      event.at_level(*event.own_level)));
    }
    return {*event.own_level};
  }
  if (options.levels) return *options.levels;
  return {0, 1, 2, 3};
}

/// What is recorded when nothing is named: the built-in events, and those that stand for the CPU.
std::vector<ChosenEvent> default_events(const RecordOptions& options,
                                        const machine::Machine& machine,
                                        const events::Catalogue* catalogue,
                                        std::vector<std::string>& notes) {
  std::vector<ChosenEvent> chosen;
  for (RequestedEvent& event : parse_events({"access", "execute", "faults", "cpu-clock"})) {
    if (event.kind == EventKind::access && options.trigger &&
        runway::traits_of(*options.trigger).level != runway::MemoryLevel::none) {
      notes.push_back(
          fmt::format("access: left out, {}'s chase comes to the datum once a round, so that a "
                      "sample can take minutes; name it with -e to record it",
                      runway::name_of(*options.trigger)));
      continue;
    }
    ChosenEvent built_in;
    built_in.levels = levels_for(event, options);
    built_in.trigger = trigger_for(event, options.trigger, std::nullopt, catalogue);
    built_in.event = std::move(event);
    chosen.push_back(std::move(built_in));
  }
  if (!machine.has_core_pmu()) {
    notes.emplace_back(
        "no core PMU here, so the built-in events are recorded, whose skid is known: this shows "
        "the method at work and says nothing of PEBS");
    return chosen;
  }
  notes.emplace_back(
      "no event was named, so the built-in ones, whose skid is known, and those that stand for "
      "this "
      "CPU are recorded; name others with -e");
  events::DefaultSet set = events::default_set(machine, catalogue);
  for (events::DefaultEvent& event : set.events) {
    if (options.trigger && !is_of_every_instruction(event.counted) &&
        !events::may_cause(*options.trigger, event.counted)) {
      notes.push_back(fmt::format("{}: left out, the trigger {} does not cause it", event.name,
                                  runway::name_of(*options.trigger)));
      continue;
    }
    ChosenEvent of_cpu;
    of_cpu.event.name = std::move(event.name);
    of_cpu.event.perf_name = std::move(event.perf_event);
    of_cpu.levels = options.levels.value_or(event.levels);
    of_cpu.trigger = options.trigger.value_or(event.trigger);
    of_cpu.counted = event.counted;
    chosen.push_back(std::move(of_cpu));
  }
  notes.insert(notes.end(), set.notes.begin(), set.notes.end());
  return chosen;
}

std::vector<ChosenEvent> named_events(const RecordOptions& options, const machine::Machine& machine,
                                      const events::Catalogue* catalogue) {
  std::vector<ChosenEvent> chosen;
  for (RequestedEvent& event : parse_events(options.events)) {
    ChosenEvent named;
    const auto known = catalogued(event, catalogue, machine);
    if (known) name_for_perf(event, *known, machine);
    named.levels = levels_for(event, options);
    // Without a PMU perf puts a timer in the place of generic cycles.
    const auto caused = machine.has_core_pmu() ? known : std::nullopt;
    named.trigger = trigger_for(event, options.trigger, caused, catalogue);
    named.counted = known ? events::counted_by(catalogue->cpu(), *known)
                          : events::counted_by_generic(event.name);
    named.event = std::move(event);
    chosen.push_back(std::move(named));
  }
  return chosen;
}

/// The PMU that an event names: "cpu_core" of "cpu_core/cycles/u".
const machine::CorePmu* named_pmu(const RequestedEvent& event, const machine::Machine& machine) {
  for (const machine::CorePmu& pmu : machine.core_pmus) {
    const std::string& told = event.perf_name.empty() ? event.name : event.perf_name;
    if (told.starts_with(pmu.name + "/")) return &pmu;
  }
  return nullptr;
}

std::vector<int> common(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

/// The CPU to pin to: as asked, or the highest one allowed that has the PMUs which the events name.
int choose_cpu(const RecordOptions& options, const std::vector<ChosenEvent>& events,
               const machine::Machine& machine) {
  std::vector<int> candidates = machine.allowed_cpus;
  if (options.cpu) {
    if (!candidates.empty() &&
        !std::binary_search(candidates.begin(), candidates.end(), *options.cpu)) {
      throw Error(fmt::format("--cpu {}: this process may not run there, allowed {}", *options.cpu,
                              fmt::join(candidates, ", ")));
    }
    candidates = {*options.cpu};
  }
  bool named = false;
  for (const ChosenEvent& chosen : events) {
    const machine::CorePmu* pmu = named_pmu(chosen.event, machine);
    if (pmu == nullptr || pmu->cpus.empty()) continue;
    named = true;
    candidates = common(candidates, pmu->cpus);
    if (candidates.empty()) {
      throw Error(fmt::format(
          "-e {}: the PMU {} is on the CPUs {} only; pin there with --cpu, and record events of "
          "different PMUs in runs of their own",
          chosen.event.text(), pmu->name, fmt::join(pmu->cpus, ", ")));
    }
  }
  // Events that name no PMU mean the performance cores of a hybrid machine.
  for (const machine::CorePmu& pmu : machine.core_pmus) {
    if (named || pmu.name != "cpu_core") continue;
    const std::vector<int> cores = common(candidates, pmu.cpus);
    if (!cores.empty()) candidates = cores;
  }
  return candidates.empty() ? 0 : candidates.back();
}

/// Triggers in one iteration.
std::size_t triggers_of(const RecordOptions& options) {
  return options.triggers ? *options.triggers : options.gaps.size() + 1;
}

runway::Specification specification_for(TriggerKind trigger, const RecordOptions& options,
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

/// Gives the target what it needs to know of the CPU that it will run on. Throws Error when that
/// CPU cannot run it.
void fit_to_cpu(runway::Specification& specification, const RecordOptions& options,
                const machine::Machine& machine, RecordRequest& request) {
  const TriggerKind kind = specification.trigger;
  if (const auto reason = runway::refusal(kind, specification.arch, machine.cpu_flags)) {
    throw Error(*reason);
  }
  if (runway::traits_of(kind).level == runway::MemoryLevel::none) return;
  if (options.working_set) {
    specification.working_set_bytes = *options.working_set;
    runway::check(specification);
    return;
  }
  const runway::WorkingSet set = runway::working_set_for(kind, memory_sizes(machine, request.cpu));
  if (!set.refusal.empty()) throw Error(set.refusal + "; --working-set names a size");
  if (!set.remark.empty()) request.notes.push_back(set.remark);
  specification.working_set_bytes = set.bytes;
}

/// Why no target of a kind can be run on the CPU; empty: one can.
std::string why_not(TriggerKind kind, const RecordOptions& options, const machine::Machine& machine,
                    int cpu, Arch arch) {
  if (const auto reason = runway::refusal(kind, arch, machine.cpu_flags)) return *reason;
  const bool sized = runway::traits_of(kind).level != runway::MemoryLevel::none;
  if (!sized || options.working_set) return {};
  return runway::working_set_for(kind, memory_sizes(machine, cpu)).refusal;
}

/// Leaves out of the default set what this machine has no trigger for, so that the rest of it is
/// recorded; whoever names an event is told instead. Cycles have another trigger.
void leave_out_impossible(RecordRequest& request, const RecordOptions& options,
                          const machine::Machine& machine, Arch arch) {
  if (options.trigger) return;
  std::erase_if(request.events, [&](ChosenEvent& chosen) {
    const std::string reason = why_not(chosen.trigger, options, machine, request.cpu, arch);
    if (reason.empty()) return false;
    if (is_busy(chosen) && why_not(TriggerKind::div, options, machine, request.cpu, arch).empty()) {
      chosen.trigger = TriggerKind::div;
      request.notes.push_back(
          fmt::format("{}: with the trigger div; {}", chosen.event.text(), reason));
      return false;
    }
    request.notes.push_back(fmt::format("{}: left out; {}", chosen.event.text(), reason));
    return true;
  });
}

/// Iterations for `samples` samples, one period more for the first and 2% for those lost.
std::uint64_t iterations_for(std::uint64_t samples, std::uint64_t period, double per_iteration) {
  const double events = 1.02 * static_cast<double>(samples) * static_cast<double>(period) +
                        static_cast<double>(period);
  const double iterations = std::ceil(events / per_iteration);
  constexpr double kMost = 1e18;
  if (iterations > kMost) {
    throw UsageError(
        fmt::format("-c {}: {} samples would take {:.0e} iterations, allowed at most 1e18", period,
                    samples, iterations));
  }
  return static_cast<std::uint64_t>(iterations);
}

runway::RunLength length_for(const ChosenEvent& chosen, const RecordOptions& options,
                             const runway::TargetDescription& target) {
  if (options.duration_seconds) {
    return nanoseconds(std::llround(*options.duration_seconds * 1e9));
  }
  const EventKind kind = chosen.event.kind;
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
      throw UsageError(
          fmt::format("-c {}: {} samples would take {:.0e} seconds, allowed at most 1e9",
                      chosen.period, options.samples, seconds));
    }
    return nanoseconds(std::llround(seconds * 1e9));
  }
  return kFirstTry;
}

/// Part of a file name: the event with what is special to a file system or shell replaced.
std::string file_stem(const RequestedEvent& event) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  std::string stem;
  for (const char character : event.text().substr(0, kLongestFileName)) {
    stem += kPlain.find(character) == std::string_view::npos ? '_' : character;
  }
  while (stem.size() > 1 && stem.back() == '_') stem.pop_back();
  return stem;
}

/// `name.data`, or `name~2.data` where another measurement has that already.
std::string unique_file(const std::string& name, std::set<std::string>& taken) {
  std::string file = name + ".data";
  for (int number = 2; !taken.insert(file).second; ++number) {
    file = fmt::format("{}~{}.data", name, number);
  }
  return file;
}

void add_notes(RecordRequest& request, const RecordOptions& options,
               const machine::Machine& machine, const machine::PerfTool& perf) {
  if (!perf.has_control()) {
    request.notes.push_back(fmt::format(
        "perf {} has no --control (it came with 5.10): the targets' start and warm-up are in the "
        "recordings",
        perf.version));
  }
  for (const ChosenEvent& chosen : request.events) {
    const std::string text = chosen.event.text();
    if (chosen.event.name == "cycles" && !machine.has_core_pmu()) {
      request.notes.push_back(
          fmt::format("{}: no core PMU here; perf puts cpu-clock in the place of cycles without a "
                      "word, and the "
                      "report shows what was recorded",
                      text));
    }
    if (chosen.event.kind == EventKind::clock && chosen.period < kShortestClockPeriod) {
      request.notes.push_back(
          fmt::format("{}: the kernel samples a clock every {} ns at most, not every {} ns", text,
                      kShortestClockPeriod, chosen.period));
    }
    const std::uint64_t shared = std::gcd(chosen.period, std::uint64_t{triggers_of(options)});
    if (chosen.event.kind != EventKind::clock && !is_busy(chosen) && shared > 1) {
      request.notes.push_back(fmt::format(
          "{}: the period {} and the number of triggers are multiples of {}, so the same triggers "
          "are sampled again and again",
          text, chosen.period, shared));
    }
    for (const runway::Specification& target : request.targets) {
      const std::uint64_t elements = runway::elements_of(target);
      if (chosen.event.kind == EventKind::access && target.trigger == chosen.trigger &&
          elements != 0) {
        request.notes.push_back(fmt::format(
            "{}: the datum is one of the {} elements of {}'s chase, so a sample takes {:.0f} "
            "iterations; a smaller --working-set or -c ends sooner",
            text, elements, runway::name_of(target.trigger),
            static_cast<double>(elements) * static_cast<double>(chosen.period)));
      }
    }
    const double hits = static_cast<double>(options.samples) * static_cast<double>(chosen.period);
    if (is_counted_by_iteration(chosen.event.kind) && !options.duration_seconds &&
        hits * kBreakpointSeconds > kLongSeconds) {
      request.notes.push_back(fmt::format(
          "{}: a hit costs about 5 microseconds whether sampled or not, so a measurement takes "
          "about {:.0f} minutes; a smaller -c ends sooner",
          text, hits * kBreakpointSeconds / 60));
    }
  }
}

}  // namespace

RecordRequest resolve_request(const RecordOptions& options, const machine::Machine& machine,
                              const machine::PerfTool& perf, const events::Catalogue* catalogue) {
  RecordRequest request;
  request.events = options.events.empty()
                       ? default_events(options, machine, catalogue, request.notes)
                       : named_events(options, machine, catalogue);
  const Arch arch = runway::arch_from(machine.cpu.arch);
  request.cpu = choose_cpu(options, request.events, machine);
  if (options.events.empty()) leave_out_impossible(request, options, machine, arch);
  std::set<TriggerKind> triggers;
  std::size_t measurements = 0;
  for (ChosenEvent& chosen : request.events) {
    chosen.period =
        options.period.value_or(default_period(chosen, machine.cpu, triggers_of(options)));
    if (triggers.insert(chosen.trigger).second) {
      request.targets.push_back(specification_for(chosen.trigger, options, arch));
    }
    measurements += chosen.levels.size() * static_cast<std::size_t>(options.repeat);
  }
  if (measurements > kMostMeasurements) {
    throw UsageError(fmt::format("--repeat {}: gives {} measurements, allowed at most {}",
                                 options.repeat, measurements, kMostMeasurements));
  }
  const bool has_faults =
      std::any_of(request.events.begin(), request.events.end(),
                  [](const ChosenEvent& chosen) { return chosen.event.kind == EventKind::faults; });
  if (options.check_ip && !has_faults) {
    throw UsageError("--check-ip: checks page faults, of which none are recorded; add -e faults");
  }
  for (runway::Specification& specification : request.targets) {
    fit_to_cpu(specification, options, machine, request);
  }
  const bool chases = std::any_of(
      request.targets.begin(), request.targets.end(),
      [](const runway::Specification& target) { return target.working_set_bytes != 0; });
  if (options.working_set && !chases) {
    throw UsageError(
        "--working-set: no trigger chases pointers; it goes with --trigger load-l2, load-l3 or "
        "load-dram");
  }
  add_notes(request, options, machine, perf);
  return request;
}

std::vector<run::PlannedMeasurement> plan_measurements(
    const RecordOptions& options, const RecordRequest& request,
    const std::map<TriggerKind, runway::TargetDescription>& targets) {
  std::vector<run::PlannedMeasurement> plan;
  std::set<std::string> files;
  for (int repeat = 1; repeat <= options.repeat; ++repeat) {
    for (const ChosenEvent& chosen : request.events) {
      const runway::TargetDescription& target = targets.at(chosen.trigger);
      for (const int level : chosen.levels) {
        std::string name = file_stem(chosen.event) + "." + level_text(level);
        if (options.repeat > 1) name += fmt::format(".{}", repeat);
        run::PlannedMeasurement measurement;
        measurement.event = chosen.event.text();
        measurement.requested = chosen.event.at_level(level);
        measurement.perf_event = chosen.event.for_perf(level, target);
        if (options.check_ip && chosen.event.kind == EventKind::faults) {
          measurement.witness = measure::kPageFaultTracepoint;
        }
        measurement.level = level;
        measurement.repeat = repeat;
        measurement.period = chosen.period;
        measurement.trigger = runway::name_of(chosen.trigger);
        measurement.length = length_for(chosen, options, target);
        measurement.file = unique_file(name, files);
        plan.push_back(std::move(measurement));
      }
    }
  }
  return plan;
}

}  // namespace skid::commands
