// What a run will consist of, decided before anything is recorded; and asking the kernel and perf
// for events as `record` would sample them.
#pragma once

#include "runway/specification.h"
#include "runway/target.h"
#include "src/machine/diagnosis.h"
#include "src/machine/event_attempt.h"
#include "src/record/choice.h"
#include "src/run/run.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {
class Catalogue;
}  // namespace skid::events

namespace skid::machine {
struct Machine;
struct PerfTool;
struct SamplingSupport;
}  // namespace skid::machine

namespace skid::record {

/// What targets are to be, by the name of the file.
using Specifications = std::map<std::string, runway::Specification>;

/// Chooses the targets that the events need (target_file()). Throws ValueError for options that fit
/// none of them, Error when `cpu` cannot run one.
Specifications choose_targets(const std::vector<ChosenEvent>& events, const PlanOptions& options,
                              const machine::Machine& machine, int cpu,
                              std::vector<std::string>& notes);

/// Targets by the name of their file.
using Targets = std::map<std::string, runway::Target>;

/// Builds targets into a directory.
Targets build_targets(const Specifications& specifications, const std::filesystem::path& directory);

/// The options resolved for this machine.
struct RecordRequest {
  std::vector<ChosenEvent> events;
  Specifications targets;          ///< that the events need
  int cpu = 0;                     ///< CPU of the events that do not name another CPU's PMU
  std::vector<std::string> notes;  ///< what was decided and why, a line each, for people
};

/// Resolves the options. Throws ValueError for options that contradict each other, Error for
/// prerequisites that this machine does not have. `catalogue` null: none covers the CPU.
RecordRequest resolve_request(const PlanOptions& options, const machine::Machine& machine,
                              const machine::PerfTool& perf, const events::Catalogue* catalogue);

/// Lists the measurements in the order in which they are recorded: all levels of every event, then
/// all of it again for each repeat. `targets` has those of the request.
std::vector<run::PlannedMeasurement> plan_measurements(const PlanOptions& options,
                                                       const RecordRequest& request,
                                                       const Targets& targets);

/// Makes the run that `record` begins with: everything decided, nothing recorded.
/// The machine, perf and the start time are left out.
run::Run planned_run(const PlanOptions& options, const RecordRequest& request,
                     const Targets& targets);

/// Asks the kernel for every event and notes the answers in it.
void ask_kernel(std::vector<ChosenEvent>& events, const PlanOptions& options,
                const machine::SamplingSupport& support, const machine::EventTrial& trial);

/// Removes the events that the kernel accepts and never samples from a default set, with a note of
/// the reason; ask_kernel() has asked for them. Throws Error with reason and remedy if such an
/// event was named, or nothing is left.
void leave_out_unsampled(RecordRequest& request, const PlanOptions& options);

/// Diagnoses what can be sampled on a machine, whose kernel `trial` is: the events that `record`
/// samples there by default. `catalogue` null: none covers the CPU.
machine::Diagnosis diagnose(const machine::SamplingSupport& support,
                            const events::Catalogue* catalogue, const machine::EventTrial& trial);

/// Has perf parse and count every event before anything is recorded, so that a mistake costs
/// nothing that was there before. Throws Error with perf's reason, or the remedy for a missing
/// permission; also for cycles without a PMU, in whose place perf records a clock.
void check_events(const RecordRequest& request, const machine::Machine& machine,
                  const machine::PerfTool& perf);

/// Has perf look up and count the tracepoint that --check-ip records. Throws Error with the remedy
/// when this kernel does not have it or does not give it to this user.
void check_tracepoint(const machine::PerfTool& perf, std::string_view tracepoint);

}  // namespace skid::record
