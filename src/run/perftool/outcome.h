// The outcome of one `perf record`, from its output; the meaning of perf's messages.
#pragma once

#include "runway/target.h"
#include "src/machine/machine.h"
#include "src/support/process.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perftool {

struct Messages {
  bool wrote_file = false;    ///< perf finished and wrote the recording
  std::uint64_t samples = 0;  ///< that it counted there
  bool no_permission = false;
  bool disk_full = false;
  std::optional<std::string> refusal;  ///< why the kernel refuses the event
  std::optional<std::string> unknown;  ///< why perf does not know it
  std::vector<std::string> remarks;    ///< everything but perf's usual chatter, a line each
};

Messages read_messages(std::string_view standard_error);

/// Whether perf reports a missing permission.
bool reports_missing_permission(std::string_view standard_error);

/// perf's reason for not parsing an event: what it points at with "\___", or its first line.
std::string syntax_reason(std::string_view standard_error);

/// "no permission to sample it (kernel.perf_event_paranoid is 2); …", with the remedy.
std::string permission_reason(const machine::Machine& machine);

enum class Ending {
  recorded,
  refused,        ///< the kernel refuses the event, or perf does not know it
  no_permission,  ///< to sample it
  disk_full,
  died,    ///< perf or the target died, or wrote nothing; not a property of the machine
  failed,  ///< perf gave up before the target started, for a reason that is not known to us
};

struct Outcome {
  Ending ending = Ending::failed;
  std::string reason;  ///< why not recorded, a clause without the event's name
  Messages messages;
  std::optional<runway::TargetReport> report;
  int signal = 0;  ///< that ended the target or perf; 0: none
};

/// `left`: exit status and output of perf and the target. `file`: the recording.
Outcome judge(const Completed& left, const std::filesystem::path& file,
              const machine::Machine& machine);

/// perf counts the samples of all events together; these are those of the first. Throws InputError.
std::uint64_t samples_of_first_event(const std::filesystem::path& file);

/// Whether perf's event is a breakpoint or one of the kernel's own, which need no PMU.
bool is_software_event(std::string_view perf_event);

/// "4998 of 5000 requested samples"; empty if there are enough.
std::string shortage(std::uint64_t samples, std::uint64_t asked);

// How long an event of unknown frequency is recorded; a kit's script uses the same limits.

/// Maximum length of a retry for a rare event.
inline constexpr std::chrono::nanoseconds kLongestTry = std::chrono::seconds{16};
/// A run this long without a single event is not extended.
inline constexpr std::chrono::nanoseconds kLongestEmptyTry = std::chrono::seconds{2};
/// The next try lasts this many percent of the last one, at least.
inline constexpr std::uint64_t kLeastGrowth = 200;
/// Percentage added to the estimated length for the missing samples.
inline constexpr std::uint64_t kMargin = 120;

/// The length of the next try after one of `length` that gave `samples` of the requested `asked`;
/// nullopt: no further try.
std::optional<std::chrono::nanoseconds> next_length(std::chrono::nanoseconds length,
                                                    std::uint64_t samples, std::uint64_t asked);

}  // namespace skid::perftool
