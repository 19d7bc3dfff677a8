#include "src/commands/commands.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/events/catalogue.h"
#include "src/events/spelling.h"
#include "src/machine/machine.h"
#include "src/output/catalogue/catalogue.h"
#include "src/support/error.h"

#include <memory>

#include <fmt/format.h>

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
      throw UsageError(fmt::format("'{}' is an event of {}, not of {}", name, own, cpu));
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

ExitStatus run_events(const EventsOptions& options) {
  check(options);
  const auto catalogue = events::open_catalogue(
      {.cpu = chosen_cpu(options), .perfmon = options.perfmon}, machine::inspect());
  const auto chosen = chosen_events(options, catalogue);
  Messages(options.shown)
      .detail(fmt::format("catalogue of events: {}, {}, {} events", catalogue.cpu().source,
                          catalogue.cpu().name, catalogue.events().size()));
  if (options.format == "json") {
    print(output::events_json(catalogue.cpu(), chosen));
  } else if (options.list) {
    print_page(options.shown, output::event_list_text(catalogue.cpu(), chosen));
  } else {
    print_page(options.shown,
               output::events_text(catalogue.cpu(), chosen, page_for(options.shown)));
  }
  return ExitStatus::done;
}

}  // namespace

Command events_command() {
  auto options = std::make_shared<EventsOptions>();
  Command command{
      .name = "events",
      .description = "print what is known about events: code, precise or not, causes, errata",
      .options =
          {{{"NAME"},
            Value::text("NAME", options->names).several(),
            "events by their names in perf or libpfm4 (mem_load_retired.l3_miss:pp, "
            "skl::L2_RQSTS:MISS, cycles) or by code (r20d1, cpu/event=0xd1,umask=0x20/); with "
            "--list a part of the names, or a pattern with * and ?"},
           {{"--cpu"},
            Value::text("CPU", options->cpu),
            "skl, hsw, bdw, ivb, icl, spr, zen3, zen4, arm_n1: any PMU of libpfm4, or with "
            "--perfmon a directory in it (default: this machine's)"},
           {{"--perfmon"},
            Value::directory(options->perfmon),
            "directory of Intel's event files (a checkout of github.com/intel/perfmon with its "
            "mapfile.csv), read instead of libpfm4"},
           {{"--list"}, Value::flag(options->list), "list events, one a line"},
           {{"--precise"},
            Value::flag(options->precise),
            "with --list: only events known to be precise"},
           trigger_option(options->trigger,
                          "with --list: only events that a trigger of this kind causes"),
           format_option(options->format, {"text", "json"})},
      .notes =
          {"Verdicts on what can cause an event: can; conditional (depends on where the access "
           "is served); maybe (observed, without a known rule); unknown; never. They cover the "
           "load events of Ivy Bridge to Coffee Lake with their errata. An event that is not "
           "listed is not known to be sound.",
           "libpfm4 supports the CPUs of the architecture that it is built for: Arm's on Arm "
           "alone. Generic cache events of perf (LLC-load-misses) are not supported.",
           "Columns of --list: code (+: requires config1, too), precise, name."},
      .examples = {"skidscan events r20d1 L2_RQSTS.MISS --cpu skl",
                   "skidscan events --list --precise --cpu hsw 'MEM_*'",
                   "skidscan events --list --trigger div --cpu skl"},
      .run = [options] { return run_events(*options); }};
  command.add(output_options(options->shown));
  return command;
}

}  // namespace skid::commands
