#include "src/commands/record_options.h"

#include "src/record/requested_event.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/words/validators.h"

#include <algorithm>
#include <limits>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace skid::commands {

namespace {

/// perf_event_open refuses periods with the highest bit set.
constexpr std::uint64_t kLongestPeriod = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMostSamples = 1'000'000'000;
constexpr std::uint64_t kMostIterations = 1'000'000'000'000'000'000;
constexpr double kLongestDuration = 86'400;

std::vector<int> parse_levels(const std::vector<std::string>& names) {
  std::vector<int> levels;
  for (const std::string& name : names) {
    const int level = record::parse_level(name);
    if (std::find(levels.begin(), levels.end(), level) != levels.end()) {
      throw UsageError(fmt::format("-p {}: is named twice", name));
    }
    levels.push_back(level);
  }
  return levels;
}

}  // namespace

void add_plan_options(CLI::App& command, record::PlanOptions& options) {
  command
      .add_option("-e,--event", options.events,
                  "event, repeatable or a list with commas: any of perf's, any that 'skidscan "
                  "events' knows, or a built-in one (access, execute, faults, cpu-clock)")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "-p,--precise",
          [&options](const std::vector<std::string>& names) {
            options.levels = parse_levels(names);
          },
          "precise levels (default: none,p,pp,ppp)")
      ->type_name("LEVELS")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option(
          "-c,--count", options.period,
          "events per sample; of clocks, nanoseconds (default: a prime that suits the event)")
      ->type_name("PERIOD")
      ->check(CLI::Range(std::uint64_t{1}, kLongestPeriod));
  command
      .add_option_function<std::string>(
          "--trigger",
          [&options](const std::string& name) {
            options.trigger = runway::trigger_kind_from(name);
          },
          "instruction that causes the event (default: what causes the event, or load)")
      ->type_name("KIND")
      ->check(words::suggested(runway::trigger_kind_names()));
  command.add_option("--nops", options.nops, "NOPs of the runway")->type_name("N");
  command.add_option("--nop-bytes", options.nop_bytes, "length of one NOP in bytes")
      ->type_name("B");
  command
      .add_option("--triggers", options.triggers,
                  "triggers in one iteration, up to 16: what the hardware prefers among them is "
                  "reported")
      ->type_name("K");
  command
      .add_option("--gaps", options.gaps,
                  "NOPs between one trigger and the next, one number less than there are triggers "
                  "(default: unequal, growing up to --nops)")
      ->type_name("N,N")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--working-set", options.working_set,
                  "bytes that the pointer chase of load-l2, load-l3 and load-dram goes through, "
                  "\"64MiB\" (default: from the sizes of this CPU's caches)")
      ->type_name("BYTES")
      ->transform(words::size_in_bytes());
  auto* samples = command.add_option("--samples", options.samples,
                                     "samples a measurement at least (default: 5000)");
  samples->type_name("N")->check(CLI::Range(std::uint64_t{1}, kMostSamples));
  auto* duration = command.add_option("--duration", options.duration_seconds,
                                      "seconds a measurement, instead of --samples");
  duration->type_name("S")->check(words::real_range(0.001, kLongestDuration))->excludes(samples);
  command
      .add_option("--iterations", options.iterations,
                  "iterations of the target a measurement, instead of --samples: the same "
                  "instructions each time")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, kMostIterations))
      ->excludes(samples)
      ->excludes(duration);
  command.add_option("--repeat", options.repeat, "record the whole ladder N times, interleaved")
      ->type_name("N")
      ->check(CLI::Range(1, run::kMostRepeats));
  command
      .add_option("--cpu", options.cpu, "CPU to pin the target to (default: the highest allowed)")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option(
          "--perfmon", options.perfmon,
          "directory of Intel's event files (a checkout of github.com/intel/perfmon), where "
          "libpfm4 does not know this CPU")
      ->type_name("DIR");
  command.add_flag("--check-ip", options.check_ip,
                   "beside page faults record exceptions:page_fault_user, which tells the faulting "
                   "instruction, so that the report can compare (root, x86)");
}

void add_record_options(CLI::App& command, RecordOptions& options) {
  add_plan_options(command, options);
  command
      .add_option("-o,--output", options.output,
                  "directory of the run (default: skidscan.run; an older one becomes "
                  "skidscan.run.old)")
      ->type_name("DIR");
  command.add_flag("--force", options.force, "replace the run that -o names");
  auto* resume = command.add_option("--resume", options.resume,
                                    "record what is missing in a partial run, and nothing else");
  resume->type_name("DIR");

  // A run is finished as it was begun, so nothing that shapes it goes with --resume.
  for (CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option != resume && name != "--help") resume->excludes(option);
  }
  add_output_options(command, options.shown);
}

}  // namespace skid::commands
