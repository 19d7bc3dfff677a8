#include "src/commands/events.h"

#include "src/commands/exit_statuses.h"
#include "src/commands/messages.h"
#include "src/commands/output_options.h"
#include "src/commands/standard_output.h"
#include "src/events/catalogue.h"
#include "src/events/spelling.h"
#include "src/machine/machine.h"
#include "src/output/catalogue/catalogue.h"
#include "src/support/error.h"
#include "src/support/json_text.h"
#include "src/words/footer.h"
#include "src/words/validators.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

struct EventsOptions {
  std::vector<std::string> names;
  bool list = false, precise = false;
  std::optional<runway::TriggerKind> trigger;
  std::string cpu, perfmon;
  std::string format = "text";
  OutputOptions shown;
};

/// The CPU of --cpu, or the one that a name brings along ("skl::L2_RQSTS:MISS").
std::string chosen_cpu(const EventsOptions& options) {
  std::string cpu = options.cpu;
  if (options.list) return cpu;
  for (const std::string& name : options.names) {
    const std::string own = events::take_apart(name, events::ConfigLayout::arm).cpu;
    if (own.empty()) continue;
    if (!cpu.empty() && events::pfm_name_of(own) != events::pfm_name_of(cpu)) {
      throw UsageError(fmt::format("'{}' is an event of {}, and {} is asked for", name, own, cpu));
    }
    cpu = own;
  }
  return cpu;
}

std::vector<events::Event> chosen_events(const EventsOptions& options,
                                         const events::Catalogue& catalogue) {
  if (options.list) {
    return catalogue.list({.precise_only = options.precise,
                           .pattern = options.names.empty() ? "" : options.names.front(),
                           .trigger = options.trigger});
  }
  std::vector<events::Event> found;
  for (const std::string& name : options.names) {
    for (events::Event& event : catalogue.find(name)) found.push_back(std::move(event));
  }
  return found;
}

void check(const EventsOptions& options) {
  if (!options.list && options.names.empty()) {
    throw UsageError("no event is named; name one, or list them with --list");
  }
  if (!options.list && options.precise) throw UsageError("--precise filters --list; add it");
  if (!options.list && options.trigger) throw UsageError("--trigger filters --list; add it");
  if (options.list && options.names.size() > 1) {
    throw UsageError("--list takes one pattern; quote it so that the shell leaves it alone");
  }
}

void run_events(const EventsOptions& options) {
  check(options);
  const auto catalogue = events::open_catalogue(
      {.cpu = chosen_cpu(options), .perfmon = options.perfmon}, machine::inspect());
  const auto chosen = chosen_events(options, catalogue);
  Messages(options.shown)
      .detail(fmt::format("catalogue of events: {}, {}, {} events", catalogue.cpu().source,
                          catalogue.cpu().name, catalogue.events().size()));
  if (options.format == "json") {
    print(json_text(output::events_json(catalogue.cpu(), chosen), 2) + '\n');
  } else if (options.list) {
    print_page(options.shown, output::event_list_text(catalogue.cpu(), chosen));
  } else {
    print_page(options.shown,
               output::events_text(catalogue.cpu(), chosen, page_for(options.shown)));
  }
}

}  // namespace

void add_events_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<EventsOptions>();
  auto* command = app.add_subcommand("events",
                                     "print what is known of events: code, precise or not, "
                                     "what can cause them, errata");
  command
      ->add_option("NAME", options->names,
                   "events as perf or libpfm4 spell them (mem_load_retired.l3_miss:pp, "
                   "skl::L2_RQSTS:MISS, cycles) or codes (r20d1, cpu/event=0xd1,umask=0x20/); with "
                   "--list a part of the names, or a pattern with * and ?")
      ->type_name("NAME");
  command
      ->add_option("--cpu", options->cpu,
                   "skl, hsw, bdw, ivb, icl, spr, zen3, zen4, arm_n1: any PMU of libpfm4, or "
                   "with --perfmon a directory there (default: the CPU at hand)")
      ->type_name("CPU");
  command
      ->add_option("--perfmon", options->perfmon,
                   "directory of Intel's event files (a checkout of github.com/intel/perfmon, "
                   "mapfile.csv in it), read instead of libpfm4")
      ->type_name("DIR");
  command->add_flag("--list", options->list, "list events, one a line");
  command->add_flag("--precise", options->precise, "with --list: only those known to be precise");
  command
      ->add_option_function<std::string>(
          "--trigger",
          [options](const std::string& name) {
            options->trigger = runway::trigger_kind_from(name);
          },
          "with --list: only those that a trigger of this kind causes")
      ->type_name("KIND")
      ->check(words::suggested(runway::trigger_kind_names()));
  command->add_option("--format", options->format, "form of what is printed (default: text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  add_output_options(*command, options->shown);
  command->footer(words::footer_text(
      {.notes = {"Verdicts on what can cause an event: can; conditional (where the access goes "
                 "that way); maybe (seen, without a known rule); unknown; never. They cover the "
                 "load events of Ivy Bridge to Coffee Lake, errata too; what is not listed is not "
                 "known to be sound.",
                 "libpfm4 of an architecture knows the CPUs of that one alone: Arm's are known on "
                 "Arm. Generic cache events of perf (LLC-load-misses) are not known.",
                 "Columns of --list: code (+: config1 is needed too), precise, name."},
       .exit_statuses = exit_statuses({}),
       .examples = {"skidscan events r20d1 L2_RQSTS.MISS --cpu skl",
                    "skidscan events --list --precise --cpu hsw 'MEM_*'",
                    "skidscan events --list --trigger div --cpu skl"}}));
  command->callback([options, &exit_status] {
    run_events(*options);
    exit_status = static_cast<int>(ExitStatus::done);
  });
}

}  // namespace skid::commands
