#include "src/commands/doctor.h"

#include "src/commands/exit_statuses.h"
#include "src/commands/output_options.h"
#include "src/commands/standard_output.h"
#include "src/events/catalogue.h"
#include "src/events/default_set.h"
#include "src/machine/diagnosis.h"
#include "src/output/diagnosis/diagnosis.h"
#include "src/support/error.h"
#include "src/support/json_text.h"
#include "src/words/footer.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace skid::commands {
namespace {

struct DoctorOptions {
  std::string root = "/";
  std::string format = "text";
  OutputOptions shown;
};

output::CpuEvents cpu_events_of(const machine::Machine& machine) {
  output::CpuEvents cpu_events;
  const auto catalogue = events::find_catalogue(machine);
  if (catalogue) {
    const events::Cpu& cpu = catalogue->cpu();
    const auto& known = catalogue->events();
    cpu_events.catalogue = fmt::format("{}, {}", cpu.source, cpu.name);
    cpu_events.known = known.size();
    cpu_events.precise = static_cast<std::size_t>(
        std::count_if(known.begin(), known.end(),
                      [](const events::Event& event) { return event.precise == true; }));
  }
  cpu_events.set = events::default_set(machine, catalogue ? &*catalogue : nullptr);
  return cpu_events;
}

ExitStatus run_doctor(const DoctorOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.root, ignored)) {
    throw Error("--root " + options.root + ": is no directory; name one that stands for /");
  }
  const machine::SamplingSupport support = machine::read_sampling_support(options.root);
  const machine::EventTrial trial =
      support.here ? machine::EventTrial(machine::try_event) : machine::EventTrial();
  const machine::Diagnosis diagnosis = machine::diagnose(support, trial);
  const output::CpuEvents cpu_events = cpu_events_of(support.machine);
  if (options.format == "json") {
    print(json_text(output::diagnosis_json(support, diagnosis, cpu_events), 2) + '\n');
  } else {
    print_page(options.shown,
               output::diagnosis_text(support, diagnosis, cpu_events, page_for(options.shown)));
  }
  return diagnosis.status;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<DoctorOptions>();
  auto* command = app.add_subcommand("doctor", "say what can be sampled here, and what hinders it");
  command->add_option("--format", options->format, "form of what is printed (default: text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  command
      ->add_option("--root", options->root,
                   "directory that stands for /: files of /proc and /sys of another machine")
      ->type_name("DIR");
  add_output_options(*command, options->shown);
  command->footer(words::footer_text(
      {.notes = {"Prints the CPU, its PMUs, the events that can be sampled with their precise "
                 "levels, what record takes of this CPU when no event is named, and each problem "
                 "with its remedy. The events are tried: the kernel is asked to open them. With "
                 "--root nothing is tried, the files are believed."},
       .exit_statuses = exit_statuses(
           {{ExitStatus::done, "a PMU of the CPU can be sampled"},
            {ExitStatus::failed, "nothing can be sampled"},
            {ExitStatus::builtin_events_only, "only the built-in events can be sampled"}}),
       .examples = {"skidscan doctor",
                    "# the files of a machine that has a problem, to send to somebody; cp names "
                    "those that it lacks",
                    "mkdir machine && perf --version > machine/perf-version",
                    "cp --parents /.dockerenv /proc/cpuinfo /proc/self/status \\",
                    "  /proc/sys/kernel/{osrelease,arch,perf_*,nmi_watchdog,kptr_restrict} \\",
                    "  /sys/devices/system/cpu/smt/active \\",
                    "  /sys/devices/system/cpu/cpu0/regs/identification/midr_el1 \\",
                    "  /sys/class/dmi/id/{sys_vendor,product_name} /sys/hypervisor/type \\",
                    "  /sys/bus/event_source/devices/*/{type,cpus,cpumask,caps/*,format/*} machine",
                    "skidscan doctor --root machine"}}));
  command->callback(
      [options, &exit_status] { exit_status = static_cast<int>(run_doctor(*options)); });
}

}  // namespace skid::commands
