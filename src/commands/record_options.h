// The command line of `record`.
#pragma once

#include "runway/specification.h"
#include "src/commands/output_options.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace skid::commands {

/// What is to be recorded: the same for `record` and for kits.
struct PlanOptions {
  std::vector<std::string> events;             ///< -e, as given
  std::optional<std::vector<int>> levels;      ///< -p; nullopt: the whole ladder
  std::optional<std::uint64_t> period;         ///< -c
  std::optional<runway::TriggerKind> trigger;  ///< --trigger; nullopt: what the event needs
  std::optional<std::uint32_t> nops;
  std::optional<unsigned> nop_bytes;
  std::optional<unsigned> triggers;          ///< in one iteration
  std::vector<std::uint32_t> gaps;           ///< NOPs between them
  std::optional<std::uint64_t> working_set;  ///< bytes; nullopt: what the level of the kind needs
  std::uint64_t samples = 5000;              ///< a measurement at least
  std::optional<double> duration_seconds;    ///< instead of `samples`
  std::optional<std::uint64_t> iterations;   ///< of the target, instead of `samples`
  int repeat = 1;
  std::optional<int> cpu;
  std::optional<std::filesystem::path> perfmon;  ///< directory of Intel's event files
  bool check_ip = false;  ///< record what tells of the faulting instruction beside page faults
  /// It will be recorded on another machine, of which nothing is known but what the options say.
  bool elsewhere = false;
};

struct RecordOptions : PlanOptions {
  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> resume;
  bool force = false;
  OutputOptions shown;
};

/// Adds the options to a command; `options` is filled while the command line is parsed.
void add_plan_options(CLI::App& command, PlanOptions& options);

/// The same and those of `record` alone.
void add_record_options(CLI::App& command, RecordOptions& options);

}  // namespace skid::commands
