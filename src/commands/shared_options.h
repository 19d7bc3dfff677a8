// Options that several commands share. Variables must live as long as the command.
#pragma once

#include "plots/figure.h"
#include "runway/trigger.h"
#include "src/commands/commands.h"
#include "src/locate/filter.h"
#include "src/locate/kernel_symbols.h"
#include "src/locate/module_store.h"
#include "src/measure/measure.h"
#include "src/output/page.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::record {
struct PlanOptions;
}

namespace skid::commands {

class Messages;

/// The options of a plan, which `record` and `kit` share; parsing stores their values in `options`.
std::vector<Option> plan_options(record::PlanOptions& options);

/// --format, one of `formats`; the first one is the default.
Option format_option(std::string& format, const std::vector<std::string>& formats);

/// Events of `cpu` (empty: this machine's), for completion, as perf spells them; none if it is
/// unknown. `perfmon`: directory; may be empty.
std::vector<std::string> event_names(const std::string& cpu, const std::string& perfmon);

/// The value of --event: events between commas.
Value event_list(std::vector<std::string>& events);

/// --bin: width of histogram bins in instructions.
Option bin_option(std::optional<std::int64_t>& width);

/// --html FILE
Option html_option(std::string& file);

/// --perfmon DIR, for commands that read recordings.
Option perfmon_option(std::string& directory);

/// --allow-not-judged, for gates.
Option allow_not_judged_option(bool& allowed);

/// --skid RUN, for correct::Choices::measured.
/// `what` it measured: "skid".
Option skid_option(std::string& run, std::string_view what);

/// The delay from overflow to record, for audit::Choices.
struct DelayOptions {
  std::optional<std::uint64_t> delay;
  std::string run;  ///< that measured it; empty: none
};
std::vector<Option> delay_options(DelayOptions& options);

/// --trigger KIND; throws UsageError for an unknown kind while parsing.
Option trigger_option(std::optional<runway::TriggerKind>& trigger, const std::string& description);

/// --arch ARCH: x86_64 or aarch64, for targets of another machine.
Option arch_option(std::string& arch);

// --color, --ascii, --no-pager, --quiet, --verbose: the form of text and the amount of messages.

struct OutputOptions {
  std::string color = "auto";
  bool ascii = false;
  bool no_pager = false;
  bool quiet = false;
  bool verbose = false;
  bool details = false;
};

std::vector<Option> output_options(OutputOptions& options);

/// --details, for commands whose text fits one screen without it.
Option details_option(OutputOptions& options);

/// The properties of standard output, unless options override them; at least 60 columns.
output::Page page_for(const OutputOptions& options);

/// Prints text that was laid out for `page_for`, on a terminal through a pager. In ASCII mode the
/// ellipsis of shortened names is replaced, too.
void print_page(const OutputOptions& options, std::string text);

/// --event, --pid, --tid, --comm, --dso, --cpu, --time: which samples are read.
std::vector<Option> filter_options(locate::Filter& filter);

/// Notes how many samples `filter` selected, and what of it no sample matches; nothing for one that
/// selects all. Throws UsageError if none of the named events was recorded.
void note_filtered(const locate::Filter& filter, const locate::Filtered& filtered,
                   const Messages& messages);

// --hit, --runway, --perfmon: what recordings do not contain.

struct ReadingOptions {
  std::optional<std::string> hit, runway;  ///< functions of third-party targets
  std::string perfmon;                     ///< directory; may be empty
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

/// The search places of this machine, unless options override them. Throws UsageError for a
/// file or directory that does not exist.
locate::SearchPlaces search_places(const BinaryOptions& options);

/// The same for the kernel's symbols, which perf's build-id cache contains, too.
locate::KernelFiles kernel_files(const BinaryOptions& options);

// --plot, --plot-script, --kind, --plot-style, --log: figures.

/// As given; empty for options that were not.
struct PlotOptions {
  std::string file, script;
  std::string kind, style;
  bool logarithmic = false;
};

std::vector<Option> plot_options(PlotOptions& options, plots::Kind default_kind);

/// The figure to draw; nullopt if neither file is named. Throws UsageError for options that require
/// a figure or another kind, and for file names with a wrong suffix.
std::optional<plots::FigureOptions> figure_options(const PlotOptions& options,
                                                   plots::Kind default_kind);

}  // namespace skid::commands
