#include "src/commands/shared_options.h"

#include "runway/shipped.h"
#include "src/commands/each_recording.h"
#include "src/commands/output_files.h"
#include "src/events/catalogue.h"
#include "src/events/event.h"
#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/output/page.h"
#include "src/record/choice.h"
#include "src/run/perftool/event_name.h"
#include "src/support/error.h"
#include "src/support/text.h"
#include "src/symbols/binary_places.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <regex>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace skid {
class Cores;
}  // namespace skid

namespace skid::commands {
namespace {

/// The name of a given option that only histograms can have; empty: none is given.
std::string option_of_histograms(const PlotOptions& options) {
  if (!options.style.empty()) return "--plot-style";
  return options.logarithmic ? "--log" : "";
}

/// The name of a given option that only figures can have; empty: none is given.
std::string option_of_figures(const PlotOptions& options) {
  const plots::FigureOptions& figure = options.figure;
  if (!options.kind.empty()) return "--kind";
  if (!options.size.empty()) return "--size";
  if (!options.font.empty()) return "--font";
  if (options.no_caption) return "--no-caption";
  if (!figure.title.empty()) return "--title";
  if (!figure.settings.empty()) return "--plot-settings";
  if (!figure.events.empty()) return "--event";
  if (!figure.levels.empty()) return "--precise";
  return option_of_histograms(options);
}

/// A length in pixels; nullopt where it is none for a figure.
std::optional<double> length_of(const std::string& number, std::string_view unit) {
  constexpr double kShortest = 50, kLongest = 32'000;
  const double scale = unit == "in" ? 96 : unit == "cm" ? 96 / 2.54 : 1;
  const double pixels = commandline::number_from<double>(number).value_or(0) * scale;
  return pixels >= kShortest && pixels <= kLongest ? std::optional(pixels) : std::nullopt;
}

/// Of "3.3in", "8cmx6cm" or "500x300px", whose width has the unit of the height. Throws UsageError
/// for a text that is no size.
void set_size(const std::string& text, plots::FigureOptions& figure) {
  static const std::regex kSize("([0-9.]+)(in|cm|px)?(x([0-9.]+)(in|cm|px)?)?");
  std::smatch parts;
  if (std::regex_match(text, parts, kSize)) {
    const std::string unit = parts[5];
    figure.width = length_of(parts[1], parts[2].matched ? parts[2].str() : unit);
    if (parts[3].matched) figure.height = length_of(parts[4], unit);
    if (figure.width && figure.height.has_value() == parts[3].matched) return;
  }
  throw UsageError(
      "--size {}: expected a width of 50 to 32000 px, optionally followed by x and a "
      "height, in in, cm or px, as in 3.3in or 8cmx6cm",
      text);
}

/// Throws UsageError for a size that is none.
void set_font(const std::string& text, plots::FigureOptions& figure) {
  constexpr double kSmallest = 3, kLargest = 100;
  const std::size_t comma = std::min(text.rfind(','), text.size());
  figure.font = text.substr(0, comma);
  if (comma == text.size()) return;
  figure.font_points = commandline::number_from<double>(std::string_view(text).substr(comma + 1));
  if (!figure.font_points || *figure.font_points < kSmallest || *figure.font_points > kLargest) {
    throw UsageError("--font {}: expected points from 3 to 100 after the comma", text);
  }
}

std::vector<std::string> names_of_events() {
  auto all = event_names({}, {});
  all.insert(all.end(), {"access", "execute", "faults", "cpu-clock"});
  return all;
}

/// The elements that `split` finds in one or several lists.
template <typename Split>
Value lists(std::string name, std::vector<std::string>& elements, Split split) {
  Value value = Value::converted(std::move(name), [&elements, split](const auto& given) {
    for (const std::string& list : given) {
      for (std::string& one : split(list)) elements.push_back(std::move(one));
    }
  });
  value.repeats = true;
  return value;
}

/// The events between the commas of one or several lists.
Value split_events(std::vector<std::string>& events) {
  return lists("EVENT", events, perftool::split_event_list)
      .completing(names_of_events, commandline::Completion::list);
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

Option format_option(std::string& format, const std::vector<std::string>& formats) {
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

Value event_list(std::vector<std::string>& events) {
  return Value::text("EVENT", events).completing(names_of_events, commandline::Completion::list);
}

Value level_list(std::function<void(const commandline::Texts&)> use) {
  return Value::converted("LEVELS", std::move(use))
      .separated()
      .completing(
          [] {
            return commandline::Texts{"none", "p", "pp", "ppp"};
          },
          commandline::Completion::list);
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
          "let --fail-on pass where nothing could be judged, or a measurement has no samples"};
}

Option skid_option(std::string& run, std::string_view what) {
  return {"--skid", Value::file("RUN", run),
          fmt::format("run or report that measured the {} of the same event on the same machine",
                      what)};
}

std::vector<Option> delay_options(std::optional<std::uint64_t>& delay, std::string& run) {
  constexpr std::uint64_t kLongestDelay = 1'000'000;
  Option skid = skid_option(run, "delay");
  skid.excludes = {"--delay"};
  return {{"--delay", Value::number("N", delay, 1, kLongestDelay),
           "instructions from a counter's overflow to the record, as report measures them: which "
           "instructions of a loop cannot be sampled, and how often the others are"},
          std::move(skid)};
}

Option trigger_option(std::optional<runway::TriggerKind>& trigger, const std::string& description) {
  const auto set = [&trigger](const auto& names) {
    trigger = runway::trigger_kind_from(names.back());
  };
  return {"--trigger", Value::converted("KIND", set).suggesting(runway::trigger_kind_names()),
          description};
}

Option arch_option(std::string& arch) {
  return {"--arch", Value::text("ARCH", arch).suggesting({"x86_64", "aarch64"}),
          "architecture of the target (default: this machine's)"};
}

std::vector<Option> output_options(OutputOptions& options) {
  return {{"--color", Value::one_of("WHEN", options.color, {"auto", "always", "never"}),
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

std::vector<Option> filter_options(locate::Filter& filter) {
  using locate::Filter;
  const auto numbers = [&filter](Filter::Kind kind) {
    return lists("LIST", filter.lists[kind], [kind](const std::string& list) {
      return locate::parse_numbers(Filter::kOptions[kind], list);
    });
  };
  const auto names = [&filter](Filter::Kind kind) {
    return Value::text("LIST", filter.lists[kind]).separated();
  };
  return {{"-e,--event", split_events(filter.events),
           "only these events: as requested or recorded, or without level and modifiers"},
          {"--pid", numbers(Filter::pid), "only samples of these processes: 1234,1300"},
          {"--tid", numbers(Filter::tid), "only samples of these threads"},
          {"--comm,--comms", names(Filter::comm),
           "only samples of threads that had one of these names then: gzip,sh"},
          {"--dso,--dsos", names(Filter::dso),
           "only samples in these files, by path or file name: libc.so.6,[kernel.kallsyms],[ext4]"},
          {"--cpu", numbers(Filter::cpu), "only samples on these CPUs: 0,2-5"},
          {"--time",
           Value::converted(
               "TIMES",
               [&filter](const auto& texts) { filter.times = locate::parse_times(texts.back()); }),
           "only samples from START,STOP, in seconds of the recording's clock, either of which may "
           "be missing; or from a share of it: 10%-20%, or 10%/2 for the second tenth"}};
}

void note_filtered(const locate::Filter& filter, const locate::Filtered& filtered,
                   const OutputOptions& shown) {
  if (!filter.events.empty() && !filtered.has_event && !filtered.events.empty()) {
    throw UsageError("-e {}: no such event was recorded; these were: {}",
                     fmt::join(filter.events, ","),
                     output::list_of({filtered.events.begin(), filtered.events.end()}));
  }
  if (filter.selects_all() || filtered.all == 0) return;
  shown.note(fmt::format("filter: {} of {} samples selected", filtered.selected, filtered.all));
  for (const std::string& message : filtered.unmatched(filter)) shown.note(message);
}

const std::string& require_directory(const char* option, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return path;
  throw UsageError("{} {}: no such directory", option, path);
}

std::vector<Option> reading_options(ReadingOptions& options) {
  return {{"--hit", Value::text("FUNCTION", options.hit),
           "function whose samples are hits, for third-party targets; requires --runway"},
          {"--runway", Value::text("FUNCTION", options.runway),
           "function whose samples are skids, for third-party targets; requires --hit"},
          perfmon_option(options.perfmon)};
}

measure::Choices choices_of(const ReadingOptions& options) {
  if (options.hit.has_value() != options.runway.has_value()) {
    throw UsageError("--hit and --runway: only one is given; give both functions");
  }
  measure::Choices choices{{}, options.hit, options.runway};
  choices.catalogues = std::make_shared<measure::Catalogues>(options.perfmon);
  return choices;
}

std::vector<Option> binary_options(BinaryOptions& options) {
  return {{"--binary", Value::file("FILE", options.files),
           "a copy of a recorded file, used for the one with its build-id; may be repeated"},
          {"--symfs", Value::directory(options.symfs),
           "directory that contains the recorded paths: a copy of the recorded machine's /"},
          {"--debug-dir", Value::directory(options.debug_directories),
           "directory with the layout of /usr/lib/debug, searched before it; may be repeated"},
          {"--buildid-dir", Value::directory(options.build_id_directory),
           "perf's build-id cache (default: ~/.debug)"},
          {"--debuginfod", Value::flag(options.debuginfod),
           "request missing binaries from the servers of debuginfod (DEBUGINFOD_URLS); without "
           "this option the network is not used"},
          {"--no-demangle", Value::flag(options.no_demangle),
           "print names of C++ and Rust functions as in the symbol table"}};
}

locate::SearchPlaces search_places(const BinaryOptions& options) {
  auto places = locate::SearchPlaces::of_this_machine();
  for (const std::string& file : options.files) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) {
      throw UsageError("--binary {}: no such file", file);
    }
    places.candidates.emplace_back(file);
  }
  if (!options.symfs.empty()) places.symfs = require_directory("--symfs", options.symfs);
  for (const std::string& directory : options.debug_directories) {
    places.by_build_id.debug_directories.emplace_back(require_directory("--debug-dir", directory));
  }
  if (!options.build_id_directory.empty()) {
    places.by_build_id.build_id_cache =
        require_directory("--buildid-dir", options.build_id_directory);
  }
  places.asks_debuginfod = options.debuginfod;
  places.demangles = !options.no_demangle;
  return places;
}

measure::ReadingChoices reading_choices(const ProfileOptions& options, Cores* cores) {
  return {.places = search_places(options.binaries),
          .filter = options.filter,
          .cores = cores,
          .catalogues = std::make_shared<measure::Catalogues>(options.perfmon)};
}

locate::KernelFiles kernel_files(const BinaryOptions& options) {
  auto files = locate::KernelFiles::of_this_machine();
  if (!options.build_id_directory.empty()) files.cache = options.build_id_directory;
  return files;
}

std::vector<Option> figure_options(PlotOptions& options, std::string_view figure) {
  return {
      {"--plot", Value::file("FILE", options.figure.files.plot),
       fmt::format("write {} to FILE.png, FILE.svg or FILE.pdf", figure)},
      {"--plot-script", Value::file("FILE", options.figure.files.script),
       "write the figure as a gnuplot script that contains its data"},
      {"--size", Value::text("WIDTH[xHEIGHT]", options.size),
       "size of the figure in in, cm or px (1/96 inch): 3.3in, 8cmx6cm (default: as large as its "
       "content needs)"},
      {"--title", Value::text("TITLE", options.figure.title),
       "title of the figure (default: that of its kind)"},
      {"--no-caption", Value::flag(options.no_caption),
       "without title, machines and numbers of samples, which a paper has in its caption"},
      {"--font", Value::text("FONT[,POINTS]", options.font),
       "font of the figure (default: Sans in 9 points, in 7 on less than 5 inches)"},
      {"--plot-settings", Value::file("FILE", options.figure.settings),
       "commands of gnuplot that change the look of figures; they run after the built-in ones"}};
}

std::vector<Option> plot_options(PlotOptions& options, plots::Kind default_kind) {
  auto all = figure_options(options, "a figure");
  const auto kinds =
      output::texts_of(plots::kKinds, [](plots::Kind kind) { return std::string(name_of(kind)); });
  const auto add_levels = [&options](const auto& names) {
    for (const auto& name : names) options.figure.levels.push_back(record::parse_level(name));
  };
  all.insert(
      all.end(),
      {{"--kind", Value::one_of("KIND", options.kind, kinds),
        fmt::format("kind of the figure (default: {})", name_of(default_kind))},
       {"--plot-style", Value::one_of("STYLE", options.style, {"panels", "overlaid"}),
        "for histograms: a panel per level, or all levels in one (default: panels)"},
       {"--log", Value::flag(options.logarithmic), "for histograms: samples on a logarithmic axis"},
       {"-e,--event", split_events(options.figure.events),
        "events of the figure: as requested, without level, or by the vendor's name"},
       {"-p,--precise", level_list(add_levels), "precise levels of the figure"},
       {"--html", Value::file("FILE", options.html),
        "write a page for a browser: one file with figures and tables that loads nothing else"}});
  return all;
}

std::optional<plots::FigureOptions> figure_of(const PlotOptions& options, plots::Kind default_kind,
                                              const std::vector<std::string>& inputs) {
  plots::FigureOptions figure = options.figure;
  const bool is_drawn = !figure.files.plot.empty() || !figure.files.script.empty();
  if (const std::string needless = option_of_figures(options); !is_drawn && !needless.empty()) {
    throw UsageError("{}: no figure is drawn; add --plot FILE or --plot-script FILE", needless);
  }
  figure.kind = plots::kind_from(options.kind).value_or(default_kind);
  if (options.style == "overlaid") figure.arrangement = plots::Arrangement::overlaid;
  figure.logarithmic = options.logarithmic;
  figure.caption = !options.no_caption;
  const std::string of_histograms = option_of_histograms(options);
  if (!of_histograms.empty() && figure.kind != plots::Kind::histogram) {
    throw UsageError(
        "{}: is for histograms, the figure is of kind {}; leave it out or add --kind histogram",
        of_histograms, plots::name_of(figure.kind));
  }
  if (!options.size.empty()) set_size(options.size, figure);
  if (!options.font.empty()) set_font(options.font, figure);
  plots::check_figure_files(figure.files);
  if (is_drawn || !options.html.empty()) {
    check_output_files({{"--html", options.html},
                        {"--plot", figure.files.plot},
                        {"--plot-script", figure.files.script}},
                       inputs_or_default_run(inputs));
  }
  return is_drawn ? std::optional(figure) : std::nullopt;
}

}  // namespace skid::commands
