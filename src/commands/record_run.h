// The run that `record` begins with and a kit carries: everything decided, nothing recorded.
#pragma once

#include "runway/target.h"
#include "src/commands/record_options.h"
#include "src/commands/record_plan.h"
#include "src/run/run.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace skid::commands {

using Targets = std::map<std::string, runway::Target>;  ///< by trigger kind

/// Builds them into a directory, each as target.KIND.
Targets build_targets(const std::vector<runway::Specification>& specifications,
                      const std::filesystem::path& directory);

/// The same for `record` and for kits. The machine, perf and the time it begins are left out.
run::Run planned_run(const PlanOptions& options, const RecordRequest& request,
                     const Targets& targets);

}  // namespace skid::commands
