#include "src/commands/rates.h"

#include "src/commands/exit_statuses.h"
#include "src/commands/output_options.h"
#include "src/commands/standard_output.h"
#include "src/output/rates/rates.h"
#include "src/perfstat/reading.h"
#include "src/perfstat/selection.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/json_text.h"
#include "src/words/footer.h"
#include "src/words/validators.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace skid::commands {
namespace {

constexpr const char* kStandardInput = "standard input";

struct RatesOptions {
  std::string file = "-";
  std::optional<std::string> separator;
  analysis::LfbShares shares;
  std::string format = "text";
  OutputOptions shown;
};

std::string read_standard_input() {
  const FileDescriptor input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  return read_to_end(input, perfstat::kMostBytes, kStandardInput);
}

/// "\t" is how perf lets a tab be written.
std::optional<std::string> separator_of(const RatesOptions& options) {
  if (options.separator && options.separator->empty()) {
    throw UsageError("--separator needs at least one character; leave it out to have it detected");
  }
  return options.separator == "\\t" ? "\t" : options.separator;
}

void check(const analysis::LfbShares& shares) {
  for (const auto& [name, share] :
       {std::pair{"--lfb-l2", shares.l2}, std::pair{"--lfb-l3", shares.l3}}) {
    // CLI11's range lets what is no number pass.
    if (share && !(*share >= 0 && *share <= 1)) {
      throw UsageError(fmt::format("{} is {}; allowed is 0 to 1", name, *share));
    }
  }
  constexpr double kRounding = 1e-9;
  const double sum = shares.l2.value_or(0) + shares.l3.value_or(0);
  if (sum > 1 + kRounding) {
    throw UsageError(fmt::format(
        "--lfb-l2 and --lfb-l3 add up to {}; they are shares of the same loads, at most 1", sum));
  }
}

void run_rates(const RatesOptions& options) {
  check(options.shares);
  const auto separator = separator_of(options);
  const bool piped = options.file == "-";
  const std::string text =
      piped ? read_standard_input() : read_file(options.file, perfstat::kMostBytes);
  const auto reading =
      perfstat::read_counts(text, piped ? kStandardInput : options.file, separator);
  const auto selection = perfstat::select_counts(reading);
  const auto rates = analysis::compute_rates(selection.counts, options.shares);
  const output::RatesReport report{reading, selection, options.shares, rates};
  if (options.format == "json") {
    print(json_text(output::rates_json(report), 2) + '\n');
  } else {
    print_page(options.shown, output::rates_text(page_for(options.shown), report));
  }
}

}  // namespace

void add_rates_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RatesOptions>();
  auto* command = app.add_subcommand(
      "rates", "print cache rates and the backend hierarchy of perf stat counts");
  command
      ->add_option("FILE", options->file,
                   "output of perf stat -j or perf stat -x; - for standard input "
                   "(default: -)")
      ->type_name("FILE");
  command
      ->add_option("--separator", options->separator,
                   "what perf stat's -x was given (default: detected)")
      ->type_name("TEXT");
  command
      ->add_option("--lfb-l2", options->shares.l2,
                   "share a of HIT_LFB that L2 served, 0 to 1 (default: unknown)")
      ->type_name("SHARE")
      ->check(words::real_range(0.0, 1.0));
  command
      ->add_option("--lfb-l3", options->shares.l3,
                   "share b of HIT_LFB that L3 served, 0 to 1 (default: unknown)")
      ->type_name("SHARE")
      ->check(words::real_range(0.0, 1.0));
  command->add_option("--format", options->format, "form of what is printed (default: text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  add_output_options(*command, options->shown);
  command->footer(words::footer_text(
      {.notes = {"Events are found by any spelling of their name, or by code (r20d1, "
                 "cpu/event=0xd1,umask=0x20/). Counts of intervals (-I), CPUs (-A), sockets or "
                 "threads are added up; what cannot be is refused. Rates of loads are intervals "
                 "where the share of HIT_LFB that each level served is unknown. A rate whose "
                 "counts are missing names them."},
       .exit_statuses = exit_statuses(
           {{ExitStatus::failed, "the input has no counts, is damaged, or cannot be summed"}}),
       .examples = {"perf stat -x, -o counts.csv -e "
                    "page-faults,r40d1,r01d1,r08d1,r02d1,r10d1,r04d1,r20d1 true",
                    "skidscan rates counts.csv"}}));
  command->callback([options, &exit_status] {
    run_rates(*options);
    exit_status = static_cast<int>(ExitStatus::done);
  });
}

}  // namespace skid::commands
