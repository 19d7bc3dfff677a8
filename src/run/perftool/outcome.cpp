#include "src/run/perftool/outcome.h"

#include "src/perfdata/format.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/event_syntax.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace skid::perftool {

namespace {

/// perf's first remark as a clause, or nothing.
std::string because(const Messages& messages) {
  return messages.remarks.empty() ? "" : ": " + messages.remarks.front();
}

}  // namespace

Outcome judge(const Completed& left, const std::filesystem::path& file,
              const machine::Machine& machine) {
  Outcome outcome;
  outcome.messages = read_messages(left.err);
  outcome.report = runway::parse_target_report(left.out);
  outcome.signal = left.code.signal;
  const Messages& messages = outcome.messages;
  const bool reported = outcome.report.has_value();
  const auto ends = [&outcome](Ending ending, std::string reason) {
    outcome.ending = ending;
    outcome.reason = std::move(reason);
    return outcome;
  };
  if (messages.disk_full) {
    return ends(Ending::disk_full, "cannot be written: no space left on device");
  }
  if (left.code.success() && reported) {
    if (is_recording(file)) return ends(Ending::recorded, {});
    return ends(Ending::died, "perf left no recording" + because(messages));
  }
  // The kernel refuses an event before the target starts. A kit's script distinguishes deaths from
  // refusals in the same way.
  const bool died = messages.wrote_file || reported || left.code.signal != 0 || left.code.success();
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

std::uint64_t samples_of_first_event(const std::filesystem::path& file) {
  auto recording = perfdata::Recording::open(file);
  const auto counts = perfdata::count_records(recording);
  return counts.events.empty() ? 0 : counts.events.front().samples;
}

bool is_software_event(std::string_view perf_event) {
  const std::string name = split_event_name(perf_event).name;
  const GenericEvent* generic = find_generic_event(name);
  return name.starts_with("mem:") || (generic != nullptr && generic->type == PERF_TYPE_SOFTWARE);
}

std::string shortage(std::uint64_t samples, std::uint64_t asked) {
  if (samples >= asked) return {};
  return fmt::format("{} of {} requested samples", samples, asked);
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

}  // namespace skid::perftool
