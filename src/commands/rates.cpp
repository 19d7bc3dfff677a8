#include "src/output/rates/rates.h"

#include "analysis/rates.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/output_options.h"
#include "src/commands/shared_options.h"
#include "src/perfstat/reading.h"
#include "src/perfstat/selection.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace skid::commands {
namespace {

constexpr const char* kStandardInput = "standard input";

struct RatesOptions {
  std::string file = "-";
  analysis::LfbShares shares;
  OutputOptions shown;
};

void check(const analysis::LfbShares& shares) {
  constexpr double kRounding = 1e-9;
  const double sum = shares.l2.value_or(0) + shares.l3.value_or(0);
  if (sum > 1 + kRounding) {
    throw UsageError(
        "--lfb-l2 and --lfb-l3 add up to {}; shares of the same loads are at most 1 together", sum);
  }
}

/// Throws InputError where perf stat names events and counted none of them.
void require_count(const perfstat::Reading& reading) {
  const auto counted =
      std::ranges::count(reading.events, perfstat::State::counted, &perfstat::EventCount::state);
  if (counted > 0) return;
  throw InputError(
      {reading.file, std::nullopt,
       reading.events.size() == 1
           ? "the one event was not counted"
           : fmt::format("none of {} events was counted", reading.events.size()),
       "a count",
       "count on a machine whose PMU has the events ('skidscan doctor' there prints what it has)"});
}

ExitStatus run_rates(const RatesOptions& options) {
  check(options.shares);
  const bool piped = options.file == "-";
  if (piped && ::isatty(STDIN_FILENO) == 1) {
    throw UsageError(
        "standard input is a terminal; name a file, or send counts, as in: perf stat -j -e EVENTS "
        "COMMAND 2>&1 | skidscan rates");
  }
  const std::string text =
      piped ? read_to_end(FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)),
                          perfstat::kMostBytes, kStandardInput)
            : read_file(options.file, perfstat::kMostBytes);
  const auto reading = perfstat::read_counts(text, piped ? kStandardInput : options.file);
  require_count(reading);
  const auto selection = perfstat::select_counts(reading);
  std::vector<analysis::Rates> rates;
  for (const perfstat::CoreCounts& of : selection.cores) {
    rates.push_back(analysis::compute_rates(of.counts, options.shares));
  }
  const output::RatesReport report{reading, selection, options.shares, rates};
  print_as(options.shown, output::rates_json, nullptr, output::rates_text, report);
  return ExitStatus::done;
}

}  // namespace

Command rates_command() {
  auto options = std::make_shared<RatesOptions>();
  Command command{
      .name = "rates",
      .description =
          "print rates of perf stat counts: instructions per cycle, cache misses, the backend "
          "hierarchy",
      .options =
          {{"FILE", Value::file("FILE", options->file),
            "output of perf stat -j or perf stat -x with any separator; - for standard input "
            "(default: -)"},
           {"--lfb-l2", Value::number("SHARE", options->shares.l2, 0.0, 1.0),
            "share of HIT_LFB that L2 served (default: unknown)"},
           {"--lfb-l3", Value::number("SHARE", options->shares.l3, 0.0, 1.0),
            "share of HIT_LFB that L3 served (default: unknown)"},
           format_option(options->shown.format, {"text", "json"})},
      .notes = {"Events are recognized by any spelling of their name, or by code (r20d1, "
                "cpu/event=0xd1,umask=0x20/). Counts of intervals (-I), CPUs (-A), sockets or "
                "threads are added up; counts that cannot be added are refused. Rates of loads are "
                "intervals if the share of HIT_LFB that each level served is unknown. Rates that "
                "cannot be computed are left out; JSON lists the counts that they lack. A hybrid "
                "CPU has rates for each core type."},
      .exit_statuses = {{ExitStatus::failed,
                         "the input has no counts, is damaged, or cannot be added up"}},
      .examples = {"perf stat -x, -o counts.csv -e "
                   "page-faults,r40d1,r01d1,r08d1,r02d1,r10d1,r04d1,r20d1 true",
                   "skidscan rates counts.csv"},
      .run = [options] { return run_rates(*options); }};
  return std::move(command).with(output_options(options->shown));
}

}  // namespace skid::commands
