#include "src/record/session.h"
#include "src/run/perftool/outcome.h"
#include "src/support/error.h"
#include "src/support/process.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::record {

namespace {

/// Has perf parse the event, which is `text` to the user.
void check_syntax(const machine::PerfTool& perf, const std::string& text, const std::string& event,
                  const std::string& near_names) {
  const Completed done =
      run_program({perf.path.string(), "record", "--dry-run", "-e", event, "--", "true"});
  if (done.code.success()) return;
  const std::string reason = perftool::syntax_reason(done.err);
  if (perftool::reports_missing_permission(done.err)) {
    throw Error(
        fmt::format("{}: no permission to look the event up ({}); run as root", text, reason));
  }
  throw Error(fmt::format("{}: perf does not support this event ({}); see 'perf list'{}", text,
                          reason, near_names));
}

/// Has perf count the event for a moment, which takes the same permission as sampling it.
void check_permission(const machine::PerfTool& perf, const machine::Machine& machine,
                      const std::string& text, const std::string& event) {
  const Completed done = run_program({perf.path.string(), "stat", "-e", event, "--", "true"});
  if (done.code.success()) return;
  if (perftool::reports_missing_permission(done.err)) {
    throw Error(fmt::format("{}: {}", text, perftool::permission_reason(machine)));
  }
}

}  // namespace

void check_events(const RecordRequest& request, const machine::Machine& machine,
                  const machine::PerfTool& perf) {
  // Addresses in place of those of targets that do not exist yet.
  runway::TargetDescription nowhere;
  nowhere.layout.trigger = {0x1000, 0x1001};
  nowhere.layout.datum = 0x2000;
  for (const ChosenEvent& chosen : request.events) {
    const RequestedEvent& event = chosen.event;
    const int level = *std::ranges::max_element(chosen.levels);
    check_syntax(perf, event.text(), event.for_perf(level, nowhere),
                 chosen.near_names.value_or(""));
    check_permission(perf, machine, event.text(), event.for_perf(0, nowhere));
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
