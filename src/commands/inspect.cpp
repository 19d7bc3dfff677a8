#include "src/commands/inspect.h"

#include "src/commands/exit_statuses.h"
#include "src/commands/messages.h"
#include "src/commands/open_recording.h"
#include "src/commands/output_options.h"
#include "src/commands/progress_line.h"
#include "src/commands/standard_output.h"
#include "src/output/inspection/inspection.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/support/error.h"
#include "src/support/json_text.h"
#include "src/words/footer.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

using nlohmann::ordered_json;

struct InspectOptions {
  std::vector<std::string> files = {kDefaultRecording};
  std::string format = "text";
  OutputOptions shown;
};

/// The status of two recordings: one that could not be read outweighs one that was read in part.
ExitStatus worse(ExitStatus one, ExitStatus other) {
  if (one == ExitStatus::failed || other == ExitStatus::failed) return ExitStatus::failed;
  return one == ExitStatus::done ? other : one;
}

ExitStatus run_inspect(const InspectOptions& options) {
  const bool json = options.format == "json";
  ordered_json recordings = ordered_json::array();
  StandardOutput out;
  ExitStatus status = ExitStatus::done;
  const Messages messages(options.shown);
  std::optional<ProgressLine> progress(std::in_place,
                                       ProgressLine::suits_standard_error(messages.quiet()));
  std::size_t number = 0;
  for (const auto& file : options.files) {
    progress->begins("reading", file, ++number, options.files.size());
    const auto begin = std::chrono::steady_clock::now();
    try {
      auto recording = open_recording(file);
      const perfdata::RecordCounts record_counts = perfdata::count_records(recording);
      const output::Inspection inspection{recording, record_counts};
      const auto paused = progress->pause();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      messages.detail(fmt::format("{}: read in {:.2f} s", file, seconds.count()));
      if (json) {
        recordings.push_back(output::inspection_json(inspection));
      } else {
        if (!out.text().empty()) out.text() += '\n';
        out.text() += output::inspection_text(inspection);
      }
      status = worse(status, say_faults(recording));
    } catch (const InputError& error) {
      // The others are still worth showing.
      const auto paused = progress->pause();
      say(error.what());
      status = ExitStatus::failed;
    }
  }
  progress.reset();  // what is printed follows no line that comes and goes
  if (json) {
    const ordered_json object{{"schema", "skidscan.inspect/1"},
                              {"tool_version", SKIDSCAN_VERSION},
                              {"recordings", std::move(recordings)}};
    out.text() = json_text(object, 2) + '\n';
  }
  out.flush();
  return status;
}

}  // namespace

void add_inspect_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<InspectOptions>();
  auto* command = app.add_subcommand("inspect", "print what recordings say of themselves");
  command
      ->add_option("FILE", options->files,
                   "recordings of perf: files, directories of perf record --threads, - for "
                   "standard input (default: perf.data)")
      ->type_name("FILE");
  command->add_option("--format", options->format, "form of what is printed (default: text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  add_output_options(*command, options->shown);
  command->footer(words::footer_text(
      {.notes =
           {"Prints the machine, the command, the events with their samples, and how many records "
            "of each type there are. Control characters in names are written as \\xNN."},
       .exit_statuses =
           exit_statuses({{ExitStatus::failed, "a recording could not be read"},
                          {ExitStatus::read_in_part, "a recording was read only in part"}}),
       .examples = {"perf record -o perf.data -e cpu-clock -- sleep 0.1",
                    "skidscan inspect perf.data"}}));
  command->callback(
      [options, &exit_status] { exit_status = static_cast<int>(run_inspect(*options)); });
}

}  // namespace skid::commands
