#include "src/record/preflight.h"

#include "src/perftool/messages.h"
#include "src/support/error.h"
#include "src/support/process.h"

#include <fmt/format.h>

namespace skid::record {

void check_event(const machine::PerfTool& perf, const std::string& text, const std::string& event) {
  const Completed done =
      run_program({perf.path.string(), "record", "--dry-run", "-e", event, "--", "true"});
  if (done.code.success()) return;
  const std::string reason = perftool::syntax_reason(done.err);
  if (perftool::reports_missing_permission(done.err)) {
    throw Error(
        fmt::format("{}: no permission to look the event up ({}); run as root", text, reason));
  }
  throw Error(fmt::format("{}: perf does not know this event ({}); see 'perf list'", text, reason));
}

void check_permission(const machine::PerfTool& perf, const machine::Machine& machine,
                      const std::string& text, const std::string& event) {
  const Completed done = run_program({perf.path.string(), "stat", "-e", event, "--", "true"});
  if (done.code.success()) return;
  if (perftool::reports_missing_permission(done.err)) {
    throw Error(fmt::format("{}: {}", text, perftool::permission_reason(machine)));
  }
}

void check_tracepoint(const machine::PerfTool& perf, std::string_view tracepoint) {
  const std::string event(tracepoint);
  Completed done =
      run_program({perf.path.string(), "record", "--dry-run", "-e", event, "--", "true"});
  if (done.code.success()) {
    done = run_program({perf.path.string(), "stat", "-e", event, "--", "true"});
    if (done.code.success()) return;
  }
  if (perftool::reports_missing_permission(done.err)) {
    throw Error(
        fmt::format("--check-ip: no permission to sample {}; run as root, or leave --check-ip out",
                    tracepoint));
  }
  throw Error(fmt::format(
      "--check-ip: this kernel does not offer {} ({}); it takes x86 and tracefs: 'mount "
      "-t tracefs tracefs /sys/kernel/tracing', or leave --check-ip out",
      tracepoint, perftool::syntax_reason(done.err)));
}

}  // namespace skid::record
