// perf: the syntax of its event strings, the command line of `perf record`, its outcome from its
// output, and what its messages mean. The only place that knows them.
#pragma once

#include "runway/target.h"
#include "src/machine/diagnosis.h"
#include "src/machine/machine.h"
#include "src/support/command_words.h"
#include "src/support/process.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perftool {

/// The parts of an event string: "cycles:upp" is {"cycles", "upp"}, "cpu/event=0xd1/pp" is
/// {"cpu/event=0xd1/", "pp"}, "mem:0x10/8:rw:p" is {"mem:0x10/8:rw", "p"}.
struct EventName {
  std::string name;
  std::string modifiers;
};

/// A last colon that more than modifiers follow belongs to the name: "sched:sched_switch".
EventName split_event_name(std::string_view event);

/// The reverse: "cycles" and "u" to "cycles:u"; without a colon after a slash.
inline std::string join_event_name(const EventName& event) {
  if (event.modifiers.empty()) return event.name;
  return event.name + (event.name.ends_with('/') ? "" : ":") + event.modifiers;
}

/// "r20d1:upp" of a name, its modifiers without p, and a precise level.
inline std::string event_at_level(const std::string& name, const std::string& modifiers,
                                  int level) {
  return join_event_name({name, modifiers + std::string(static_cast<std::size_t>(level), 'p')});
}

/// The event with the modifier S: its samples contain the value of its counter (PERF_SAMPLE_READ).
std::string with_counter_values(std::string_view event);

/// Whether it has that modifier.
inline bool has_counter_values(std::string_view event) {
  return split_event_name(event).modifiers.find('S') != std::string::npos;
}

/// A built-in event as perf has it on this target: "mem:0x403000/8:rw" for "access",
/// "mem:0x401010:x" for "execute", "page-faults" for "faults". Other names as they are.
std::string perf_name_of(const std::string& event, const runway::TargetDescription& target);

/// Splits an argument of -e at its commas, but not at those between the slashes of
/// "cpu/event=0xd1,umask=0x20/". Throws UsageError when a slash is not closed.
std::vector<std::string> split_event_list(std::string_view list);

/// The precise level of modifiers: the number of p's, without limit.
int level_of_modifiers(std::string_view modifiers);

/// Whether the level of an event string is left to perf (modifier P), which takes the highest that
/// works.
inline bool leaves_level_to_perf(std::string_view event) {
  return split_event_name(event).modifiers.find('P') != std::string::npos;
}

/// An event that perf itself has a name for (perf list hw sw), as perf_event_attr encodes it.
struct GenericEvent {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t config;
};

/// By its name or an alias of it; null for other events.
const GenericEvent* find_generic_event(std::string_view name);

/// perf's first name for an event of PERF_TYPE_HARDWARE; empty for an unknown one. The upper half
/// of `config`, which is the PMU's number on hybrid machines, is ignored.
std::string_view generic_hardware_name(std::uint64_t config);

/// How samples are taken beside the event, its level and period.
struct Extras {
  std::optional<std::uint64_t> frequency = {};  ///< samples per second (-F) instead of a period
  std::string call_graph = {};                  ///< --call-graph: "fp", "dwarf", "lbr"; empty: none
  std::string branch_filter = {};  ///< -j: "any", "any_call,u"; empty: no branch stacks
  bool per_cpu = false;            ///< -C: all tasks of the CPU, not the target alone

  friend bool operator==(const Extras&, const Extras&) = default;
};

/// The subject of a recording, which is known before its place.
struct Subject {
  std::string perf_event = {};  ///< as -e takes it, with its precise level: "mem:0x403000/8:rw:pp"
  std::uint64_t period = 0;     ///< events (cpu-clock: nanoseconds) per sample, as asked
  Extras extras = {};
  std::string cross_check = {};   ///< a tracepoint to record every time it fires; empty: none
  runway::RunLength length = {};  ///< of the target
  /// Data addresses and sources with each sample (-d), and weights (-W).
  bool data_addresses = false, weights = false;
};

/// The words of a command line for any perf, each with the version that it came with. Values:
/// `perf`, `output`, `fifos` (what --control takes), `target`, `seconds`, `cpu`, `control`,
/// `acknowledge`.
std::vector<CommandWord> record_words(const Subject& subject);

/// One `perf record` of a subject: its files and its CPU.
struct Recording {
  Subject subject;
  std::filesystem::path output;
  std::filesystem::path target;
  int cpu = 0;
  std::filesystem::path control, acknowledge;  ///< FIFOs, for a perf that has --control
};

/// The line as this perf takes it.
std::vector<std::string> record_command(const machine::PerfTool& perf, const Recording& recording);

/// Whether such a line asks for data addresses.
bool has_data_addresses(const std::vector<std::string>& command);

/// The message for a recording that the kernel accepts only without data addresses.
inline constexpr std::string_view kAddressesRefused =
    "data addresses are refused here: recorded without them";

/// "perf 5.4 has no --control …": what that means for recordings; empty for a perf that has it, and
/// where no version is known yet (kits).
std::string control_note(const machine::PerfTool& perf);

/// What perf prints beside the recording. Its wording changes with the version (7.2 no longer has
/// the number of samples), so that what the file shows is taken from the file.
struct Messages {
  bool wrote_file = false;  ///< perf finished and wrote the recording
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

/// `left`: exit status and output of perf and the target. `file`: the recording of `subject`.
Outcome judge(const Completed& left, const std::filesystem::path& file, const Subject& subject,
              const machine::Machine& machine);

/// The samples of the first event in a recording. Throws InputError.
std::uint64_t samples_of_first_event(const std::filesystem::path& file);

/// What takes the samples of perf's event: of one that perf has no own name for, a PMU.
machine::SampledBy sampled_by(std::string_view perf_event);

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
