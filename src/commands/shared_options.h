// Options that several commands share. Variables must live as long as the command.
#pragma once

#include "plots/figure.h"
#include "runway/trigger.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commands.h"
#include "src/commands/terminal.h"
#include "src/locate/filter.h"
#include "src/locate/module_store.h"
#include "src/locate/symbolizer.h"
#include "src/measure/measure.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid {
class Cores;
}  // namespace skid

namespace skid::record {
struct PlanOptions;
}

namespace skid::commands {

/// The options of a plan, which `record` and `kit` share; parsing stores their values in `options`.
std::vector<Option> plan_options(record::PlanOptions& options);

/// INPUT..., --input: runs and recordings; without any the default run.
Option recordings_option(std::vector<std::string>& inputs);

/// --example: the run that comes with skidscan, which becomes the only one of `inputs`, those of
/// the argument `name`.
Option example_option(std::vector<std::string>& inputs, const std::string& name = "INPUT");

/// --format, one of `formats`; the first one is the default.
Option format_option(std::string& format, const std::vector<std::string>& formats);

/// Events of `cpu` (empty: this machine's), for completion, as perf spells them; none if it is
/// unknown. `perfmon`: directory; may be empty.
std::vector<std::string> event_names(const std::string& cpu, const std::string& perfmon);

/// The value of --event: events between commas.
Value event_list(std::vector<std::string>& events);
/// The value of --precise, whose names `use` gets: levels between commas.
Value level_list(std::function<void(const commandline::Texts&)> use);

/// --bin: width of histogram bins in instructions.
Option bin_option(std::optional<std::int64_t>& width);

/// --perf, the perf for machine::find_perf().
Option perf_option(std::string& perf);

/// --perfmon DIR, for commands that read recordings.
Option perfmon_option(std::filesystem::path& directory);

/// --allow-not-judged, for gates.
Option allow_not_judged_option(bool& allowed);

/// --skid RUN, for correct::Choices::measured.
/// `what` it measured: "skid".
Option skid_option(std::string& run, std::string_view what);

/// --delay, --skid: the delay from overflow to record, for audit::Choices, or the run that measured
/// it.
std::vector<Option> delay_options(std::optional<std::uint64_t>& delay, std::string& run);

/// --trigger KIND; throws UsageError for an unknown kind while parsing.
Option trigger_option(std::optional<runway::TriggerKind>& trigger, const std::string& description);

/// --arch ARCH: x86_64 or aarch64, for targets of another machine.
Option arch_option(std::string& arch);

/// --color, --ascii, --no-pager, --quiet, --verbose.
std::vector<Option> output_options(OutputOptions& options);

/// The same after --details, for commands whose text fits one screen without it.
std::vector<Option> screen_options(OutputOptions& options);

/// --event, --pid, --tid, --comm, --dso, --cpu, --time: which samples are read.
std::vector<Option> filter_options(locate::Filter& filter);

/// Prints how many samples `filter` selected, and its elements that no sample matches; nothing for
/// a filter that selects all. Throws UsageError if none of the named events was recorded.
void note_filtered(const locate::Filter& filter, const locate::Filtered& filtered,
                   const OutputOptions& shown);

/// `path`. Throws UsageError naming the option if it is no directory.
const std::string& require_directory(const char* option, const std::string& path);

/// --hit, --runway, --perfmon: facts that recordings do not contain.
struct ReadingOptions {
  std::optional<std::string> hit, runway;
  std::filesystem::path perfmon;
};
std::vector<Option> reading_options(ReadingOptions& options);

/// Throws UsageError if only one of --hit and --runway is given.
measure::Choices choices_of(const ReadingOptions& options);

// --binary, --symfs, --debug-dir, --buildid-dir, --debuginfod, --no-demangle: where the recorded
// binaries are, and how their functions are named.

struct BinaryOptions {
  std::vector<std::string> files;
  std::string symfs;
  std::vector<std::string> debug_directories;
  std::string build_id_directory;
  bool debuginfod = false;
  bool no_demangle = false;
};

std::vector<Option> binary_options(BinaryOptions& options);

/// What commands for profiles of any program have in common.
struct ProfileOptions {
  std::vector<std::string> inputs;
  locate::Filter filter;
  std::filesystem::path perfmon;
  std::string skid;  ///< run that measured skid or delay; empty: none
  BinaryOptions binaries;
  OutputOptions shown;
};

/// The choices of these options. `cores`: as measure::Choices::cores. Throws as search_places()
/// does.
measure::ReadingChoices reading_choices(const ProfileOptions& options, Cores* cores = nullptr);

/// The search places of this machine, unless options override them. Throws UsageError for a
/// file or directory that does not exist.
locate::SearchPlaces search_places(const BinaryOptions& options);

/// The same for the kernel's symbols, which perf's build-id cache contains, too.
locate::KernelFiles kernel_files(const BinaryOptions& options);

/// Options of a figure, and of a page with figures, as given; empty for those that were not.
struct PlotOptions {
  std::string html, kind, style, size, font;
  bool logarithmic = false;
  bool no_caption = false;
  plots::FigureOptions figure;  ///< the others
};

/// --plot, --plot-script and the options of its look: of `figure` ("a figure").
std::vector<Option> figure_options(PlotOptions& options, std::string_view figure);

/// The same and those of figures of measurements: --kind, --plot-style, --log, --event, --precise,
/// --html.
std::vector<Option> plot_options(PlotOptions& options, plots::Kind default_kind);

/// The figure to draw; nullopt if neither file is named. Throws UsageError for options that require
/// a figure or another kind, for file names with a wrong suffix, for a size that is none, and as
/// check_output_files() does for the files of figure and page. `inputs`: as given.
std::optional<plots::FigureOptions> figure_of(const PlotOptions& options, plots::Kind default_kind,
                                              const std::vector<std::string>& inputs);

}  // namespace skid::commands
