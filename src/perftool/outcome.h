// The outcome of one `perf record`, from its output.
#pragma once

#include "runway/target.h"
#include "src/machine/machine.h"
#include "src/perftool/messages.h"
#include "src/support/process.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace skid::perftool {

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
};

/// `left`: exit status and output of perf and the target. `file`: the recording.
Outcome judge(const Completed& left, const std::filesystem::path& file,
              const machine::Machine& machine);

/// Whether a file begins as a perf.data file of this machine's byte order does.
bool is_recording(const std::filesystem::path& file);

/// perf counts the samples of all events together; these are those of the first. Throws InputError.
std::uint64_t samples_of_first_event(const std::filesystem::path& file);

/// "4998 samples of 5000 asked for"; empty if there are enough.
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
