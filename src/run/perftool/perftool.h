// What perf and its target did, from their output, and what the messages of perf mean.
#pragma once

#include "runway/target_report.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid {
struct Completed;
}  // namespace skid

namespace skid::machine {
struct Machine;
}  // namespace skid::machine

namespace skid::perftool {

struct Subject;

/// What perf prints in addition to the recording. Its wording changes with the version (7.2 no
/// longer has the number of samples), so that what the file shows is taken from the file.
struct Messages {
  bool wrote_file = false;  ///< perf finished and wrote the recording
  bool no_permission = false;
  bool disk_full = false;
  std::optional<std::string> refusal;  ///< why the kernel refuses the event
  std::optional<std::string> unknown;  ///< why perf does not know it
  std::vector<std::string> remarks;    ///< everything but perf's usual chatter, a line each
};

/// Reads what perf printed on standard error.
Messages read_messages(std::string_view standard_error);

/// Whether perf reports that the kernel has no counter for the event.
bool reports_no_counter(std::string_view message);

/// Whether perf reports a missing permission.
bool reports_missing_permission(std::string_view standard_error);

/// Extracts perf's reason for not parsing an event: the text that it points at with "\___", or its
/// first line.
std::string syntax_reason(std::string_view standard_error);

/// Explains a refusal: "no permission to sample it (kernel.perf_event_paranoid is 2); …", with the
/// remedy.
std::string permission_reason(const machine::Machine& machine);

/// How a recording ended.
enum class Ending {
  recorded,
  refused,        ///< the kernel refuses the event, or perf does not know it
  no_permission,  ///< no permission to sample the event
  disk_full,
  died,    ///< perf or the target died, or wrote nothing; not a property of the machine
  failed,  ///< perf gave up before the target started, for an unknown reason
};

/// The result of one `perf record`.
struct Outcome {
  Ending ending = Ending::failed;
  std::string reason;  ///< why not recorded, a clause without the event's name
  Messages messages;
  std::optional<runway::TargetReport> report;
  int signal = 0;  ///< signal that ended the target or perf; 0: none
};

/// Judges how a recording ended. `left`: exit status and output of perf and the target. `file`: the
/// recording of `subject`.
Outcome judge(const Completed& left, const std::filesystem::path& file, const Subject& subject,
              const machine::Machine& machine);

/// Counts the samples of the first event in a recording. Throws InputError.
std::uint64_t samples_of_first_event(const std::filesystem::path& file);

}  // namespace skid::perftool
