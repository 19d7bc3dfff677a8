#include "src/commands/reading_options.h"

#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/measure/event_knowledge.h"
#include "src/output/name_list.h"
#include "src/support/error.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/demangle.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace skid {
class Cores;
}  // namespace skid

namespace skid::commands {

std::vector<Option> filter_options(locate::Filter& filter) {
  using locate::Filter;
  const auto numbers = [&filter](Filter::Kind kind) {
    return Value::parsed(
        "LIST", filter.lists[kind], locate::parse_numbers,
        fmt::format("numbers or ranges, such as 0,2-5; at most {}", locate::kMostNumbers));
  };
  const auto names = [&filter](Filter::Kind kind) {
    return Value::text("LIST", filter.lists[kind]).separated();
  };
  Value times = Value::parsed("TIMES", filter.times, locate::parse_times,
                              "START,STOP in seconds, of which one may be missing, or a share of "
                              "the recording: 10%-20%, 10%/2");
  times.repeats = false;
  return {{"-e,--event", split_events(filter.events),
           "only these events: as requested or recorded, or without level and modifiers"},
          {"--pid", numbers(Filter::pid), "only samples of these processes: 1234,1300"},
          {"--tid", numbers(Filter::tid), "only samples of these threads"},
          {"--comm,--comms", names(Filter::comm),
           "only samples of threads that had one of these names then: gzip,sh"},
          {"--dso,--dsos", names(Filter::dso),
           "only samples in these files, by path or file name: libc.so.6,[kernel.kallsyms],[ext4]"},
          {"--cpu", numbers(Filter::cpu), "only samples on these CPUs: 0,2-5"},
          {"--time", std::move(times),
           "only samples from START,STOP, in seconds of the recording's clock, either of which may "
           "be missing; or from a share of it: 10%-20%, or 10%/2 for the second tenth"},
          {"--copied-code", Value::flag(filter.takes_copies),
           "take executable memory that a process mapped over a file for a copy of its code, as "
           "BOLT's hugify and iodlr make it on huge pages; nothing verifies it"}};
}

bool note_filtered(const locate::Filter& filter, const locate::Filtered& filtered,
                   const OutputOptions& shown) {
  if (!filter.events.empty() && !filtered.has_event && !filtered.events.empty()) {
    throw Error("-e {}: no such event was recorded; these were: {}", fmt::join(filter.events, ","),
                output::list_of({filtered.events.begin(), filtered.events.end()}));
  }
  if (filter.selects_all() || filtered.all == 0) return filtered.all > 0;
  const std::string selected =
      fmt::format("filter: {} of {} samples selected", filtered.selected, filtered.all);
  filtered.selected > 0 ? shown.note(selected) : print_error(selected);
  for (const std::string& message : filtered.unmatched(filter)) shown.note(message);
  return filtered.selected > 0;
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

std::vector<Option> reading_options(ReadingOptions& options) {
  std::vector<Option> all{
      {"--hit", Value::text("FUNCTION", options.hit),
       "function whose samples are hits, for third-party targets; requires --runway"},
      {"--runway", Value::text("FUNCTION", options.runway),
       "function whose samples are skids, for third-party targets; requires --hit"},
      perfmon_option(options.perfmon)};
  for (Option& option : binary_options(options.binaries)) all.push_back(std::move(option));
  return all;
}

measure::Choices choices_of(const ReadingOptions& options) {
  if (options.hit.has_value() != options.runway.has_value()) {
    throw UsageError("--hit and --runway: only one is given; give both functions");
  }
  measure::Choices choices{
      {.places = search_places(options.binaries)}, options.hit, options.runway};
  choices.catalogues = std::make_shared<measure::Catalogues>(options.perfmon);
  return choices;
}

std::vector<Option> binary_options(BinaryOptions& options) {
  return {
      {"--binary,--vmlinux", Value::file("FILE", options.files),
       "a copy of a recorded file, or the vmlinux of the recorded kernel, used for the one with "
       "its build-id, or of its name where none was recorded; may be repeated"},
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
  places.remedy =
      "; --binary FILE names a copy, --symfs DIR the recorded files (of a container "
      "/proc/PID/root, of this machine under another name /), and 'perf record --buildid-mmap' "
      "notes which file was mapped";
  for (const std::string& file : options.files) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) {
      throw UsageError("--binary {}: {}", file,
                       std::filesystem::is_directory(file, ignored)
                           ? "is a directory, expected a file; --symfs takes a directory of files"
                           : "no such file");
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
  if (options.no_demangle) places.names = symbols::NameStyle::symbols;
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

}  // namespace skid::commands
