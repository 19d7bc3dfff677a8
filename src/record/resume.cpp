#include "src/record/session.h"
#include "src/support/error.h"

#include <algorithm>
#include <system_error>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::record {

namespace {

namespace fs = std::filesystem;

/// A target is a program, and run.json has arguments of perf: those of another user are not run.
/// Throws Error.
void check_owner(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;  // reading it reports the reason
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return;
  throw Error(
      fmt::format("{}: belongs to another user (uid {}), whose programs are not run; "
                  "take it over with chown, or record anew",
                  path.string(), status.st_uid));
}

/// The targets of an existing run. Throws Error if one differs from the target that the run was
/// begun with.
Targets read_targets(const run::Run& run, const fs::path& directory) {
  Targets targets;
  for (const run::RunTarget& recorded : run.targets) {
    const fs::path path = directory / recorded.file;
    check_owner(path);
    std::optional<runway::Target> target = runway::read_target(path);
    if (!target || target->build_id != recorded.build_id) {
      throw Error(
          fmt::format("{}: is not the target that this run was begun with (build-id {}, "
                      "run.json has {}); record anew",
                      path.string(), target ? target->build_id : "unknown", recorded.build_id));
    }
    targets.emplace(recorded.trigger, std::move(*target));
  }
  for (const run::PlannedMeasurement& measurement : run.measurements) {
    if (measurement.state == run::State::pending && !targets.contains(measurement.trigger)) {
      throw Error(fmt::format("{}: has no target for the trigger \"{}\"; record anew",
                              (directory / run::kFileName).string(), measurement.trigger));
    }
  }
  return targets;
}

/// Measurements of two machines in one run would be compared as if they were of one.
void check_same_machine(const run::Run& run, const machine::Machine& here) {
  const machine::CpuIdentity& then = run.machine.cpu;
  const machine::CpuIdentity& now = here.cpu;
  const auto identity = [](const machine::CpuIdentity& cpu) {
    return std::tie(cpu.arch, cpu.vendor, cpu.family, cpu.model, cpu.stepping, cpu.microcode);
  };
  if (identity(then) != identity(now) || run.machine.kernel != here.kernel) {
    throw Error(fmt::format(
        "the run was begun on {} (microcode {}, Linux {}), this is {} (microcode {}, Linux {}); "
        "record anew",
        then.model_name, then.microcode, run.machine.kernel, now.model_name, now.microcode,
        here.kernel));
  }
  const std::vector<int>& allowed = here.allowed_cpus;
  for (const run::PlannedMeasurement& measurement : run.measurements) {
    if (measurement.state != run::State::pending) continue;
    const int cpu = measurement.cpu.value_or(run.cpu);
    if (allowed.empty() || std::ranges::binary_search(allowed, cpu)) continue;
    throw Error(
        fmt::format("the run was begun on CPU {}, where this process may not run; expected "
                    "one of {}",
                    cpu, fmt::join(allowed, ", ")));
  }
}

}  // namespace

Targets continue_run(run::Run& run, const fs::path& directory, const machine::Machine& here,
                     const machine::PerfTool& perf) {
  for (const fs::path& path : {directory, directory / run::kFileName}) check_owner(path);
  check_same_machine(run, here);
  Targets targets = read_targets(run, directory);
  std::error_code ignored;
  for (const run::PlannedMeasurement& measurement : run.measurements) {
    fs::remove(directory / (measurement.file + ".partial"), ignored);
  }
  if (perf.version != run.perf.version) {
    run.notes.push_back(
        fmt::format("begun with perf {}, resumed with perf {}", run.perf.version, perf.version));
  }
  run.perf = perf;
  return targets;
}

}  // namespace skid::record
