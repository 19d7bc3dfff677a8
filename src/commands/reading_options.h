// Options of commands that read recordings: which samples, with what knowledge, and where the
// recorded binaries are. Variables must live as long as the command.
#pragma once

#include "src/commands/commands.h"
#include "src/commands/output_options.h"
#include "src/locate/filter.h"
#include "src/locate/kernel_symbols.h"
#include "src/locate/search_places.h"
#include "src/measure/measure.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::commandline {
struct Option;
}  // namespace skid::commandline

namespace skid {
class Cores;
}  // namespace skid

namespace skid::commands {

/// Returns the options --event, --pid, --tid, --comm, --dso, --cpu, --time: which samples are read.
std::vector<Option> filter_options(locate::Filter& filter);

/// Prints how many samples `filter` selected, and its elements that no sample matches. Prints
/// nothing for a filter that selects all. Returns whether there are samples that it selects. Throws
/// Error if none of the named events was recorded.
bool note_filtered(const locate::Filter& filter, const locate::Filtered& filtered,
                   const OutputOptions& shown);

/// Returns the option --skid RUN, for correct::Choices::measured. `what`: what the run measured, as
/// in "skid".
Option skid_option(std::string& run, std::string_view what);

/// Returns the options --delay, the delay from overflow to record for audit::Choices, and --skid,
/// the run that measured it.
std::vector<Option> delay_options(std::optional<std::uint64_t>& delay, std::string& run);

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

/// The values of --hit, --runway and --perfmon, facts that recordings do not contain, and of the
/// binary_options().
struct ReadingOptions {
  std::optional<std::string> hit, runway;
  std::filesystem::path perfmon;
  BinaryOptions binaries;
};
std::vector<Option> reading_options(ReadingOptions& options);

/// Returns what to measure. Throws UsageError if only one of --hit and --runway is given, and as
/// search_places() does.
measure::Choices choices_of(const ReadingOptions& options);

/// The options that commands for profiles of any program have in common.
struct ProfileOptions {
  std::vector<std::string> inputs;
  locate::Filter filter;
  std::filesystem::path perfmon;
  std::string skid;  ///< run that measured skid or delay; empty: none
  BinaryOptions binaries;
  OutputOptions shown;
};

/// Returns the choices that these options make. `cores`: as measure::Choices::cores. Throws as
/// search_places() does.
measure::ReadingChoices reading_choices(const ProfileOptions& options, Cores* cores = nullptr);

/// Returns the places where binaries are searched: those of this machine, unless options override
/// them. Throws UsageError for a file or directory that does not exist.
locate::SearchPlaces search_places(const BinaryOptions& options);

/// Returns the files with the kernel's symbols: those of this machine, with the build-id cache that
/// the options name.
locate::KernelFiles kernel_files(const BinaryOptions& options);

}  // namespace skid::commands
