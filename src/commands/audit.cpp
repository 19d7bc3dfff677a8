#include "src/audit/audit.h"

#include "analysis/measurement.h"
#include "plots/figure.h"
#include "plots/figure_kind.h"
#include "plots/figure_options.h"
#include "src/audit/block_bias.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/commands/each_recording.h"
#include "src/commands/inputs.h"
#include "src/commands/measurements.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/plot_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/locate/filter.h"
#include "src/output/audit/audit.h"
#include "src/output/audit/judged.h"
#include "src/support/cores.h"
#include "src/support/error.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

struct AuditOptions : ProfileOptions {
  std::size_t top = 20;
  double min_share = 0;
  std::optional<std::uint64_t> delay;
  bool all = false;
  bool allow_not_judged = false;
  std::optional<output::Condition> fail_on;
  PlotOptions plot;
};

/// The result of --fail-on; what is not done is printed as an error.
ExitStatus gate(output::Condition condition, const std::vector<audit::Audit>& audits) {
  using output::Condition;
  bool failed = false;
  std::uint64_t judged = 0;
  for (const output::Judged& one : output::judged_by_rule(audits)) {
    const bool is_meant = condition == one.condition ||
                          (condition == Condition::impossible && one.is_of_impossible());
    if (!is_meant) continue;
    judged += one.total;
    if (one.count == 0) continue;
    print_error(fmt::format("--fail-on {}: {}", name_of(condition), one.text()));
    failed = true;
  }
  if (failed) return ExitStatus::gate_failed;
  if (judged > 0) return ExitStatus::done;
  std::string reason = output::why_none_is_judged(audits);
  if (condition == Condition::branches) reason = "no branch record could be judged";
  for (const audit::Audit& audit : audits) {
    for (const audit::EventAudit& event : audit.events) {
      if (condition != Condition::biased || event.bias.reason_text.empty()) continue;
      reason = fmt::format("no block could be judged: {}", event.bias.reason_text);
    }
  }
  print_error(
      fmt::format("--fail-on {}: {}; --allow-not-judged accepts that", name_of(condition), reason));
  return ExitStatus::nothing_judged;
}

ExitStatus run_audit(const AuditOptions& options) {
  const auto figure = figure_of(options.plot, plots::Kind::histogram, options.inputs);
  Cores cores(Cores::usable());
  audit::Choices choices{reading_choices(options, &cores), options.top, options.min_share,
                         options.delay};
  choices.all = options.all;
  const auto measured = measured_by(options.skid, options.shown, choices.catalogues);
  if (measured) choices.measured = measured->measurements;
  std::vector<audit::Audit> audits;
  auto read = each_result(
      inputs_or_default_run(options.inputs), cores, options.filter, options.shown, audits,
      [&](const measure::Source& source) { return audit::audit(source, choices); });
  if (audits.empty()) return ExitStatus::failed;
  OutputOptions shown = options.shown;
  shown.details = shown.details || options.all;
  const auto json = [&](const auto& of) { return output::audit_json(of, read.unread); };
  print_as(shown, json, output::audit_csv, output::audit_text, audits);
  write_page(options.plot.html, "skidscan audit", {},
             [&](const auto& page) { return output::audit_text(audits, page); });
  ExitStatus status = options.fail_on ? gate(*options.fail_on, audits) : ExitStatus::done;
  if (status == ExitStatus::nothing_judged && options.allow_not_judged) {
    status = ExitStatus::done;
    // A filter that selects nothing may be a slip.
    if (options.filter.selects_all()) read.sampled = Sampled::all;
  }
  if (figure) draw_beside(status, [&] { plots::draw_figure(audits, *figure); });
  if (status != ExitStatus::done) return status;
  return read.status();
}

}  // namespace

Command audit_command() {
  auto options = std::make_shared<AuditOptions>();
  Command command{
      .name = "audit",
      .description =
          "count samples and branch records that cannot be right, and find uneven samples of "
          "instructions that execute equally often, in any profile",
      .options =
          {
              recordings_option(options->inputs),
              example_option(options->inputs),
              format_option(options->shown.format, {"text", "json", "csv"}),
              {"--top", Value::number("N", options->top),
               "functions, instructions, blocks and branch records listed for each event (default: "
               "20)"},
              {"--min-share", Value::number("SHARE", options->min_share, 0.0, 1.0),
               "list only items of which at least this share of the event's judged samples is "
               "impossible"},
              {"--all", Value::flag(options->all),
               "list instructions that can cause the event, too; implies --details"},
              {"--fail-on", Value::one_of("CONDITION", options->fail_on),
               "exit status 4 if there are impossible samples, data sources, data addresses or IBS "
               "records (samples), impossible branch records (branches), either (impossible), or "
               "biased blocks (biased); 5 if nothing could be judged for it"},
              allow_not_judged_option(options->allow_not_judged),
          },
      .notes =
          {"A sample is impossible if its event is precise on its CPU, it is exact (levels 2 and "
           "3) or follows one instruction alone (level 1), and no category of that instruction can "
           "cause the event. Samples that are not judged are counted by reason. Of instructions "
           "that execute equally often and each cause the event exactly once, it prints whether "
           "their samples are spread evenly. A binary with another build-id than the recorded one "
           "is not used. docs/audit.md describes the rules.",
           "Branch records (perf record -b) are judged if the recording has any: whether each is a "
           "branch that leads where it was recorded to, and whether code runs straight from one to "
           "the next. AutoFDO, Propeller and BOLT use them."},
      .examples = {"skidscan record -e access,faults && skidscan audit",
                   "perf record -e page-faults -c 1 -o perf.data -- ls >/dev/null",
                   "skidscan audit perf.data --all --top 5",
                   "skidscan audit perf.data --symfs / --format json",
                   "skidscan audit perf.data --plot blocks.svg"},
      .run = [options] { return run_audit(*options); }};
  return std::move(command).with(
      figure_options(options->plot, "a figure of blocks"),
      std::vector{html_option(options->plot.html), perfmon_option(options->perfmon)},
      filter_options(options->filter), delay_options(options->delay, options->skid),
      binary_options(options->binaries), screen_options(options->shown));
}

}  // namespace skid::commands
