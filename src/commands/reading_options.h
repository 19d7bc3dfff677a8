// The options of commands that measure: what recordings do not say themselves.
#pragma once

#include "src/measure/measure.h"

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace skid::commands {

struct ReadingOptions {
  std::optional<std::string> hit, runway;  ///< functions of targets that others wrote
  std::string perfmon;                     ///< directory; may be empty
};

/// --hit, --runway, --perfmon. `options` must live as long as `command`.
void add_reading_options(CLI::App& command, ReadingOptions& options);

/// --perfmon alone, for commands that take no targets of others. `directory` must live as long as
/// `command`.
void add_perfmon_option(CLI::App& command, std::string& directory);

/// --bin. `width`, in instructions, must live as long as `command`.
void add_bin_option(CLI::App& command, std::optional<std::int64_t>& width);

/// What the options choose. Throws UsageError for one of --hit and --runway without the other.
measure::Choices choices_of(const ReadingOptions& options);

}  // namespace skid::commands
