#include "src/commands/record_perf.h"

#include "src/run/event_syntax.h"
#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace skid::commands {

namespace {

constexpr std::size_t kMostRemarks = 20;
constexpr std::size_t kLongestRemark = 500;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return contains(text, part); });
}

/// The lines of a text without white space at their ends, leaving out empty ones.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    lines.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
  }
  return lines;
}

// evsel__open_strerror in tools/perf/util/evsel.c, old wording and new.
constexpr std::array<std::string_view, 4> kPermission{
    "Access to performance monitoring", "You may not have permission", "No permission to enable",
    "can't access trace events"};

/// Lines of perf's every run, which say nothing of this one.
constexpr std::array<std::string_view, 5> kChatter{
    "[ perf record: Woken up", "[ perf record: Captured", "Events disabled", "Events enabled",
    "Couldn't synthesize bpf events"};

/// The number in "[ perf record: Captured and wrote 0.020 MB y.data (465 samples) ]"; perf leaves
/// the parentheses out when there are none.
std::uint64_t samples_in(std::string_view line) {
  constexpr std::string_view kUnit = " samples) ]";
  const std::size_t unit = line.rfind(kUnit);
  const std::size_t open = line.rfind('(', unit);
  if (unit == std::string_view::npos || open == std::string_view::npos) return 0;
  std::uint64_t samples = 0;
  const char* end = line.data() + unit;
  const auto [stop, error] = std::from_chars(line.data() + open + 1, end, samples);
  return error == std::errc() && stop == end ? samples : 0;
}

/// What follows "Error:", on its line or the next.
std::optional<std::string> text_of_error(const std::vector<std::string_view>& lines) {
  constexpr std::string_view kError = "Error:";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(kError)) continue;
    std::string_view text = lines[i].substr(kError.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    // Perf 6.12 and later name the PMU first and the reason on the line after.
    if (text.empty() && i + 1 < lines.size()) text = lines[++i];
    if (text.starts_with("Failure to open event") && i + 1 < lines.size()) text = lines[++i];
    return std::string(text.substr(0, kLongestRemark));
  }
  return std::nullopt;
}

/// perf's reason for not parsing an event: what it points at with "\___", or its first line.
std::string syntax_reason(std::string_view standard_error) {
  constexpr std::string_view kPointer = "\\___ ";
  const auto lines = lines_of(standard_error);
  for (const std::string_view line : lines) {
    const std::size_t pointer = line.find(kPointer);
    if (pointer == std::string_view::npos) continue;
    return std::string(line.substr(pointer + kPointer.size(), kLongestRemark));
  }
  return lines.empty() ? "no reason given" : std::string(lines.front().substr(0, kLongestRemark));
}

}  // namespace

std::vector<std::string> perf_record_command(const machine::PerfTool& perf,
                                             const PerfRecording& recording) {
  std::vector<std::string> command{perf.path.string(), "record"};
  // No copies of the modules in ~/.debug.
  command.emplace_back("--no-buildid-cache");
  // Side-band events of BPF programs, for which perf's end waits up to a second.
  if (perf.has_no_bpf_event()) command.emplace_back("--no-bpf-event");
  if (recording.witness.empty()) {
    command.insert(command.end(), {"-e", recording.event, "-c", std::to_string(recording.period)});
  } else {
    // Tracepoints take no period among their terms, so the event has to.
    auto event = run::split_event_name(recording.event);
    event.name += fmt::format("/period={}/", recording.period);
    command.insert(command.end(),
                   {"-e", run::join_event_name(event), "-e", recording.witness, "-c", "1"});
  }
  command.insert(command.end(), {"-o", recording.output.string()});
  if (!recording.control.empty()) {
    // Events start disabled; the target has them enabled once it is warm.
    command.insert(command.end(), {"-D", "-1", "--control",
                                   fmt::format("fifo:{},{}", recording.control.string(),
                                               recording.acknowledge.string())});
  }
  command.emplace_back("--");
  command.insert(command.end(), recording.target.begin(), recording.target.end());
  return command;
}

void check_event(const machine::PerfTool& perf, const std::string& text, const std::string& event) {
  const Completed done =
      run_program({perf.path.string(), "record", "--dry-run", "-e", event, "--", "true"});
  if (done.code.success()) return;
  const std::string reason = syntax_reason(done.err);
  if (contains_any(done.err, kPermission)) {
    throw Error(
        fmt::format("{}: no permission to look the event up ({}); run as root", text, reason));
  }
  throw Error(fmt::format("{}: perf does not know this event ({}); see 'perf list'", text, reason));
}

void check_permission(const machine::PerfTool& perf, const machine::Machine& machine,
                      const std::string& text, const std::string& event) {
  const Completed done = run_program({perf.path.string(), "stat", "-e", event, "--", "true"});
  if (done.code.success()) return;
  if (read_perf_messages(done.err).no_permission) {
    throw Error(permission_message(machine, text));
  }
}

void check_witness(const machine::PerfTool& perf, std::string_view tracepoint) {
  const std::string event(tracepoint);
  Completed done =
      run_program({perf.path.string(), "record", "--dry-run", "-e", event, "--", "true"});
  if (done.code.success()) {
    done = run_program({perf.path.string(), "stat", "-e", event, "--", "true"});
    if (done.code.success()) return;
  }
  if (contains_any(done.err, kPermission)) {
    throw Error(
        fmt::format("--check-ip: no permission to sample {}; run as root, or leave --check-ip out",
                    tracepoint));
  }
  throw Error(fmt::format(
      "--check-ip: this kernel does not offer {} ({}); it takes x86 and tracefs: 'mount "
      "-t tracefs tracefs /sys/kernel/tracing', or leave --check-ip out",
      tracepoint, syntax_reason(done.err)));
}

PerfMessages read_perf_messages(std::string_view standard_error) {
  PerfMessages messages;
  messages.no_permission = contains_any(standard_error, kPermission);
  messages.disk_full = contains(standard_error, "No space left on device");
  const std::vector<std::string_view> lines = lines_of(standard_error);
  for (const std::string_view line : lines) {
    if (line.starts_with("[ perf record: Captured and wrote")) {
      messages.wrote_file = true;
      messages.samples = samples_in(line);
    }
    if (contains_any(line, kChatter) || messages.remarks.size() == kMostRemarks) continue;
    messages.remarks.emplace_back(line.substr(0, kLongestRemark));
  }
  if (!messages.no_permission) messages.refusal = text_of_error(lines);
  return messages;
}

std::string permission_message(const machine::Machine& machine, const std::string& text) {
  const std::optional<int> paranoid = machine.perf_event_paranoid;
  std::string message = fmt::format("{}: no permission to sample it", text);
  if (paranoid) message += fmt::format(" (kernel.perf_event_paranoid is {})", *paranoid);
  // From 1 downwards CPU events of user and kernel are open to all, so something else refuses.
  if (paranoid && *paranoid <= 1) {
    return message +
           "; run as root, or give the container CAP_PERFMON and a seccomp profile that allows "
           "perf_event_open";
  }
  return message + "; allow it with 'sysctl kernel.perf_event_paranoid=1', or run as root";
}

}  // namespace skid::commands
