// The command line of `record`.
#pragma once

#include "src/commands/output_options.h"
#include "src/record/choice.h"

#include <filesystem>
#include <optional>

namespace CLI {
class App;
}

namespace skid::commands {

struct RecordOptions : record::PlanOptions {
  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> resume;
  bool force = false;
  OutputOptions shown;
};

/// Adds the options to a command; `options` is filled while the command line is parsed.
void add_plan_options(CLI::App& command, record::PlanOptions& options);

/// The same and those of `record` alone.
void add_record_options(CLI::App& command, RecordOptions& options);

}  // namespace skid::commands
