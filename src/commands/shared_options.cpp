#include "src/commands/shared_options.h"

#include "runway/shipped.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/output_options.h"
#include "src/events/catalogue.h"
#include "src/events/event.h"
#include "src/machine/machine.h"
#include "src/run/perftool/event_name.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace skid::commands {
namespace {

std::vector<std::string> names_of_events() {
  auto all = event_names({}, {});
  all.insert(all.end(), {"access", "execute", "faults", "cpu-clock"});
  return all;
}

}  // namespace

Option recordings_option(std::vector<std::string>& inputs) {
  return {"INPUT,-i,--input", Value::file("INPUT", inputs).several(),
          "runs or recordings of perf: files, directories of perf record --threads, - for standard "
          "input (default: skidscan.run)"};
}

Option example_option(std::vector<std::string>& inputs, const std::string& name) {
  return {
      "--example",
      Value::converted("", [&inputs](const auto&) { inputs = {runway::example_run().string()}; }),
      "read the run that comes with skidscan: an emulated Skylake with PEBS, at all precise "
      "levels",
      {name}};
}

Option format_option(Format& format, const std::vector<std::string>& formats) {
  return {"--format", Value::one_of("FORMAT", format, formats),
          fmt::format("output format (default: {})", formats.front())};
}

std::vector<std::string> event_names(const std::string& cpu, const std::string& perfmon) {
  std::vector<std::string> names;
  try {
    const auto catalogue =
        events::open_catalogue({.cpu = cpu, .perfmon = perfmon}, machine::inspect());
    for (const auto& event : catalogue.list({})) names.push_back(lower_case(event.name));
  } catch (const Error&) {  // the remedy is for a command that needs the CPU
  }
  return names;
}

Value split_events(std::vector<std::string>& events) {
  return Value::parsed("EVENT", events, perftool::split_event_list,
                       "events separated by commas, each '/' closed")
      .completing(names_of_events, commandline::Completion::list);
}

Value event_list(std::vector<std::string>& events) {
  return Value::text("EVENT", events).completing(names_of_events, commandline::Completion::list);
}

Option bin_option(std::optional<std::int64_t>& width) {
  constexpr std::int64_t kWidest = 1'000'000;
  return {"--bin", Value::number("N", width, 1, kWidest),
          "width of a histogram bin in instructions (default: 1; for a report the width that it "
          "was made with)"};
}

Option perf_option(std::string& perf) {
  return {"--perf", Value::file("PERF", perf),
          "perf to use, a path or a program in PATH (default: PERF in the environment, else perf)"};
}

Option perfmon_option(std::filesystem::path& directory) {
  return {"--perfmon", Value::directory(directory),
          "directory of Intel's event files (a checkout of github.com/intel/perfmon), for recorded "
          "CPUs that are newer than the built-in tables"};
}

Option allow_not_judged_option(bool& allowed) {
  return {"--allow-not-judged", Value::flag(allowed),
          "let --fail-on pass where nothing could be judged or decided, or a measurement has no "
          "samples"};
}

Option trigger_option(std::optional<runway::TriggerKind>& trigger, const std::string& description) {
  const auto set = [&trigger](const auto& names) {
    trigger = runway::trigger_kind_from(names.back());
  };
  return {"--trigger", Value::converted("KIND", set).suggesting(runway::trigger_kind_names()),
          description};
}

std::vector<Option> output_options(OutputOptions& options) {
  return {{"--color", Value::one_of("WHEN", options.color),
           "color text; auto: on a terminal, unless NO_COLOR is set (default: auto)"},
          {"--ascii", Value::flag(options.ascii),
           "draw bars and lines in ASCII, the default where the locale is not UTF-8"},
          {"--no-pager", Value::flag(options.no_pager),
           "do not start the pager (PAGER, else less) for text on a terminal"},
          {"-q,--quiet", Value::flag(options.quiet), "print nothing but the result and errors"},
          {"-v,--verbose",
           Value::flag(options.verbose),
           "print each step with its reasons: files, times, decisions",
           {"--quiet"}}};
}

std::vector<Option> screen_options(OutputOptions& options) {
  std::vector<Option> all = output_options(options);
  all.insert(all.begin(), {"--details", Value::flag(options.details),
                           "print all tables, histograms and evidence instead of one screen"});
  return all;
}

const std::string& require_directory(const char* option, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return path;
  const bool is_file = std::filesystem::exists(path, ignored);
  throw UsageError("{} {}: {}", option, path,
                   is_file ? "is a file, expected a directory" : "no such directory");
}

}  // namespace skid::commands
