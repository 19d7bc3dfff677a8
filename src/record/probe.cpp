#include "runway/target.h"
#include "src/events/cpu.h"
#include "src/events/default_set.h"
#include "src/events/kernel_refusal.h"
#include "src/events/kernel_rules.h"
#include "src/events/spelling.h"
#include "src/machine/answer_reason.h"
#include "src/machine/diagnosis.h"
#include "src/machine/event_attempt.h"
#include "src/machine/machine.h"
#include "src/machine/sampled_event.h"
#include "src/machine/sampling_support.h"
#include "src/perfdata/generic_event.h"
#include "src/record/choice.h"
#include "src/record/plan.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/perftool.h"
#include "src/run/perftool/record_command.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::events {
class Catalogue;
}  // namespace skid::events

namespace skid::record {
namespace {

using machine::Candidate;
using machine::EventAttempt;

/// Type and code of an event of a core PMU.
std::optional<EventAttempt> core_event(const std::string& name, const machine::CorePmu& pmu,
                                       const machine::Machine& machine) {
  const bool named = name.starts_with(pmu.name + "/");
  std::string_view terms = name;
  if (named) terms = terms.substr(pmu.name.size() + 1, terms.size() - pmu.name.size() - 2);
  if (const auto* generic = perfdata::find_generic_event(terms)) {
    if (generic->type != PERF_TYPE_HARDWARE) return std::nullopt;
    // "The extended type": the PMU in the upper half of config (perf_event.h, PERF_PMU_TYPE_SHIFT).
    const std::uint64_t of_pmu = machine.core_pmus.size() > 1 ? std::uint64_t{pmu.type} << 32U : 0;
    return EventAttempt{.type = generic->type, .config = of_pmu | generic->config};
  }
  if (named || name.starts_with('r')) {
    const events::Spelling parts = events::parse_spelling(name, events::layout_of(machine.cpu));
    if (parts.config) {
      return EventAttempt{.type = named ? pmu.type : std::uint32_t{PERF_TYPE_RAW},
                          .config = *parts.config,
                          .config1 = parts.config1};
    }
  }
  return std::nullopt;
}

/// Type and code of "ibs_op/cnt_ctl=1,swfilt=1/" (/sys/bus/event_source/devices/ibs_op/format).
std::optional<EventAttempt> ibs_event(std::string_view name, const machine::Machine& machine) {
  constexpr std::string_view kPmu = "ibs_op/";
  if (!machine.ibs_op || !name.starts_with(kPmu) || !name.ends_with('/')) return std::nullopt;
  EventAttempt attempt{.type = machine.ibs_op->type};
  for (const perftool::Term& term : perftool::terms_of(name)) {
    const auto number = term.number();
    if (!number) return std::nullopt;
    if (term.key == "cnt_ctl") {
      attempt.config |= *number * events::kIbsOpCntCtl;
    } else if (term.key == "l3missonly") {
      attempt.config |= *number * events::kIbsOpL3MissOnly;
    } else if (term.key == "ldlat") {
      attempt.config1 |= *number;
    } else if (term.key == "swfilt") {
      attempt.config2 |= *number;
    } else {
      return std::nullopt;
    }
  }
  return attempt;
}

Candidate built_in_candidate(const RequestedEvent& event) {
  const auto candidates = machine::built_in_candidates();
  return *std::ranges::find(
      candidates, name_of(event.kind), [](const auto& one) -> auto& { return one.event.name; });
}

/// Has perf parse an event.
Completed parse_by(const machine::PerfTool& perf, const std::string& event) {
  return run_program({perf.path.string(), "record", "--dry-run", "-e", event, "--", "true"});
}

/// Has perf count an event for a moment, which takes the same permission as sampling it.
Completed count_by(const machine::PerfTool& perf, const std::string& event) {
  return run_program({perf.path.string(), "stat", "-e", event, "--", "true"});
}

/// Has perf parse the event, which is `text` to the user.
void check_syntax(const machine::PerfTool& perf, const std::string& text, const std::string& event,
                  const std::string& near_names) {
  const Completed done = parse_by(perf, event);
  if (done.code.success()) return;
  const std::string reason = perftool::syntax_reason(done.err);
  if (perftool::reports_missing_permission(done.err)) {
    throw Error("{}: no permission to look the event up ({}); run as root", text, reason);
  }
  throw Error(
      "{}: perf does not support this event ({}); see 'perf list' or 'skidscan events --help'{}",
      text, reason, near_names);
}

/// A chosen event in the kernel's terms: code, period or frequency, extras. nullopt: only perf
/// knows its code (tracepoints, names of perf's own tables).
std::optional<Candidate> candidate_for(const ChosenEvent& chosen, const PlanOptions& options,
                                       const machine::Machine& machine) {
  const RequestedEvent& event = chosen.event;
  std::optional<Candidate> candidate;
  if (event.kind != EventKind::other) {
    candidate = built_in_candidate(event);
  } else {
    const std::string& name = event.perf_name.empty() ? event.name : event.perf_name;
    const machine::CorePmu* pmu = named_pmu(name, machine);
    if (pmu == nullptr) pmu = events::main_core_pmu(machine);
    if (pmu == nullptr) return std::nullopt;
    if (const auto attempt = ibs_event(name, machine)) {
      // perf_ibs_init() does not read precise_ip.
      candidate = Candidate{
          .event = {.name = {}, .pmu = "ibs_op"}, .attempt = *attempt, .ignores_levels = true};
    } else if (const auto of_core = core_event(name, *pmu, machine)) {
      candidate =
          Candidate{.event = {.name = {}, .pmu = pmu->name},
                    .attempt = *of_core,
                    .ignores_levels = events::layout_of(machine.cpu) == events::ConfigLayout::arm};
    }
  }
  if (!candidate) return std::nullopt;
  candidate->event.name = event.text();
  candidate->attempt.user_only = contains(event.modifiers, 'u');
  const perftool::Extras& extras = options.extras;
  candidate->attempt.period = extras.frequency.value_or(chosen.period);
  candidate->attempt.frequency = extras.frequency.has_value();
  candidate->attempt.call_graph = !extras.call_graph.empty();
  candidate->attempt.branch_stack = !extras.branch_filter.empty() || extras.call_graph == "lbr";
  candidate->attempt.cpu = chosen.cpu;
  candidate->attempt.whole_cpu = extras.per_cpu;
  return candidate;
}

}  // namespace

void ask_kernel(std::vector<ChosenEvent>& events, const PlanOptions& options,
                const machine::SamplingSupport& support, const machine::EventTrial& trial) {
  const machine::Explain explain = events::explanation_on(support);
  for (ChosenEvent& chosen : events) {
    if (const auto candidate = candidate_for(chosen, options, support.machine)) {
      chosen.answers = machine::ask(*candidate, trial, explain).answers;
    }
  }
}

void leave_out_unsampled(RecordRequest& request, const PlanOptions& options) {
  std::vector<std::pair<machine::Reason, std::vector<std::string>>> left_out;  // events by reason
  std::erase_if(request.events, [&](const ChosenEvent& chosen) {
    if (!is_never_sampled(chosen.answers)) return false;
    const machine::Reason& reason = chosen.answers.front().reason;
    if (!options.events.empty()) {
      throw Error("{}: {}; without -e, record takes what this machine can sample",
                  chosen.event.text(), text_of(reason));
    }
    if (left_out.empty() || left_out.back().first.what != reason.what) {
      left_out.push_back({reason, {}});
    }
    left_out.back().second.push_back(chosen.event.text());
    return true;
  });
  for (const auto& [reason, events] : left_out) {
    std::string note = fmt::format("{}: left out; {}", fmt::join(events, ", "), text_of(reason));
    if (request.events.empty()) throw Error(note);
    request.notes.push_back(std::move(note));
  }
  std::erase_if(request.targets, [&](const auto& target) {
    return std::ranges::none_of(request.events, [&](const ChosenEvent& chosen) {
      return target_file(chosen, options) == target.first;
    });
  });
}

machine::Diagnosis diagnose(const machine::SamplingSupport& support,
                            const events::Catalogue* catalogue, const machine::EventTrial& trial) {
  const PlanOptions options;
  std::vector<std::string> notes;
  machine::Candidates candidates;
  for (const ChosenEvent& chosen : choose_events(options, support.machine, catalogue, notes)) {
    if (auto candidate = candidate_for(chosen, options, support.machine)) {
      candidates.events.push_back(std::move(*candidate));
    }
  }
  if (const machine::CorePmu* pmu = events::main_core_pmu(support.machine)) {
    // With branch records Zen 3 samples only the second one.
    for (const char* name : {"cycles", "r00c4"}) {
      auto attempt = core_event(name, *pmu, support.machine);
      if (!attempt) continue;
      attempt->branch_stack = true;
      attempt->cpu = cpu_for(options, {.name = name}, support.machine);
      candidates.branch_records.push_back(
          {.event = {.name = name, .pmu = pmu->name}, .attempt = *attempt});
      if (!machine::is_amd(support.machine.cpu)) break;
    }
  }
  return machine::diagnose(support, candidates, trial, events::explanation_on(support));
}

void check_events(const RecordRequest& request, const machine::Machine& machine,
                  const machine::PerfTool& perf) {
  // Addresses in place of those of targets that do not exist yet.
  runway::TargetDescription nowhere;
  nowhere.layout.trigger = {0x1000, 0x1001};
  nowhere.layout.datum = 0x2000;
  for (const ChosenEvent& chosen : request.events) {
    const RequestedEvent& event = chosen.event;
    const auto* const generic = perfdata::find_generic_event(event.name);
    const bool is_cycles = generic != nullptr && generic->type == PERF_TYPE_HARDWARE &&
                           generic->config == PERF_COUNT_HW_CPU_CYCLES;
    if (is_cycles && !machine.has_core_pmu()) {
      throw Error(
          "{}: this machine has no PMU that counts cycles, and perf would silently record "
          "cpu-clock in their place ('skidscan doctor' reports why); record cpu-clock itself",
          event.text());
    }
    const int level = *std::ranges::max_element(chosen.levels);
    check_syntax(perf, event.text(), event.for_perf(level, nowhere),
                 chosen.near_names.value_or(""));
    const Completed counted = count_by(perf, event.for_perf(0, nowhere));
    if (!counted.code.success() && perftool::reports_missing_permission(counted.err)) {
      throw Error("{}: {}", event.text(), perftool::permission_reason(machine));
    }
  }
}

void check_tracepoint(const machine::PerfTool& perf, std::string_view tracepoint) {
  const std::string event(tracepoint);
  Completed done = parse_by(perf, event);
  if (done.code.success()) done = count_by(perf, event);
  if (done.code.success()) return;
  if (perftool::reports_missing_permission(done.err)) {
    throw Error("the check of IPs: no permission to sample {}; run as root, or leave it out",
                tracepoint);
  }
  throw Error(
      "the check of IPs: this kernel does not offer {} ({}); it takes x86 and tracefs: 'mount -t "
      "tracefs tracefs /sys/kernel/tracing', or leave it out",
      tracepoint, perftool::syntax_reason(done.err));
}

}  // namespace skid::record
