#include "src/run/perftool/perftool.h"

#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_run.h"
#include "src/machine/answer_reason.h"
#include "src/machine/diagnosis.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/generic_event.h"
#include "src/run/perftool/record_command.h"
#include "src/run/perftool/try_length.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/process.h"
#include "src/support/since.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <unistd.h>

namespace skid::perftool {
namespace {

using machine::PerfTool;

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

/// perf's first remark as a clause, or nothing.
std::string because(const Messages& messages) {
  return messages.remarks.empty() ? "" : ": " + messages.remarks.front();
}

constexpr std::size_t kMostRemarks = 20;
constexpr std::size_t kLongestRemark = 500;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return contains(text, part); });
}

/// The lines of a text without white space at their ends, leaving out empty ones.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = trimmed(take_until('\n', text));
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

constexpr std::string_view kDiskFull = "No space left on device";
/// "[ perf record: Captured and wrote 0.020 MB y.data (465 samples) ]"; perf 7.2 leaves the
/// parentheses out.
constexpr std::string_view kWroteFile = "[ perf record: Captured and wrote";

/// evsel__open_strerror in tools/perf/util/evsel.c, old and new wording.
constexpr std::array<std::string_view, 4> kPermission{
    "Access to performance monitoring", "You may not have permission", "No permission to enable",
    "can't access trace events"};

/// Parts of lines that perf always prints.
constexpr std::array<std::string_view, 6> kChatter{
    "[ perf record: Woken up", "[ perf record: Captured", "Events disabled", "Events enabled",
    "Couldn't synthesize bpf events",
    // perf 7.2, where the kernel has no CONFIG_SCHEDSTATS.
    "Failed to open /proc/schedstat"};

/// The text after "Error:", on its line or the next.
std::optional<std::string> text_of_error(const std::vector<std::string_view>& lines) {
  constexpr std::string_view kError = "Error:";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(kError)) continue;
    std::string_view text = trimmed(lines[i].substr(kError.size()));
    // Perf 6.12 and later name the PMU first and the reason on the line after.
    if (text.empty() && i + 1 < lines.size()) text = lines[++i];
    if (text.starts_with("Failure to open event") && i + 1 < lines.size()) text = lines[++i];
    return std::string(text.substr(0, kLongestRemark));
  }
  return std::nullopt;
}

/// The part of an unsupported event that perf points at with "\___".
std::optional<std::string> pointed_at(const std::vector<std::string_view>& lines) {
  constexpr std::string_view kPointer = "\\___ ";
  for (const std::string_view line : lines) {
    const std::size_t pointer = line.find(kPointer);
    if (pointer == std::string_view::npos) continue;
    return std::string(line.substr(pointer + kPointer.size(), kLongestRemark));
  }
  return std::nullopt;
}

/// Whether a file begins as a perf.data file of this machine's byte order does.
bool is_recording(const std::filesystem::path& file) {
  constexpr std::string_view kMagic = "PERFILE2";
  std::array<char, kMagic.size()> begin{};
  try {
    const FileDescriptor opened = open_regular_file(file);
    return ::read(opened.get(), begin.data(), begin.size()) == std::ssize(begin) &&
           std::string_view(begin.data(), begin.size()) == kMagic;
  } catch (const InputError&) {
    return false;
  }
}

/// Whether a recording of two events has but one: perf 7.2 goes on without an event that the
/// kernel refuses. The event that perf adds for the mappings does not count.
bool lacks_an_event(const std::filesystem::path& file) {
  try {
    const auto recording = perfdata::Recording::open(file);
    return std::ranges::count_if(recording.attributes(), [](const perfdata::Attribute& event) {
             return event.type != PERF_TYPE_SOFTWARE || event.config != PERF_COUNT_SW_DUMMY;
           }) < 2;
  } catch (const InputError&) {
    return false;  // reported when the recording is read
  }
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

std::string with_counter_values(std::string_view event) {
  EventName name = split_event_name(event);
  if (!has_counter_values(event)) name.modifiers += 'S';
  return join_event_name(name);
}

std::string perf_name_of(const std::string& event, const runway::TargetDescription& target) {
  if (event == "access") {
    return fmt::format("mem:{:#x}/{}:rw", target.layout.datum,
                       runway::watched_bytes(target.specification));
  }
  if (event == "execute") return fmt::format("mem:{:#x}:x", target.layout.trigger.begin);
  return event == "faults" ? "page-faults" : event;
}

std::optional<std::vector<std::string>> split_event_list(std::string_view list) {
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
  if (between_slashes) return std::nullopt;
  events.push_back(std::move(event));
  return events;
}

int level_of_modifiers(std::string_view modifiers) {
  return static_cast<int>(std::ranges::count(modifiers, 'p'));
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

std::vector<std::string> record_command(const PerfTool& perf, const Recording& recording) {
  const Subject& subject = recording.subject;
  const Extras& extras = subject.extras;
  std::vector<std::string> words;
  const auto add = [&words](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  const std::string cpu = std::to_string(recording.cpu);
  // Until perf 6.7 mappings of programs that start on another CPU are missing with -C.
  if (extras.per_cpu) add({"taskset", "-c", cpu});
  // No copies of the modules in ~/.debug.
  add({perf.path.string(), "record", "--no-buildid-cache"});
  // Side-band events of BPF programs, for which perf's end waits up to a second.
  if (perf.has(PerfTool::kNoBpfEvent)) add({"--no-bpf-event"});
  const std::string rate = std::to_string(extras.frequency.value_or(subject.period));
  if (subject.cross_check.empty()) {
    add({"-e", subject.perf_event, extras.frequency ? "-F" : "-c", rate});
  } else {
    // Tracepoints take no period among their terms, so the event has to.
    auto event = split_event_name(subject.perf_event);
    event.name += fmt::format("/{}={}/", extras.frequency ? "freq" : "period", rate);
    add({"-e", join_event_name(event), "-e", subject.cross_check, "-c", "1"});
  }
  if (!extras.call_graph.empty()) add({"--call-graph", extras.call_graph});
  if (!extras.branch_filter.empty()) add({"-j", extras.branch_filter});
  // Linux takes both together only since 6.12, and then counters of several tasks have one id.
  if (has_counter_values(subject.perf_event)) add({"--no-inherit"});
  if (extras.per_cpu) add({"-C", cpu});
  if (subject.data_addresses) add({"-d"});
  if (subject.weights) add({"-W"});
  if (subject.registers) add({std::string(kRegistersOption)});
  // The registers of IBS: 72 to 80 bytes a sample, each of which has its own interrupt anyway.
  if (subject.perf_event.starts_with("ibs_op/")) add({"-R"});
  add({"-o", recording.output.string()});
  runway::Target target;
  target.path = recording.target;
  runway::TargetRun run{.length = subject.length, .cpu = recording.cpu};
  // Events start disabled; the target has them enabled once it is warm.
  if (perf.has_control()) {
    run.control = recording.control;
    run.acknowledge = recording.acknowledge;
    add({"-D", "-1", "--control",
         fmt::format("fifo:{},{}", run.control.string(), run.acknowledge.string())});
  }
  words.emplace_back("--");
  for (std::string& word : runway::command_line(target, run)) words.push_back(std::move(word));
  return words;
}

std::string control_note(const PerfTool& perf) {
  if (perf.version.empty() || perf.has_control()) return {};
  return fmt::format(
      "perf {} has no --control (new in {}.{}): the targets' start and warm-up are in the "
      "recordings",
      perf.version, PerfTool::kControl.major, PerfTool::kControl.minor);
}

Outcome judge(const Completed& left, const std::filesystem::path& file, const Subject& subject,
              const machine::Machine& machine) {
  Outcome outcome;
  outcome.messages = read_messages(left.err);
  outcome.report = runway::parse_target_report(left.out);
  outcome.signal = left.code.signal;
  const Messages& messages = outcome.messages;
  const bool reported = outcome.report.has_value();
  // perf writes the head of the file before it starts the target.
  const bool began = is_recording(file);
  const auto ends = [&outcome](Ending ending, std::string reason) {
    outcome.ending = ending;
    outcome.reason = std::move(reason);
    return outcome;
  };
  if (messages.disk_full) {
    return ends(Ending::disk_full, "cannot be written: no space left on device");
  }
  if (left.code.success() && reported) {
    if (!began) return ends(Ending::died, "perf left no recording" + because(messages));
    if (!subject.cross_check.empty() && lacks_an_event(file)) {
      return ends(Ending::refused, messages.refusal.value_or("perf left out one of its events"));
    }
    return ends(Ending::recorded, {});
  }
  // The kernel refuses an event before the target starts.
  const bool died =
      began || messages.wrote_file || reported || left.code.signal != 0 || left.code.success();
  if (!died) {
    if (messages.no_permission) return ends(Ending::no_permission, permission_reason(machine));
    if (messages.refusal) return ends(Ending::refused, *messages.refusal);
    if (messages.unknown) {
      return ends(Ending::refused,
                  fmt::format("perf does not support this event ({})", *messages.unknown));
    }
  }
  // perf ends itself by the signal that ended its target, after writing what it has.
  if (messages.wrote_file && !reported) {
    return ends(Ending::died,
                fmt::format("the target {} before its end{}",
                            left.code.signal != 0 ? "was " + describe(left.code) : "ended",
                            because(messages)));
  }
  return ends(died ? Ending::died : Ending::failed,
              fmt::format("perf {}{}",
                          left.code.signal != 0 ? "was " + describe(left.code)
                                                : "ended with " + describe(left.code),
                          because(messages)));
}

std::uint64_t samples_of_first_event(const std::filesystem::path& file) {
  auto recording = perfdata::Recording::open(file);
  const auto counts = perfdata::count_records(recording);
  return counts.events.empty() ? 0 : counts.events.front().samples;
}

machine::SampledBy sampled_by(std::string_view perf_event) {
  if (is_breakpoint(perf_event)) return machine::SampledBy::breakpoint;
  const GenericEvent* generic = find_generic_event(split_event_name(perf_event).name);
  return generic == nullptr ? machine::SampledBy::pmu : machine::sampled_by(generic->type);
}

std::optional<std::chrono::nanoseconds> next_length(std::chrono::nanoseconds length,
                                                    std::uint64_t samples, std::uint64_t asked) {
  if (samples >= asked || length.count() <= 0) return std::nullopt;
  if (length >= (samples == 0 ? kLongestEmptyTry : kLongestTry)) return std::nullopt;
  const auto last = static_cast<std::uint64_t>(length.count());
  const auto longest = static_cast<std::uint64_t>(kLongestTry.count());
  const std::uint64_t percent =
      samples == 0 ? kLeastGrowth : std::max(kLeastGrowth, kMargin * asked / samples);
  // Compared before it is multiplied, so that nothing overflows.
  if (percent >= longest * 100 / last) return kLongestTry;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(last * percent / 100));
}

bool reports_no_counter(std::string_view message) {
  return contains(message, " event is not supported");
}

bool reports_missing_permission(std::string_view standard_error) {
  return contains_any(standard_error, kPermission);
}

std::string syntax_reason(std::string_view standard_error) {
  const auto lines = lines_of(standard_error);
  if (auto pointed = pointed_at(lines)) return *pointed;
  return lines.empty() ? "no reason given" : std::string(lines.front().substr(0, kLongestRemark));
}

Messages read_messages(std::string_view standard_error) {
  Messages messages;
  messages.no_permission = reports_missing_permission(standard_error);
  messages.disk_full = contains(standard_error, kDiskFull);
  const std::vector<std::string_view> lines = lines_of(standard_error);
  for (const std::string_view line : lines) {
    if (line.starts_with(kWroteFile)) messages.wrote_file = true;
    if (contains_any(line, kChatter) || messages.remarks.size() == kMostRemarks) continue;
    messages.remarks.emplace_back(line.substr(0, kLongestRemark));
  }
  if (!messages.no_permission) {
    messages.refusal = text_of_error(lines);
    messages.unknown = pointed_at(lines);
  }
  return messages;
}

std::string permission_reason(const machine::Machine& machine) {
  const std::optional<int> paranoid = machine.perf_event_paranoid;
  std::string reason = "no permission to sample it";
  // kernel.perf_event_paranoid does not restrict these capabilities.
  if (machine.privileged) {
    return reason +
           ", though this process has CAP_PERFMON or CAP_SYS_ADMIN: a seccomp filter, a security "
           "module or a lockdown forbids perf_event_open; of a container: " +
           machine::kOpenContainer;
  }
  if (paranoid) reason += fmt::format(" (kernel.perf_event_paranoid is {})", *paranoid);
  // From 1 downwards CPU events of user and kernel are open to all, so something else refuses.
  if (paranoid && *paranoid <= 1) {
    return fmt::format("{}; run as root, or in a container: {}", reason, machine::kOpenContainer);
  }
  return fmt::format("{}; run as root, or allow it: sudo {}", reason, machine::kOpenSampling);
}

}  // namespace skid::perftool
