#include "runway/trigger.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/output_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/events/catalogue.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/questions.h"
#include "src/events/spelling.h"
#include "src/machine/machine.h"
#include "src/output/catalogue/answers.h"
#include "src/output/catalogue/catalogue.h"
#include "src/output/catalogue/unknown_event.h"
#include "src/support/error.h"
#include "src/support/near_names.h"
#include "src/support/text.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::events {
struct Question;
}  // namespace skid::events

namespace skid::commands {
namespace {

struct EventsOptions {
  std::vector<std::string> names;
  bool cpus = false, list = false, precise = false;
  std::optional<runway::TriggerKind> trigger;
  std::string cpu, perfmon, question;
  OutputOptions shown;
};

/// Returns the CPU of --cpu, or the one that an event's name contains ("skl::L2_RQSTS:MISS").
std::string chosen_cpu(const EventsOptions& options) {
  std::string cpu = options.cpu;
  if (options.list) return cpu;
  for (const std::string& name : options.names) {
    const std::string own = events::parse_spelling(name, events::ConfigLayout::arm).cpu;
    if (own.empty()) continue;
    if (!cpu.empty() && !events::is_called(cpu, own)) {
      throw UsageError("'{}' is an event of {}, not of {}", name, own, cpu);
    }
    cpu = own;
  }
  return cpu;
}

std::vector<events::Event> chosen_events(const EventsOptions& options,
                                         const events::Catalogue& catalogue,
                                         const OutputOptions& shown) {
  if (options.list) {
    return catalogue.list({.precise_only = options.precise,
                           .pattern = options.names.empty() ? "" : options.names.front(),
                           .trigger = options.trigger});
  }
  std::vector<events::Event> found;
  for (const std::string& name : options.names) {
    const auto parts = events::parse_spelling(name, catalogue.cpu().layout);
    auto named = catalogue.find(parts);
    if (named.empty()) throw UsageError(output::explain_unknown_event(name, catalogue));
    for (const std::string& pmu : catalogue.pmus()) {
      if (std::ranges::find(catalogue.pmus(), parts.pmu) != catalogue.pmus().end()) break;
      if (find_by(named, &events::Event::pmu, pmu) != nullptr) continue;
      shown.note(fmt::format("{}: the event files have no event '{}'", pmu, name));
    }
    std::move(named.begin(), named.end(), std::back_inserter(found));
  }
  catalogue.describe(found);
  return found;
}

ExitStatus answer(const EventsOptions& options) {
  const events::Question* question = events::find_question(options.question);
  if (question == nullptr) {
    const auto names = events::question_names();
    throw UsageError("--for {}: expected one of {}{}", options.question, fmt::join(names, ", "),
                     did_you_mean(options.question, names));
  }
  const machine::Machine machine = machine::inspect();
  const auto catalogue = events::open_catalogue(
      {.cpu = options.cpu, .perfmon = options.perfmon, .may_lack_events = true}, machine);
  auto answers = events::answers_to(*question, catalogue);
  const bool has_pmu = machine.has_core_pmu() || !machine.other_pmus.empty();
  if (catalogue.cpu().at_hand && !has_pmu) {
    options.shown.note(
        "this machine has no PMU ('skidscan doctor' states why): none of this can be recorded "
        "here, only on a machine with this CPU that has one");
  } else if (catalogue.cpu().at_hand) {
    // Not every CPU of a name has IBS or SPE, and not every guest on it.
    std::erase_if(answers, [&machine](const events::Answer& answer) {
      return !answer.event &&
             std::ranges::find(machine.other_pmus, answer.pmu) == machine.other_pmus.end();
    });
  }
  print_as(options.shown, output::answers_json, nullptr, output::answers_text, catalogue.cpu(),
           events::name_of(*question), answers);
  return ExitStatus::done;
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
  if (options.cpus) {
    for (const auto& names : events::known_cpus())
      print(fmt::format("{}\n", fmt::join(names, " ")));
    return ExitStatus::done;
  }
  if (!options.question.empty()) return answer(options);
  check(options);
  const auto catalogue = events::open_catalogue(
      {.cpu = chosen_cpu(options), .perfmon = options.perfmon}, machine::inspect());
  const auto chosen = chosen_events(options, catalogue, options.shown);
  options.shown.explain(fmt::format("catalogue of events: {}, {} events",
                                    catalogue.cpu().catalogue(), catalogue.events().size()));
  const auto text = options.list ? output::event_list_text : output::events_text;
  print_as(options.shown, output::events_json, nullptr, text, catalogue.cpu(), chosen);
  return ExitStatus::done;
}

}  // namespace

Command events_command() {
  auto options = std::make_shared<EventsOptions>();
  Command command{
      .name = "events",
      .description = "print what is known about events: code, precise or not, causes, errata",
      .options = {{"NAME", Value::text("NAME", options->names).several().completing([options] {
                     return event_names(options->cpu, options->perfmon);
                   }),
                   "events by their names in Intel's event files, perf or libpfm4 "
                   "(mem_load_retired.l3_miss:pp, skl::L2_RQSTS:MISS, cycles) or by code (r20d1, "
                   "cpu/event=0xd1,umask=0x20/); with --list a part of the names, or a pattern "
                   "with * and ?"},
                  {"--cpu", Value::text("CPU", options->cpu).completing(events::cpu_names),
                   "spr, sapphirerapids, skx, adl, adl_glc, zen4, arm_n1: the name that perf, "
                   "Intel or libpfm4 has for it, or family and model as Intel writes them (6-8F, "
                   "6-55-4); a hybrid CPU has all its core types; with --perfmon a directory in it "
                   "(default: this machine's)"},
                  {"--perfmon", Value::directory(options->perfmon),
                   "directory of Intel's event files (a checkout of github.com/intel/perfmon with "
                   "its mapfile.csv), read instead of the built-in table"},
                  {"--for",
                   Value::text("WHAT", options->question).completing(events::question_names),
                   "print what the CPU has to sample this, the best first: \"L3 misses\", "
                   "\"mispredicted branches\", \"load latency\"",
                   {"NAME", "--list"}},
                  {"--cpus",
                   Value::flag(options->cpus),
                   "list the CPUs, one a line with all its names",
                   {"NAME", "--list", "--cpu", "--for"}},
                  {"--list", Value::flag(options->list), "list events, one a line"},
                  {"--precise", Value::flag(options->precise),
                   "with --list: only events known to be precise"},
                  trigger_option(options->trigger,
                                 "with --list: only events that a trigger of this kind causes"),
                  format_option(options->shown.format, {"text", "json"})},
      .notes = {"Verdicts on what can cause an event: can; conditional (depends on where the "
                "access is served); maybe (observed, without a known rule); unknown; never. Those "
                "of the load events of Ivy Bridge to Coffee Lake were measured, with their errata; "
                "others follow from the events' names and descriptions.",
                "Events of Intel's CPUs from Bonnell and Nehalem to Nova Lake are those of Intel's "
                "event files; others are libpfm4's, which supports the CPUs of the architecture "
                "that it is built for: Arm's on Arm, and both in portable archives. Generic cache "
                "events of perf "
                "(LLC-load-misses) are not supported.",
                "level 3: whether ppp is distinct from pp for the event, the same, or refused by "
                "the kernel. PDist: the counters with precise distribution. data address: whether "
                "precise records contain one.",
                "Columns of --list: code (+: requires config1, too), precise, name."},
      .examples = {"skidscan events r20d1 L2_RQSTS.MISS --cpu skl",
                   "skidscan events --for 'L3 misses' --cpu zen4",
                   "skidscan events MEM_LOAD_RETIRED.L3_MISS --cpu spr",
                   "skidscan events --list --precise --cpu hsw 'MEM_*'",
                   "skidscan events --list --trigger div --cpu skl"},
      .run = [options] { return run_events(*options); }};
  return std::move(command).with(output_options(options->shown));
}

}  // namespace skid::commands
