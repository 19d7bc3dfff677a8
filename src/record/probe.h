// Asking the kernel and perf for events as `record` would sample them.
#pragma once

#include "src/events/catalogue.h"
#include "src/machine/diagnosis.h"
#include "src/record/plan.h"

#include <optional>
#include <vector>

namespace skid::record {

/// A chosen event in the kernel's terms: code, period or frequency, extras. nullopt: only perf
/// knows its code (tracepoints, names of perf's own tables).
std::optional<machine::Candidate> candidate_for(const ChosenEvent& chosen,
                                                const PlanOptions& options,
                                                const machine::Machine& machine);

/// Asks for every event and notes the answers in it.
void ask_kernel(std::vector<ChosenEvent>& events, const PlanOptions& options,
                const machine::SamplingSupport& support, const machine::EventTrial& trial);

/// What can be sampled on a machine: the events that `record` samples there by default. Without a
/// trial the kernel's answers are simulated. `catalogue` null: none covers the CPU.
machine::Diagnosis diagnose(const machine::SamplingSupport& support,
                            const events::Catalogue* catalogue, const machine::EventTrial& trial);

/// Has perf parse and count every event before anything is recorded, so that a mistake costs
/// nothing that was there before. Throws Error with perf's reason, or the remedy for a missing
/// permission.
void check_events(const RecordRequest& request, const machine::Machine& machine,
                  const machine::PerfTool& perf);

/// Has perf look up and count the tracepoint that --check-ip records. Throws Error with the remedy
/// when this kernel does not have it or does not give it to this user.
void check_tracepoint(const machine::PerfTool& perf, std::string_view tracepoint);

}  // namespace skid::record
