// Which targets a run builds: one for each trigger kind, fitted to the CPU that it will run on.
#pragma once

#include "runway/specification.h"
#include "runway/target.h"
#include "src/machine/machine.h"
#include "src/record/choice.h"

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

}  // namespace skid::record
