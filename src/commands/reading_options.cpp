#include "src/commands/reading_options.h"

#include "src/support/error.h"

#include <CLI/CLI.hpp>

namespace skid::commands {

void add_reading_options(CLI::App& command, ReadingOptions& options) {
  command
      .add_option("--hit", options.hit,
                  "function whose samples are hits, for targets that others wrote")
      ->type_name("FUNCTION");
  command.add_option("--runway", options.runway, "function whose samples are skids")
      ->type_name("FUNCTION");
  add_perfmon_option(command, options.perfmon);
}

void add_perfmon_option(CLI::App& command, std::string& directory) {
  command
      .add_option("--perfmon", directory,
                  "directory of Intel's event files (a checkout of github.com/intel/perfmon), "
                  "where libpfm4 does not know the CPU that was recorded")
      ->type_name("DIR");
}

void add_bin_option(CLI::App& command, std::optional<std::int64_t>& width) {
  constexpr std::int64_t kWidest = 1'000'000;
  command
      .add_option("--bin", width,
                  "width of a histogram bin in instructions (default: 1, of a report its own)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, kWidest));
}

measure::Choices choices_of(const ReadingOptions& options) {
  if (options.hit.has_value() != options.runway.has_value()) {
    throw UsageError("--hit and --runway: one without the other says nothing; give both functions");
  }
  return {
      .hit_function = options.hit, .runway_function = options.runway, .perfmon = options.perfmon};
}

}  // namespace skid::commands
