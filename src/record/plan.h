// What a run will consist of, decided before anything is started. Pure functions.
#pragma once

#include "runway/specification.h"
#include "runway/target.h"
#include "src/events/catalogue.h"
#include "src/machine/machine.h"
#include "src/record/choice.h"
#include "src/run/run.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace skid::record {

/// Removes events without a possible trigger on this machine from the default set, so that the
/// others are recorded; for explicitly named events this is an error. Cycles get another trigger.
void leave_out_impossible(std::vector<ChosenEvent>& events, const PlanOptions& options,
                          const machine::Machine& machine, int cpu,
                          std::vector<std::string>& notes);

/// A target for each trigger that the events need. Throws UsageError for options that fit none of
/// them, Error when `cpu` cannot run one.
std::vector<runway::Specification> choose_targets(const std::vector<ChosenEvent>& events,
                                                  const PlanOptions& options,
                                                  const machine::Machine& machine, int cpu,
                                                  std::vector<std::string>& notes);

using Targets = std::map<std::string, runway::Target>;  ///< by trigger kind

/// Builds them into a directory, each as target.KIND.
Targets build_targets(const std::vector<runway::Specification>& specifications,
                      const std::filesystem::path& directory);

/// What the options come to on this machine.
struct RecordRequest {
  std::vector<ChosenEvent> events;
  std::vector<runway::Specification> targets;  ///< one for each trigger that the events need
  int cpu = 0;                                 ///< of the events that do not name another CPU's PMU
  std::vector<std::string> notes;  ///< what was decided and why, a line each, for people
};

/// Throws UsageError for options that contradict each other, Error for prerequisites that this
/// machine does not have. `catalogue` null: none covers the CPU.
RecordRequest resolve_request(const PlanOptions& options, const machine::Machine& machine,
                              const machine::PerfTool& perf, const events::Catalogue* catalogue);

/// The measurements in the order in which they are recorded: all levels of every event, then
/// all of it again for each repeat. `targets` has one for each trigger of the request.
std::vector<run::PlannedMeasurement> plan_measurements(
    const PlanOptions& options, const RecordRequest& request,
    const std::map<runway::TriggerKind, runway::TargetDescription>& targets);

/// The run that `record` begins with and a kit carries: everything decided, nothing recorded. The
/// machine, perf and the start time are left out.
run::Run planned_run(const PlanOptions& options, const RecordRequest& request,
                     const Targets& targets);

}  // namespace skid::record
