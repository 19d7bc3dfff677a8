// Recording sessions: one `perf record` after the other, each file complete or absent.
#pragma once

#include "src/record/plan.h"

#include <filesystem>
#include <functional>
#include <string>

namespace skid::machine {
struct Machine;
struct PerfTool;
}  // namespace skid::machine

namespace skid::run {
struct Run;
}  // namespace skid::run

namespace skid::record {

class Interrupts;
class Progress;

/// How a session ended.
enum class SessionEnd { complete, interrupted };

/// Records the pending measurements of a run into its directory. run.json is written after each, so
/// that finished measurements remain whatever happens to the rest. `targets` are by the name of
/// their file. `finished` is called after each measurement that has its file. Throws Error when a
/// recording fails for a reason that is not the event's: no permission, a full disk, a target or
/// perf that died.
SessionEnd record_pending(run::Run& run, const std::filesystem::path& directory,
                          const Targets& targets, Progress& progress, Interrupts& interrupts,
                          const std::function<void()>& finished);

/// Prepares a partial run to be finished here: removes what an interrupted measurement left, and
/// notes a change of perf. Returns its targets. Throws Error where it was begun on another machine
/// or with other targets, or where files are of another user, but root.
Targets continue_run(run::Run& run, const std::filesystem::path& directory,
                     const machine::Machine& here, const machine::PerfTool& perf);

/// Returns the current time in the format of run.json: "2026-01-02T03:04:05Z".
std::string utc_now();

}  // namespace skid::record
