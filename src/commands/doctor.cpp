#include "src/commands/doctor.h"

#include "runway/target.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/commands/output_options.h"
#include "src/commands/shared_options.h"
#include "src/events/catalogue.h"
#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/events/default_set.h"
#include "src/events/event.h"
#include "src/instructions/counted.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/diagnosis.h"
#include "src/machine/event_attempt.h"
#include "src/machine/machine.h"
#include "src/machine/sampling_support.h"
#include "src/output/diagnosis/diagnosis.h"
#include "src/record/plan.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/record_command.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

struct DoctorOptions {
  std::string perf;  ///< --perf; empty: not given
  OutputOptions shown;
};

/// Returns a command that records a program with the data addresses and registers by which audit
/// judges each sample; empty: the records of no default event have them.
std::string proving_command(const machine::Machine& machine, const events::DefaultSet& set) {
  static constexpr int kSkidZero = 2;
  const auto event = std::ranges::find_if(set.events, [](const events::DefaultEvent& one) {
    return runway::touches_data(one.trigger) && one.counted != events::Counted::cycles &&
           one.counted != events::Counted::instructions &&
           std::ranges::find(one.levels, kSkidZero) != one.levels.end();
  });
  if (machine.cpu.vendor != "GenuineIntel" || event == set.events.end()) return {};
  return fmt::format("perf record -d {} -e {} -- COMMAND", perftool::kRegistersOption,
                     perftool::event_at_level(event->perf_event, "u", kSkidZero));
}

output::CpuEvents cpu_events_of(const machine::Machine& machine,
                                const events::Catalogue* catalogue) {
  output::CpuEvents cpu_events;
  if (catalogue != nullptr) {
    const auto& known = catalogue->events();
    cpu_events.catalogue = catalogue->cpu().catalogue();
    cpu_events.known = known.size();
    cpu_events.precise = static_cast<std::size_t>(
        std::ranges::count(known, std::optional(true), &events::Event::precise));
  }
  cpu_events.set = events::default_set(machine, catalogue);
  cpu_events.proving_command = proving_command(machine, cpu_events.set);
  return cpu_events;
}

}  // namespace

ExitStatus print_diagnosis(const machine::SamplingSupport& support,
                           const machine::EventTrial& trial, const OutputOptions& shown) {
  const auto catalogue = events::find_catalogue(support.machine);
  const events::Catalogue* known = catalogue ? &*catalogue : nullptr;
  const machine::Diagnosis diagnosis = record::diagnose(support, known, trial);
  const output::CpuEvents cpu_events = cpu_events_of(support.machine, known);
  print_as(shown, output::diagnosis_json, nullptr, output::diagnosis_text, support, diagnosis,
           cpu_events);
  return diagnosis.status;
}

Command doctor_command() {
  auto options = std::make_shared<DoctorOptions>();
  Command command{
      .name = "doctor",
      .description = "list what can be sampled on this machine, and what prevents more",
      .options = {format_option(options->shown.format, {"text", "json"}),
                  perf_option(options->perf)},
      .notes = {"Prints the CPU, whether the kernel takes the default events of record at each "
                "precise level and why not, and each problem with its remedy; --details adds "
                "rights, settings, PMUs and the triggers of the default events.",
                "Each event is opened at each level as record would open it, and sampled for a "
                "moment: yes (accepted), ignored (accepted, the level changes nothing), -C (for a "
                "whole CPU only, as record then does), no samples (accepted, and none came), no "
                "(refused). For another machine, events --cpu CPU lists its events and their "
                "precise levels."},
      .exit_statuses = {{ExitStatus::done, "a PMU of the CPU can be sampled"},
                        {ExitStatus::failed, "nothing can be sampled"},
                        {ExitStatus::builtin_events_only,
                         "only the built-in events can be sampled"}},
      .examples = {"skidscan doctor", "# everything that it found, for a bug report",
                   "skidscan doctor --format json > doctor.json"},
      .run = [options] {
        return print_diagnosis(machine::read_sampling_support("/", options->perf),
                               machine::try_event, options->shown);
      }};
  return std::move(command).with(screen_options(options->shown));
}

}  // namespace skid::commands
