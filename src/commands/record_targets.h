// Which targets a run builds: one for each trigger kind, fitted to the CPU that it will run on.
#pragma once

#include "runway/specification.h"
#include "src/commands/record_choice.h"
#include "src/commands/record_options.h"
#include "src/machine/machine.h"

#include <string>
#include <vector>

namespace skid::commands {

/// Leaves out of the default set what this machine has no trigger for, so that the rest of it is
/// recorded; whoever names an event is told instead. Cycles get another trigger.
void leave_out_impossible(std::vector<ChosenEvent>& events, const PlanOptions& options,
                          const machine::Machine& machine, int cpu,
                          std::vector<std::string>& notes);

/// A target for each trigger that the events need. Throws UsageError for options that fit none of
/// them, Error when `cpu` cannot run one.
std::vector<runway::Specification> choose_targets(const std::vector<ChosenEvent>& events,
                                                  const PlanOptions& options,
                                                  const machine::Machine& machine, int cpu,
                                                  std::vector<std::string>& notes);

}  // namespace skid::commands
