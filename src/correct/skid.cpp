#include "src/correct/skid.h"

#include "analysis/contract.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/wording.h"
#include "src/audit/rule.h"
#include "src/events/counted.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/measure/run_comparison.h"
#include "src/perfdata/attribute.h"
#include "src/support/address.h"
#include "src/support/command_text.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::correct {
namespace {

using analysis::Measurement;
using audit::Rule;
using measure::RecordedEvent;

constexpr const char* kRecordPrecisely =
    "record an event that the CPU samples precisely with :pp, and with branch records (-b) where "
    "counts of executions are wanted";

/// Returns the command that measures the skid of an event at its level.
std::string measuring(const RecordedEvent& event) {
  const std::string request =
      measure::request_at(event, static_cast<int>(event.attribute.precise_ip));
  if (request.empty()) return "skidscan record -e EVENT, as it was requested";
  return command_text({"skidscan", "record", "-e", request});
}

Skid refused(std::string reason, std::string advice) {
  return {.reason = std::move(reason), .advice = std::move(advice)};
}

Skid nothing_to_correct(std::string reason) {
  return {.verdict = Verdict::nothing_to_correct,
          .instructions = 0,
          .source = SkidSource::known,
          .reason = std::move(reason)};
}

/// Returns the skid of breakpoints and page faults, which follows from their kind; nullopt: other
/// events.
std::optional<Skid> of_rule(Rule rule) {
  using enum Rule;
  if (rule == data_breakpoint || rule == write_breakpoint) {
    return Skid{.verdict = Verdict::corrected, .instructions = 1, .source = SkidSource::known};
  }
  if (rule == data_watchpoint || rule == write_watchpoint) {
    return nothing_to_correct(
        "a watchpoint of aarch64 stops before the access: its samples are on it");
  }
  if (rule == execute_breakpoint) {
    return nothing_to_correct("a breakpoint on execution is sampled at its address");
  }
  if (rule != page_fault) return std::nullopt;
  return nothing_to_correct("page faults are sampled at the instruction that faulted");
}

/// Whether samples show where time was spent, at any kind of instruction.
bool is_of_time(const RecordedEvent& event) {
  return measure::is_generic_cycles(event.attribute) || event.counted == events::Counted::cycles ||
         measure::counts_cycles(event);
}

/// Returns the refusal of events whose skid is not a constant, whatever a run measured; nullopt:
/// other events.
std::optional<Skid> refusal_of(const RecordedEvent& event) {
  const bool is_arm = arch_of_kernel(event.machine.cpu.arch) == Arch::aarch64;
  const char* const record_precisely = is_arm ? analysis::kSampleWithSpe : kRecordPrecisely;
  if (measure::is_clock(event.attribute)) {
    return refused(
        "a timer samples where the program is when it expires; no instruction causes the event, "
        "and a delay that does not depend on the code leaves a profile of time as it is",
        record_precisely);
  }
  if (const bool is_ibs = measure::is_ibs(event); is_ibs || measure::is_spe(event)) {
    return refused(
        fmt::format("{} samples the operation that it tagged; there is no skid to take out",
                    is_ibs ? "IBS" : "SPE"),
        "");
  }
  if (is_of_time(event)) {
    return refused(
        "every instruction takes cycles; a delay that does not depend on the code leaves a profile "
        "of time as it is",
        record_precisely);
  }
  if (!measure::is_core_event(event)) {
    return refused("no rule relates a sample of this event to an instruction", record_precisely);
  }
  if (measure::is_of_arm(event)) {
    return refused(
        "the kernel ignores the precise level of an Arm core PMU: samples are where the interrupt "
        "arrived, at no constant distance",
        analysis::kSampleWithSpe);
  }
  if (event.exact > 0) {
    return refused(fmt::format("{} with EXACT_IP: the kernel states the address of the instruction "
                               "that caused the event",
                               analysis::counted(event.exact, "sample")),
                   "'skidscan audit' counts samples that contradict it");
  }
  if (event.attribute.precise_ip == 0) {
    return refused(
        "level 0 samples where the interrupt arrived: the skid depends on the code and is no "
        "constant",
        record_precisely);
  }
  if (event.attribute.precise_ip > 1) {
    return refused(
        fmt::format("level {} requests skid 0, not a constant skid", event.attribute.precise_ip),
        "'skidscan audit' counts samples that cannot be right");
  }
  if (event.unknown_causes != analysis::NotJudged::none) {
    return refused(
        fmt::format(
            "what can cause this event is not known, so that the correction cannot be checked: {}",
            analysis::describe(event.unknown_causes)),
        "record an event whose causes are known (docs/events.md), or one that the CPU samples "
        "precisely with :pp");
  }
  return std::nullopt;
}

Skid measured_skid(const RecordedEvent& event, const Measurement& run) {
  Skid skid;
  skid.run = run.run.empty() ? run.file : run.run;
  skid.compared = compare_with_run(event, run);
  const std::vector<std::string> differing = differing_from_run(skid.compared);
  const auto& constant = run.constant_skid;
  if (!differing.empty()) {
    skid.reason = fmt::format("{}: not measured on the same machine: {}", skid.run,
                              fmt::join(differing, ", "));
    skid.advice = differing == std::vector<std::string>{measure::kCountedModes}
                      ? "measure the event with the modifiers of the profile"
                      : "measure on the machine of the profile: " + measuring(event);
  } else if (run.contract.verdict == analysis::Verdict::undecided) {
    skid.reason =
        fmt::format("{}: the samples do not decide whether the skid is a constant there", skid.run);
    skid.advice = "measure it with more samples: " + measuring(event);
  } else if (run.contract.verdict != analysis::Verdict::kept || !constant ||
             constant->verdict != analysis::Verdict::kept) {
    skid.reason = fmt::format("{}: the skid is not a constant there: contract {}", skid.run,
                              analysis::name_of(run.contract.verdict));
    skid.advice = kRecordPrecisely;
  } else if (constant->offset != 1) {
    skid.reason =
        fmt::format("{}: the skid is {:+}; +1 can be taken out", skid.run, constant->offset);
    skid.advice = kRecordPrecisely;
  } else {
    skid.verdict = Verdict::corrected;
    skid.instructions = 1;
    skid.source = SkidSource::measured;
  }
  return skid;
}

}  // namespace

Skid skid_of(const RecordedEvent& event, std::optional<std::span<const Measurement>> measured) {
  if (auto skid = of_rule(audit::rule_of(event).rule)) return *skid;
  if (auto skid = refusal_of(event)) return *skid;
  if (!measured) {
    return refused("the skid of this event on this machine is not known",
                   fmt::format("measure it there and pass the run: {}, then this command with "
                               "--skid skidscan.run",
                               measuring(event)));
  }
  std::optional<Skid> found;
  for (const Measurement& run : *measured) {
    if (!measure::measures(run, event.attribute)) continue;
    Skid skid = measured_skid(event, run);
    // Every repetition has to agree.
    const bool contradicts = found && found->instructions != skid.instructions;
    if (contradicts && skid.verdict == Verdict::corrected) {
      skid.verdict = Verdict::refused;
      skid.reason = skid.run + ": its measurements of this event differ";
    }
    found = std::move(skid);
    if (found->verdict != Verdict::corrected) return *found;
  }
  if (found) return *found;
  return refused(fmt::format("the run has no measurement of this event at level {}",
                             event.attribute.precise_ip),
                 "measure it: " + measuring(event));
}

}  // namespace skid::correct
