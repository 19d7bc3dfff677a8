// perf as `record` uses it: its command lines, and what its messages mean.
#pragma once

#include "src/machine/machine.h"
#include "src/support/process.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::commands {

/// One `perf record`.
struct PerfRecording {
  std::string event;  ///< as -e takes it, with its precise level
  std::uint64_t period = 0;
  std::string witness;  ///< a tracepoint to record every time it fires; empty: none
  std::filesystem::path output;
  std::filesystem::path control, acknowledge;  ///< FIFOs; empty: perf counts from the start
  std::vector<std::string> target;             ///< command line of what is recorded
};

std::vector<std::string> perf_record_command(const machine::PerfTool& perf,
                                             const PerfRecording& recording);

/// Makes perf parse the event. Throws Error with perf's reason when it does not know it.
/// `text` is the event as the user wrote it.
void check_event(const machine::PerfTool& perf, const std::string& text, const std::string& event);

/// Makes perf count the event for a moment, which takes the same permission as sampling it. Throws
/// Error with the remedy when that is refused.
void check_permission(const machine::PerfTool& perf, const machine::Machine& machine,
                      const std::string& text, const std::string& event);

/// Makes perf look up and count the tracepoint that --check-ip records. Throws Error with the
/// remedy when this kernel does not have it or does not give it to this user.
void check_witness(const machine::PerfTool& perf, std::string_view tracepoint);

/// What perf said on standard error, read for what it means.
struct PerfMessages {
  bool wrote_file = false;    ///< perf came to its end and wrote the recording
  std::uint64_t samples = 0;  ///< that it counted there
  bool no_permission = false;
  bool disk_full = false;
  std::optional<std::string> refusal;  ///< why the kernel does not take the event
  std::vector<std::string> remarks;    ///< everything but perf's usual chatter, a line each
};

PerfMessages read_perf_messages(std::string_view standard_error);

/// "no permission to sample cycles:k (kernel.perf_event_paranoid is 2); …", with the remedy.
std::string permission_message(const machine::Machine& machine, const std::string& text);

}  // namespace skid::commands
