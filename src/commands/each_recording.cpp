#include "src/commands/each_recording.h"

#include "src/commands/messages.h"
#include "src/run/run.h"
#include "src/support/error.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace skid::commands {
namespace {

constexpr const char* kDefaultRun = "skidscan.run";

/// Says what a run lacks, so that nobody takes it for whole.
void say_gaps(const std::string& directory, const run::Run& run) {
  const auto pending =
      std::count_if(run.measurements.begin(), run.measurements.end(),
                    [](const auto& planned) { return planned.state == run::State::pending; });
  if (pending > 0) {
    say(
        fmt::format("{}: partial run, {} of {} measurements are missing; finish it with: skidscan "
                    "record --resume {}",
                    directory, pending, run.measurements.size(), directory));
  }
  for (const auto& planned : run.measurements) {
    if (planned.state == run::State::refused) {
      say(fmt::format("{}: {} was not recorded: {}", directory, planned.requested, planned.reason));
    }
  }
}

bool visit_run(const std::string& directory,
               const std::function<bool(const measure::Source&)>& visit) {
  const auto run = run::read_run(directory);
  say_gaps(directory, run);
  bool in_part = false;
  for (const auto& planned : run.measurements) {
    if (planned.state != run::State::finished) continue;
    try {
      in_part =
          visit({std::filesystem::path(directory) / planned.file, directory, &run, &planned}) ||
          in_part;
    } catch (const InputError& error) {
      // One unreadable recording does not hide the others.
      say(error.what());
      in_part = true;
    }
  }
  return in_part;
}

}  // namespace

std::vector<std::string> inputs_or_default_run(std::vector<std::string> inputs) {
  if (!inputs.empty()) return inputs;
  if (!run::is_run(kDefaultRun)) {
    throw Error(
        fmt::format("{}: no run here; make one with 'skidscan record' or name a run or a "
                    "perf.data file",
                    kDefaultRun));
  }
  return {kDefaultRun};
}

InputsRead each_recording(const std::vector<std::string>& inputs,
                          const std::function<bool(const measure::Source&)>& visit) {
  InputsRead result;
  for (const std::string& input : inputs) {
    try {
      const bool in_part =
          run::is_run(input) ? visit_run(input, visit) : visit({input, {}, nullptr, nullptr});
      result.read_in_part = result.read_in_part || in_part;
    } catch (const InputError& error) {
      // The others are still worth showing.
      say(error.what());
      result.read_in_part = true;
      result.has_unreadable = true;
    }
  }
  return result;
}

}  // namespace skid::commands
