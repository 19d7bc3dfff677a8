#include "src/run/perftool/perftool.h"

#include "src/machine/diagnosis.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/record_command.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/process.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <unistd.h>

namespace skid::perftool {
namespace {

/// perf's first remark as a clause, or nothing.
std::string because(const Messages& messages) {
  return messages.remarks.empty() ? "" : ": " + messages.remarks.front();
}

constexpr std::size_t kMostRemarks = 20;
constexpr std::size_t kLongestRemark = 500;

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
