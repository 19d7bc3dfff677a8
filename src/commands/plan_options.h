// The options of a plan, which `record` and `kit` share.
#pragma once

#include "src/commands/commands.h"

#include <vector>

namespace skid::commandline {
struct Option;
}  // namespace skid::commandline

namespace skid::record {
struct PlanOptions;
}

namespace skid::commands {

/// Returns the options that `record` and `kit` share; parsing stores their values in `options`.
std::vector<Option> plan_options(record::PlanOptions& options);

}  // namespace skid::commands
