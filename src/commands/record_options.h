// The command line of `record`.
#pragma once

#include "src/commands/shared_options.h"
#include "src/record/choice.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace skid::commands {

struct RecordOptions : record::PlanOptions {
  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> resume;
  bool force = false;
  OutputOptions shown;
};

/// The options of a plan, which `record` and `kit` share; parsing stores their values in `options`.
std::vector<Option> plan_options(record::PlanOptions& options);

/// All options of `record`.
std::vector<Option> record_options(RecordOptions& options);

}  // namespace skid::commands
