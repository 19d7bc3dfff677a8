#include "analysis/wording.h"
#include "runway/trigger.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/plan_options.h"
#include "src/commands/shared_options.h"
#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/machine/event_attempt.h"
#include "src/machine/machine.h"
#include "src/machine/sampling_support.h"
#include "src/measure/page_fault_checker.h"
#include "src/output/report/event_levels.h"
#include "src/record/choice.h"
#include "src/record/directory.h"
#include "src/record/interrupts.h"
#include "src/record/plan.h"
#include "src/record/progress.h"
#include "src/record/session.h"
#include "src/run/packed_run.h"
#include "src/run/run.h"
#include "src/support/command_text.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

using run::State;

struct RecordOptions : record::PlanOptions {
  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> resume;
  std::optional<std::filesystem::path> pack;
  bool force = false;
  std::string perf;  ///< --perf; empty: not given
  OutputOptions shown;
};

std::size_t count(const run::Run& run, State state) {
  return static_cast<std::size_t>(
      std::ranges::count(run.measurements, state, &run::PlannedMeasurement::state));
}

/// Whether a measurement is finished and has no sample: the event was accepted and never sampled.
bool is_empty(const run::PlannedMeasurement& measurement) {
  return measurement.state == State::finished && !measurement.reason.empty();
}

std::size_t count_empty(const run::Run& run) {
  return static_cast<std::size_t>(std::ranges::count_if(run.measurements, is_empty));
}

/// "5 of 16 measurements kept; finish with: skidscan record --resume DIR --pack FILE.tar".
std::string what_is_kept(const run::Run& run, const std::string& name,
                         const RecordOptions& options) {
  const std::size_t finished = count(run, State::finished);
  if (finished == 0) return "nothing was recorded";
  std::vector<std::string> command{"skidscan", "record", "--resume", file_word(name)};
  if (options.pack) command.insert(command.end(), {"--pack", file_word(options.pack->string())});
  return fmt::format("{} of {} measurements kept; finish with: {}", finished,
                     run.measurements.size(), command_text(command));
}

void print_end(const run::Run& run, const std::string& name, const OutputOptions& shown) {
  const std::size_t refused = count(run, State::refused);
  std::string line =
      fmt::format("{}: {}", name, analysis::counted(count(run, State::finished), "measurement"));
  if (const std::size_t empty = count_empty(run); empty > 0) {
    output::EventLevels events;
    std::vector<std::string> reasons;
    for (const run::PlannedMeasurement& one : run.measurements) {
      if (!is_empty(one)) continue;
      events.add(one.event, machine::level_name(one.level));
      reasons.push_back(one.reason);
    }
    line += fmt::format(", {} of them without samples: {} ({})", empty, events.text(),
                        fmt::join(each_once(std::move(reasons)), "; "));
  }
  if (refused > 0) line += fmt::format(", {} refused by this machine", refused);
  line += "; read it with: skidscan report";
  if (name != record::kDefaultRunDirectory) line += " " + command_text({file_word(name)});
  shown.result(line);
}

/// Throws before anything is recorded if --pack names no tar file, or one that exists.
void check_packed(const RecordOptions& options) {
  if (!options.pack) return;
  const std::string name = options.pack->string();
  if (!name.ends_with(run::kPackedSuffix)) {
    throw UsageError("--pack {}: expected FILE{}", name, run::kPackedSuffix);
  }
  std::error_code ignored;
  if (!std::filesystem::exists(*options.pack, ignored) || options.force) return;
  throw Error("{}: exists; replace it with --force, or name another with --pack", name);
}

/// Makes one file of a finished run, if --pack names one, and removes its directory. Returns the
/// name of the run.
std::string packed(const run::Run& run, const std::filesystem::path& directory,
                   const std::string& name, const RecordOptions& options) {
  if (!options.pack) return name;
  try {
    run::pack_run(run, directory, *options.pack);
  } catch (const Error& error) {
    throw Error("{}; {}", error.what(), what_is_kept(run, name, options));
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return options.pack->string();
}

/// Throws before anything is recorded if a target cannot be executed where it is, such as in a home
/// directory that is mounted with noexec.
void check_executable(const record::Targets& targets, bool resumes) {
  for (const auto& [file, target] : targets) {
    if (find_program(target.path.string())) continue;
    throw Error("{}: cannot be executed; expected a file system without noexec; {}",
                target.path.string(),
                resumes ? "copy the run to another one" : "name a directory elsewhere with -o");
  }
}

/// Records the pending measurements and prints the result. `name`: the directory as the user named
/// it.
void record_pending(run::Run& run, record::RunDirectory& directory, const record::Targets& targets,
                    record::Progress& progress, record::Interrupts& interrupts,
                    const std::string& name, const RecordOptions& options) {
  record::SessionEnd end = record::SessionEnd::complete;
  try {
    check_executable(targets, options.resume.has_value());
    end = record::record_pending(run, directory.path(), targets, progress, interrupts, [&] {
      const std::string displaced = directory.keep();
      if (!displaced.empty()) progress.say(displaced);
    });
  } catch (const Error& error) {
    if (count(run, State::finished) == 0) throw;
    throw Error(fmt::format("{}; {}", error.what(), what_is_kept(run, name, options)),
                error.status());
  }
  if (end == record::SessionEnd::interrupted) {
    throw Error(fmt::format("interrupted: {}", what_is_kept(run, name, options)),
                status_of_signal(interrupts.first()));
  }
  if (count(run, State::finished) == 0) {
    throw Error("this machine refused every measurement; the first reason: {}",
                run.measurements.front().reason);
  }
  print_end(run, packed(run, directory.path(), name, options), options.shown);
  if (count_empty(run) == count(run, State::finished)) {
    const auto empty =
        std::ranges::find(run.measurements, State::finished, &run::PlannedMeasurement::state);
    throw Error("no measurement has a sample: {}: {}", empty->requested, empty->reason);
  }
}

/// Prints the decisions for --verbose: the programs used, and each event's levels, trigger and
/// period.
void explain_plan(const run::Run& run, const record::RecordRequest& request,
                  const events::Catalogue* catalogue, record::Progress& progress) {
  progress.explain(fmt::format("perf {} at {}", run.perf.version, run.perf.path.string()));
  progress.explain(catalogue == nullptr
                       ? "no catalogue of events covers this CPU"
                       : fmt::format("catalogue of events: {}", catalogue->cpu().catalogue()));
  progress.explain(fmt::format("pinned to CPU {}", run.cpu));
  for (const record::ChosenEvent& chosen : request.events) {
    std::vector<std::string> levels, skipped;
    for (int level = 0; level <= machine::kHighestLevel; ++level) {
      const bool is_chosen = std::ranges::find(chosen.levels, level) != chosen.levels.end();
      (is_chosen ? levels : skipped).push_back(machine::level_name(level));
    }
    std::string line = fmt::format("{}: levels {}", chosen.event.text(), fmt::join(levels, ", "));
    if (!skipped.empty()) line += fmt::format(", without {}", fmt::join(skipped, ", "));
    line += fmt::format("; trigger {}; period {}", runway::name_of(chosen.trigger), chosen.period);
    progress.explain(line);
  }
}

void record_anew(const RecordOptions& options) {
  for (const int level : options.levels.value_or(std::vector<int>())) {
    if (std::ranges::count(*options.levels, level) == 1) continue;
    throw UsageError("-p {}: given twice", machine::level_name(level));
  }
  check_packed(options);
  std::filesystem::path name = options.output.value_or(record::kDefaultRunDirectory);
  if (options.pack && !options.output) {
    name = std::filesystem::path(*options.pack).replace_extension(".run");
  }
  const bool is_named = options.output || options.pack;
  const record::Displace displace = options.force ? record::Displace::replace
                                    : is_named    ? record::Displace::refuse
                                                  : record::Displace::rotate;
  record::check_run_directory(name, displace, kRunExists);
  const machine::PerfTool perf = machine::find_perf(options.perf);
  const machine::SamplingSupport support = machine::read_sampling_support("/", options.perf);
  const machine::Machine& machine = support.machine;
  const std::optional<events::Catalogue> catalogue =
      options.perfmon ? events::open_catalogue({.cpu = {}, .perfmon = *options.perfmon}, machine)
                      : events::find_catalogue(machine);
  record::RecordRequest request =
      record::resolve_request(options, machine, perf, catalogue ? &*catalogue : nullptr);
  record::check_events(request, machine, perf);
  record::ask_kernel(request.events, options, support, machine::try_event);
  record::leave_out_unsampled(request, options);
  if (options.check_ip) record::check_tracepoint(perf, measure::kPageFaultTracepoint);

  record::Interrupts interrupts;
  record::RunDirectory directory = record::RunDirectory::create(name, displace, kRunExists);
  const record::Targets targets = record::build_targets(request.targets, directory.path());
  run::Run run = record::planned_run(options, request, targets);
  run.machine = support.machine;
  std::erase_if(run.machine.data_caches, [&run](const auto& of) {
    const auto& all = run.measurements;
    return of.first != run.cpu && find_by(all, &run::PlannedMeasurement::cpu, of.first) == nullptr;
  });
  run.perf = perf;
  run.started = record::utc_now();

  record::Progress progress(record::progress_style(options.shown.quiet), run.measurements.size(), 0,
                            options.shown.verbose);
  explain_plan(run, request, catalogue ? &*catalogue : nullptr, progress);
  for (const std::string& note : run.notes) progress.say(note);
  for (const auto& measurement : run.measurements) {
    if (measurement.state != State::refused) continue;
    progress.say(fmt::format("{}: refused: {}", measurement.requested, measurement.reason));
  }
  record_pending(run, directory, targets, progress, interrupts, name.string(), options);
}

void resume(const RecordOptions& options) {
  if (options.force && !options.pack) {
    throw UsageError("--force: with --resume it replaces the file of --pack");
  }
  const std::filesystem::path name = *options.resume;
  run::Run run = run::read_run(name);
  check_packed(options);
  if (!run.partial() && !options.pack) {
    return options.shown.result(name.string() + ": nothing is pending");
  }
  if (run.synthetic && run.partial()) {
    throw Error("{}: is a synthetic run, which has nothing to record", name.string());
  }
  record::RunDirectory directory = record::RunDirectory::resume(name);
  if (!run.partial()) {
    return print_end(run, packed(run, directory.path(), name.string(), options), options.shown);
  }
  const record::Targets targets = record::continue_run(run, directory.path(), machine::inspect(),
                                                       machine::find_perf(options.perf));

  record::Interrupts interrupts;
  record::Progress progress(record::progress_style(options.shown.quiet), run.measurements.size(),
                            run.measurements.size() - count(run, State::pending),
                            options.shown.verbose);
  record_pending(run, directory, targets, progress, interrupts, name.string(), options);
}

std::vector<Option> record_options(RecordOptions& options) {
  std::vector<Option> all = plan_options(options);
  all.push_back({"-o,--output", Value::directory(options.output),
                 "directory of the run (default: skidscan.run; an older one becomes "
                 "skidscan.run.old, and one of "
                 "that name that took more than a minute to record skidscan.run.old.1)"});
  Option resume{"--resume", Value::directory(options.resume),
                "record the missing measurements of a partial run"};
  // A run is finished with the options it was begun with.
  for (const Option& option : all) resume.excludes.push_back(option.names.back());
  all.push_back(resume);
  all.push_back({"--pack", Value::file("FILE.tar", options.pack),
                 "make one file of the finished run, for all commands that read runs; until then "
                 "it is in -o DIR (default: FILE.run), which is removed then"});
  all.push_back({"--force", Value::flag(options.force), "replace an existing run of -o or --pack"});
  all.push_back(perf_option(options.perf));
  for (Option& option : output_options(options.shown)) all.push_back(std::move(option));
  return all;
}

}  // namespace

Command record_command() {
  const auto options = std::make_shared<RecordOptions>();
  return {
      .name = "record",
      .description = "sample a target once per event and precise level with perf record",
      .options = record_options(*options),
      .notes =
          {"Builds the target, runs perf record once per event and precise level, and makes a run: "
           "a directory with the target, the perf.data files and run.json. Without -e it records "
           "the built-in events, whose skid is known by construction, and on a CPU with a PMU a "
           "representative set of its events (docs/events.md; 'skidscan doctor' lists them).",
           "Built-in events: access (data breakpoint on the datum that the trigger accesses), "
           "execute (execute breakpoint on the trigger), faults (page faults, with the fault "
           "trigger), cpu-clock.",
           "Ctrl-C keeps the finished measurements."},
      .examples = {"skidscan record",
                   "skidscan record -e access,faults -p none,pp --repeat 3 -o breakpoints.run",
                   "skidscan record -e cycles:u -e branches -c 100003",
                   "skidscan record -e MEM_LOAD_RETIRED.L3_MISS:pp",
                   "skidscan record --resume skidscan.run",
                   "skidscan record --pack host1.tar && skidscan report host1.tar"},
      .run =
          [options] {
            // Settings of ~/.perfconfig, such as omitted build-ids, would make runs differ.
            ::setenv("PERF_CONFIG", "/dev/null", 1);
            options->resume ? resume(*options) : record_anew(*options);
            return ExitStatus::done;
          },
      .instead_of_argument =
          "record samples targets of its own; of a program: perf record -e EVENT:pp -- PROGRAM, "
          "then skidscan audit"};
}

}  // namespace skid::commands
