#include "src/perfdata/format.h"
#include "src/run/perftool/perftool.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace skid::perftool {
namespace {

using machine::PerfTool;
using When = CommandWord::When;

/// The letters of an event's modifiers in tools/perf/util/parse-events.l, later additions included.
constexpr std::string_view kModifiers = "ukhpPGHSDIWebRX";

constexpr std::uint32_t kHardware = PERF_TYPE_HARDWARE;
constexpr std::uint32_t kSoftware = PERF_TYPE_SOFTWARE;
/// Aliases follow the name that perf prints.
constexpr auto kGenericEvents =
    std::to_array<GenericEvent>({{"cycles", kHardware, 0},
                                 {"cpu-cycles", kHardware, 0},
                                 {"instructions", kHardware, 1},
                                 {"cache-references", kHardware, 2},
                                 {"cache-misses", kHardware, 3},
                                 {"branches", kHardware, 4},
                                 {"branch-instructions", kHardware, 4},
                                 {"branch-misses", kHardware, 5},
                                 {"bus-cycles", kHardware, 6},
                                 {"stalled-cycles-frontend", kHardware, 7},
                                 {"idle-cycles-frontend", kHardware, 7},
                                 {"stalled-cycles-backend", kHardware, 8},
                                 {"idle-cycles-backend", kHardware, 8},
                                 {"ref-cycles", kHardware, 9},
                                 {"cpu-clock", kSoftware, 0},
                                 {"task-clock", kSoftware, 1},
                                 {"page-faults", kSoftware, 2},
                                 {"faults", kSoftware, 2},
                                 {"context-switches", kSoftware, 3},
                                 {"cs", kSoftware, 3},
                                 {"cpu-migrations", kSoftware, 4},
                                 {"migrations", kSoftware, 4},
                                 {"minor-faults", kSoftware, 5},
                                 {"major-faults", kSoftware, 6},
                                 {"alignment-faults", kSoftware, 7},
                                 {"emulation-faults", kSoftware, 8},
                                 {"dummy", kSoftware, 9},
                                 {"bpf-output", kSoftware, 10},
                                 {"cgroup-switches", kSoftware, 11}});

/// The one slash of "mem:ADDRESS/LENGTH:rw" opens no terms.
bool is_breakpoint(std::string_view event) {
  return event.starts_with("mem:");
}

bool all_modifiers(std::string_view text) {
  return text.find_first_not_of(kModifiers) == std::string_view::npos;
}

// run.sh of kits leaves out the same words where they are refused.
constexpr const char* kDataAddresses = "-d";
constexpr const char* kWeights = "-W";

void add(std::vector<CommandWord>& words, std::vector<CommandWord> more) {
  std::move(more.begin(), more.end(), std::back_inserter(words));
}

/// Likewise, for some recordings only.
std::vector<CommandWord> only(When when, const std::vector<std::string>& texts) {
  std::vector<CommandWord> words;
  words.reserve(texts.size());
  for (const std::string& text : texts) {
    words.push_back({.text = text, .is_value = false, .since = {}, .when = when});
  }
  return words;
}

std::vector<CommandWord> since(Since version, std::vector<CommandWord> words) {
  for (CommandWord& word : words) word.since = version;
  return words;
}

}  // namespace

EventName split_event_name(std::string_view event) {
  const auto slash = event.rfind('/');
  if (slash != std::string_view::npos && !is_breakpoint(event)) {
    auto modifiers = event.substr(slash + 1);
    if (modifiers.starts_with(':')) modifiers.remove_prefix(1);
    if (all_modifiers(modifiers)) {
      return {std::string(event.substr(0, slash + 1)), std::string(modifiers)};
    }
    return {std::string(event), {}};
  }
  const auto colon = event.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == event.size() ||
      !all_modifiers(event.substr(colon + 1))) {
    return {std::string(event), {}};
  }
  return {std::string(event.substr(0, colon)), std::string(event.substr(colon + 1))};
}

std::string join_event_name(const EventName& event) {
  if (event.modifiers.empty()) return event.name;
  return event.name + (event.name.ends_with('/') ? "" : ":") + event.modifiers;
}

std::string event_at_level(const std::string& name, const std::string& modifiers, int level) {
  return join_event_name({name, modifiers + std::string(static_cast<std::size_t>(level), 'p')});
}

std::string with_counter_values(std::string_view event) {
  EventName name = split_event_name(event);
  if (!has_counter_values(event)) name.modifiers += 'S';
  return join_event_name(name);
}

bool has_counter_values(std::string_view event) {
  return split_event_name(event).modifiers.find('S') != std::string::npos;
}

std::string perf_name_of(const std::string& event, const runway::TargetDescription& target) {
  if (event == "access") {
    return fmt::format("mem:{:#x}/{}:rw", target.layout.datum,
                       runway::watched_bytes(target.specification));
  }
  if (event == "execute") return fmt::format("mem:{:#x}:x", target.layout.trigger.begin);
  return event == "faults" ? "page-faults" : event;
}

std::vector<std::string> split_event_list(std::string_view list) {
  std::vector<std::string> events;
  std::string event;
  bool between_slashes = false;
  for (const char character : list) {
    if (character == '/' && !is_breakpoint(event)) between_slashes = !between_slashes;
    if (character == ',' && !between_slashes) {
      events.push_back(std::exchange(event, {}));
    } else {
      event += character;
    }
  }
  if (between_slashes) throw UsageError("-e {}: a '/' is not closed", list);
  events.push_back(std::move(event));
  return events;
}

int level_of_modifiers(std::string_view modifiers) {
  return static_cast<int>(std::ranges::count(modifiers, 'p'));
}

bool leaves_level_to_perf(std::string_view event) {
  return split_event_name(event).modifiers.find('P') != std::string::npos;
}

const GenericEvent* find_generic_event(std::string_view name) {
  return find_by(kGenericEvents, &GenericEvent::name, name);
}

std::string_view generic_hardware_name(std::uint64_t config) {
  for (const GenericEvent& event : kGenericEvents) {
    if (event.type == kHardware && event.config == (config & 0xffff'ffff)) return event.name;
  }
  return {};
}

std::vector<CommandWord> record_words(const Subject& subject) {
  const Extras& extras = subject.extras;
  std::vector<CommandWord> words;
  // Until perf 6.7 mappings of programs that start on another CPU are missing with -C.
  if (extras.per_cpu) {
    add(words, {{.text = "taskset"}, {.text = "-c"}, value_word("cpu")});
  }
  add(words, {value_word("perf"), {.text = "record"}});
  // No copies of the modules in ~/.debug.
  words.push_back({.text = "--no-buildid-cache"});
  // Side-band events of BPF programs, for which perf's end waits up to a second.
  add(words, since(PerfTool::kNoBpfEvent, {{.text = "--no-bpf-event"}}));
  const std::string rate = std::to_string(extras.frequency.value_or(subject.period));
  const std::vector<std::string> plain{"-e", subject.perf_event, extras.frequency ? "-F" : "-c",
                                       rate};
  if (subject.cross_check.empty()) {
    add(words, only(When::always, plain));
  } else {
    // Tracepoints take no period among their terms, so the event has to.
    auto event = split_event_name(subject.perf_event);
    event.name += fmt::format("/{}={}/", extras.frequency ? "freq" : "period", rate);
    add(words, only(When::with_cross_check,
                    {"-e", join_event_name(event), "-e", subject.cross_check, "-c", "1"}));
    add(words, only(When::without_cross_check, plain));
  }
  if (!extras.call_graph.empty())
    add(words, {{.text = "--call-graph"}, {.text = extras.call_graph}});
  if (!extras.branch_filter.empty()) add(words, {{.text = "-j"}, {.text = extras.branch_filter}});
  // Linux takes both together only since 6.12, and then counters of several tasks have one id.
  if (has_counter_values(subject.perf_event)) words.push_back({.text = "--no-inherit"});
  if (extras.per_cpu) add(words, {{.text = "-C"}, value_word("cpu")});
  if (subject.data_addresses) words.push_back({.text = kDataAddresses});
  if (subject.weights) words.push_back({.text = kWeights});
  add(words, {{.text = "-o"}, value_word("output")});
  // Events start disabled; the target has them enabled once it is warm.
  add(words, since(PerfTool::kControl,
                   {{.text = "-D"}, {.text = "-1"}, {.text = "--control"}, value_word("fifos")}));
  words.push_back({.text = "--"});
  add(words, runway::command_words(subject.length, /*with_cpu=*/true));
  add(words, since(PerfTool::kControl, runway::control_words()));
  return words;
}

std::vector<std::string> record_command(const PerfTool& perf, const Recording& recording) {
  std::vector<CommandWord> words = record_words(recording.subject);
  std::erase_if(words, [&perf](const CommandWord& word) {
    return !perf.has(word.since) || word.when == When::without_cross_check;
  });
  const auto* duration = std::get_if<std::chrono::nanoseconds>(&recording.subject.length);
  return filled(words,
                {{"perf", perf.path.string()},
                 {"output", recording.output.string()},
                 {"fifos", fmt::format("fifo:{},{}", recording.control.string(),
                                       recording.acknowledge.string())},
                 {"target", recording.target.string()},
                 {"seconds", duration == nullptr ? std::string() : runway::seconds_text(*duration)},
                 {"cpu", std::to_string(recording.cpu)},
                 {"control", recording.control.string()},
                 {"acknowledge", recording.acknowledge.string()}});
}

bool has_data_addresses(const std::vector<std::string>& command) {
  const auto end = std::ranges::find(command, "--");
  return std::find(command.begin(), end, kDataAddresses) != end;
}

std::string control_note(const PerfTool& perf) {
  if (perf.version.empty() || perf.has_control()) return {};
  return fmt::format(
      "perf {} has no --control (new in {}.{}): the targets' start and warm-up are in the "
      "recordings",
      perf.version, PerfTool::kControl.major, PerfTool::kControl.minor);
}

}  // namespace skid::perftool
