#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/commands/each_recording.h"
#include "src/commands/inputs.h"
#include "src/commands/output_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/measure/no_samples.h"
#include "src/measure/precision.h"
#include "src/output/inspection/inspection.h"
#include "src/output/json_document.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/support/cores.h"
#include "src/support/error.h"
#include "src/support/field_values.h"
#include "src/support/names.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::measure {
struct Source;
}  // namespace skid::measure

namespace skid::output {
struct Page;
}  // namespace skid::output

namespace skid::commands {
namespace {

enum class Condition { not_precise };
SKID_NAMES(Condition, "not-precise")

struct InspectOptions {
  std::vector<std::string> files = {kDefaultRecording};
  std::optional<Condition> fail_on;
  OutputOptions shown;
};

ExitStatus run_inspect(const InspectOptions& options) {
  const bool json = options.shown.format == Format::json;
  Json recordings = Json::array();
  std::string text;
  Cores cores(Cores::usable());
  std::vector<std::string> not_precise;
  const auto read = [&](const measure::Source& source, std::size_t) -> Finish {
    const auto recording = std::make_shared<perfdata::Recording>(open_recording(source));
    const auto counts = perfdata::count_records(*recording);
    return [&recordings, &text, &options, &not_precise, json, recording, counts,
            precision = measure::precision_of(*recording, counts)] {
      output::Inspection inspection{*recording, counts};
      if (counts.total_samples() == 0) inspection.no_samples = measure::why_no_samples(*recording);
      for (std::size_t i = 0; i < precision.size(); ++i) {
        inspection.precision_lost.push_back(precision[i].lost);
        if (precision[i].not_precise.empty()) continue;
        not_precise.push_back(fmt::format("{}: {}: {}", recording->path().string(),
                                          recording->attributes()[i].name,
                                          precision[i].not_precise));
      }
      if (json) {
        recordings.push_back(output::inspection_json(inspection));
      } else {
        if (!text.empty()) text += '\n';
        text += output::inspection_text(inspection, options.shown.details);
      }
      return print_faults(*recording) == ExitStatus::read_in_part;
    };
  };
  const InputsRead done =
      each_recording(runs_of_descriptions(options.files), cores, options.shown, read);
  const auto document = [&] {
    return output::recordings_text("skidscan.inspect/1", std::move(recordings), done.unread);
  };
  print_as(options.shown, document, nullptr, [&](const output::Page&) { return text; });
  if (options.fail_on && !not_precise.empty()) {
    for (const std::string& event : not_precise) print_error("--fail-on not-precise: " + event);
    return ExitStatus::gate_failed;
  }
  return done.status();
}

}  // namespace

Command inspect_command() {
  auto options = std::make_shared<InspectOptions>();
  Command command{
      .name = "inspect",
      .description = "print the events, the machine and the command line of recordings",
      .options =
          {{"FILE", Value::file("FILE", options->files).several(),
            "recordings of perf: files, directories of perf record --threads, - for standard input "
            "(default: perf.data)"},
           example_option(options->files, "FILE"),
           format_option(options->shown.format, {"text", "json"}),
           {"--fail-on", Value::one_of("CONDITION", options->fail_on),
            "exit status 4 if an event that can be precise was not recorded so, or a timer was"}},
      .notes = {"Prints a line per event as perf evlist -v does, with its samples, then what is "
                "lost or damaged, the machine and the command; --details adds the other sections "
                "of the header, all fields of samples, and the number of records of each type. "
                "Control characters in names are printed as \\xNN."},
      .exit_statuses = {{ExitStatus::failed, "no recording could be read"},
                        {ExitStatus::read_in_part,
                         "a recording was read only in part or not at all"}},
      .examples = {"perf record -o perf.data -e cpu-clock -- sleep 0.1",
                   "skidscan inspect perf.data"},
      .run = [options] { return run_inspect(*options); }};
  return std::move(command).with(screen_options(options->shown));
}

}  // namespace skid::commands
