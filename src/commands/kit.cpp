#include "src/record/kit/kit.h"

#include "runway/specification.h"
#include "runway/trigger.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/commands/output_options.h"
#include "src/commands/plan_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/events/default_set.h"
#include "src/events/event.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/record/choice.h"
#include "src/record/plan.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "src/support/staged_file.h"
#include "src/support/temporary_directory.h"
#include "src/support/text.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace skid::commands {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultTar = "skidscan-kit.tar";
constexpr const char* kStandardOutput = "-";

struct KitOptions {
  record::PlanOptions plan;
  std::string arch{runway::name_of(kOwnArch)};
  std::string cpu;  ///< --for
  std::optional<std::string> given_output;
  std::string output;
  bool slurm = false;
  bool force = false;
  OutputOptions shown;
};

/// Returns the options with the name of the output. Throws UsageError for a kit for Slurm that is
/// no directory, which the nodes of a cluster can share.
KitOptions completed(KitOptions options) {
  options.output = options.given_output.value_or(options.slurm ? kit::kTopDirectory : kDefaultTar);
  if (!options.slurm) return options;
  if (options.output == kStandardOutput || options.output.ends_with(".tar")) {
    throw UsageError("-o {}: a kit for Slurm is a directory, on a file system that the nodes share",
                     options.output);
  }
  if (!options.output.ends_with('/')) options.output += '/';
  return options;
}

bool is_directory_name(const std::string& name) {
  return name.ends_with('/');
}

/// Checks the output before anything is built. Throws UsageError or Error.
void check_output(const KitOptions& options) {
  if (options.output == kStandardOutput) {
    if (::isatty(STDOUT_FILENO) == 1) {
      throw UsageError("-o -: refusing to write a tar archive to a terminal");
    }
    return;
  }
  if (is_directory_name(options.output)) return;  // looked at when it is written
  std::error_code ignored;
  const auto status = fs::status(options.output, ignored);
  if (fs::is_directory(status)) {
    throw Error("{0}: is a directory; for a directory instead of a tar name it {0}/",
                options.output);
  }
  if (fs::is_regular_file(status) && !options.force) {
    throw Error("{}: exists; replace it with --force, or name another with -o", options.output);
  }
}

std::optional<events::Catalogue> catalogue_for(const KitOptions& options,
                                               const machine::Machine& machine) {
  if (options.cpu.empty()) {
    if (options.plan.perfmon) {
      throw UsageError("--perfmon: contains events of a CPU; name the CPU with --for");
    }
    if (options.plan.pmu) {
      throw UsageError("--pmu {}: is a PMU of a CPU; name the CPU with --for", *options.plan.pmu);
    }
    return std::nullopt;
  }
  events::Catalogue catalogue = events::open_catalogue(
      {.cpu = options.cpu, .perfmon = options.plan.perfmon.value_or(fs::path()), .option = "--for"},
      machine);
  const Arch arch = events::arch_of(catalogue.cpu());
  if (runway::name_of(arch) != machine.cpu.arch) {
    throw UsageError("--for {}: is a CPU of {}, and the kit is for {}", options.cpu,
                     runway::name_of(arch), machine.cpu.arch);
  }
  return catalogue;
}

std::string vendor_of(events::ConfigLayout layout) {
  if (layout == events::ConfigLayout::amd) return "AuthenticAMD";
  return layout == events::ConfigLayout::arm ? "0x41" : "GenuineIntel";
}

/// The assumptions about the machine that a kit is for: it has the PMUs of its CPU, and they take
/// every level. Refusals are noted there in the end.
void assume(machine::Machine& machine, const events::Catalogue& catalogue) {
  constexpr int kHighestLevel = 3;
  machine.cpu.vendor = vendor_of(catalogue.cpu().layout);
  for (const events::Event& event : catalogue.events()) {
    const bool known = find_by(machine.core_pmus, &machine::CorePmu::name, event.pmu) != nullptr;
    if (known || event.pmu.empty()) continue;
    machine.core_pmus.push_back(
        {.name = event.pmu, .type = 0, .max_precise = kHighestLevel, .cpus = {}});
  }
  if (machine::is_amd(machine.cpu)) machine.other_pmus.emplace_back("ibs_op");
}

/// Leaves the main PMU of a hybrid machine, since a kit has one CPU for all events. Returns a note
/// for each event that is left out.
std::vector<std::string> leave_one_pmu(machine::Machine& machine) {
  if (machine.core_pmus.size() < 2) return {};
  const std::string main = events::main_core_pmu(machine)->name;
  std::vector<std::string> notes;
  std::erase_if(machine.core_pmus, [&](const machine::CorePmu& pmu) {
    if (pmu.name == main) return false;
    notes.push_back(fmt::format(
        "{0}: left out, a kit records one kind of core; --pmu {0} makes one for it", pmu.name));
    return true;
  });
  return notes;
}

/// Nothing on this machine can tell whether perf there has an event.
void check_names(const record::RecordRequest& request, const events::Catalogue& catalogue) {
  for (const record::ChosenEvent& chosen : request.events) {
    if (!chosen.near_names) continue;
    throw UsageError("-e {}: neither {} nor perf has an event of this name{}", chosen.event.text(),
                     catalogue.cpu().catalogue(), *chosen.near_names);
  }
}

kit::Kit plan_kit(const KitOptions& options, const fs::path& directory) {
  const Arch arch = runway::arch_from(options.arch);
  machine::Machine machine;
  machine.cpu.arch = runway::name_of(arch);
  const machine::Machine nothing_known = machine;
  const auto catalogue = catalogue_for(options, machine);
  std::vector<std::string> notes;
  if (catalogue) {
    assume(machine, *catalogue);
  } else {
    machine.core_pmus.emplace_back();  // of a CPU of which nothing is known
  }
  if (options.plan.events.empty() && !options.plan.pmu) notes = leave_one_pmu(machine);
  record::RecordRequest request =
      record::resolve_request(options.plan, machine, {}, catalogue ? &*catalogue : nullptr);
  if (catalogue) check_names(request, *catalogue);
  request.notes.insert(request.notes.end(), notes.begin(), notes.end());
  const record::Targets targets = record::build_targets(request.targets, directory);
  kit::Kit kit{.arch = arch,
               .plan = record::planned_run(options.plan, request, targets),
               .targets = {},
               .cpu = options.plan.cpu,
               .pmus = {}};
  kit.plan.machine = nothing_known;
  for (const auto& [trigger, target] : targets) kit.targets.push_back(target);
  kit.pmus = kit::named_pmus(kit.plan);
  return kit;
}

void write_kit(const KitOptions& options, const std::vector<kit::File>& files) {
  if (is_directory_name(options.output)) {
    kit::write_directory(files, options.output, options.force);
    return;
  }
  const std::string tar = kit::tar_of(files, kit::kTopDirectory);
  if (options.output == kStandardOutput) {
    print(tar);
  } else {
    write_file_atomically(options.output, tar);
  }
}

ExitStatus make_kit(const KitOptions& given) {
  const KitOptions options = completed(given);
  check_output(options);
  const TemporaryDirectory directory;
  const kit::Kit kit = plan_kit(options, directory.path());
  const OutputOptions& shown = options.shown;
  for (const std::string& note : kit.plan.notes) shown.note(note);
  for (const auto& measurement : kit.plan.measurements) {
    shown.explain(fmt::format("{}: {}, trigger {}, period {}", measurement.requested,
                              measurement.perf_event, measurement.trigger, measurement.period));
  }
  write_kit(options, kit::files_of(kit, options.slurm));
  if (options.output == kStandardOutput) return ExitStatus::done;
  const bool is_directory = is_directory_name(options.output);
  const fs::path top = is_directory ? fs::path(options.output) : fs::path(kit::kTopDirectory);
  const std::string what = fmt::format("{}: {} measurements for {}", options.output,
                                       kit.plan.measurements.size(), options.arch);
  const std::string next =
      options.slurm ? fmt::format("where Slurm is: {} --nodes LIST, or --features LIST",
                                  shell_quoted({top / "submit.sh"}))
                    : fmt::format("{} it there and run: sh {}", is_directory ? "copy" : "extract",
                                  shell_quoted({top / kit::kScriptName}));
  shown.result(what + "; " + next);
  return ExitStatus::done;
}

}  // namespace

Command kit_command() {
  const auto options = std::make_shared<KitOptions>();
  Command command{
      .name = "kit",
      .description = "package a recording session for a machine that has only perf and a shell",
      .options = plan_options(options->plan),
      .notes = {"The kit is a tar with statically linked targets and run.sh, which requires perf "
                "and a POSIX shell alone. It makes a run, as 'skidscan record' does. Without -e "
                "and --for it records the built-in events and those of perf that any CPU may have; "
                "events that the machine refuses are noted. docs/kit.md describes its files."},
      .examples = {"skidscan kit", "skidscan kit --for skl -o skylake.tar",
                   "skidscan kit --arch aarch64 -e access,execute,cycles:u -p none,p -o arm.tar",
                   "skidscan kit --slurm -o kit && kit/submit.sh --nodes 'node[1-16]'",
                   "skidscan kit -e access -o - | ssh HOST 'tar -xf - && sh skidscan-kit/run.sh'"},
      .run = [options] { return make_kit(*options); }};
  return std::move(command).with(
      std::vector<Option>{{"-o,--output", Value::file("KIT.tar", options->given_output),
                           "tar to write (default: skidscan-kit.tar), - for standard output, or "
                           "DIR/ for a directory"},
                          arch_option(options->arch),
                          {"--for", Value::text("CPU", options->cpu).completing(events::cpu_names),
                           "CPU to record on, by its name in 'skidscan events --cpu' (skl, zen4): "
                           "its events can be named, and are recorded by default"},
                          {"--slurm", Value::flag(options->slurm),
                           "make a directory (default: skidscan-kit) with submit.sh, which records "
                           "a run on each of many nodes through Slurm"},
                          {"--force", Value::flag(options->force), "replace an existing output"}},
      output_options(options->shown));
}

}  // namespace skid::commands
