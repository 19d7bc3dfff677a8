// The options of `record` that select what is recorded.
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

/// Returns these options; parsing stores their values in `options`.
std::vector<Option> plan_options(record::PlanOptions& options);

}  // namespace skid::commands
