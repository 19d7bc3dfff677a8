#include "src/machine/diagnosis.h"
#include "src/run/perftool/outcome.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

namespace skid::perftool {

namespace {

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
/// "[ perf record: Captured and wrote 0.020 MB y.data (465 samples) ]" begins and ends so.
constexpr std::string_view kWroteFile = "[ perf record: Captured and wrote";
constexpr std::string_view kSamplesEnd = " samples) ]";

/// evsel__open_strerror in tools/perf/util/evsel.c, old and new wording.
constexpr std::array<std::string_view, 4> kPermission{
    "Access to performance monitoring", "You may not have permission", "No permission to enable",
    "can't access trace events"};

/// Parts of lines that perf always prints.
constexpr std::array<std::string_view, 5> kChatter{
    "[ perf record: Woken up", "[ perf record: Captured", "Events disabled", "Events enabled",
    "Couldn't synthesize bpf events"};

/// The number in "[ perf record: Captured and wrote 0.020 MB y.data (465 samples) ]"; perf leaves
/// the parentheses out when there are none.
std::uint64_t samples_in(std::string_view line) {
  const std::size_t unit = line.rfind(kSamplesEnd);
  const std::size_t open = line.rfind('(', unit);
  if (unit == std::string_view::npos || open == std::string_view::npos) return 0;
  return whole_number<std::uint64_t>(line.substr(open + 1, unit - open - 1)).value_or(0);
}

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

}  // namespace

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
    if (line.starts_with(kWroteFile)) {
      messages.wrote_file = true;
      messages.samples = samples_in(line);
    }
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
