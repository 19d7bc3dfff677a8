#include "src/commands/read_measurements.h"

#include "src/commands/messages.h"
#include "src/run/run.h"
#include "src/support/error.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace skid::commands {
namespace {

constexpr const char* kDefaultRun = "skidscan.run";

void add(Findings& findings, measure::Measured measured) {
  for (auto& measurement : measured.measurements) {
    findings.measurements.push_back(std::move(measurement));
  }
  for (const auto& fault : measured.faults) say(describe(fault));
  findings.read_in_part = findings.read_in_part || measured.read_in_part;
}

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

void read_run(const std::string& directory, const measure::Choices& choices, Findings& findings) {
  const auto run = run::read_run(directory);
  say_gaps(directory, run);
  for (const auto& planned : run.measurements) {
    if (planned.state != run::State::finished) continue;
    const measure::Source source{std::filesystem::path(directory) / planned.file, directory, &run,
                                 &planned};
    try {
      add(findings, measure::measure(source, choices));
    } catch (const InputError& error) {
      // One unreadable recording does not hide the others.
      say(error.what());
      findings.read_in_part = true;
    }
  }
}

void read_input(const std::string& input, const measure::Choices& choices, Findings& findings) {
  try {
    if (run::is_run(input)) {
      read_run(input, choices, findings);
    } else {
      add(findings, measure::measure({input, {}, nullptr, nullptr}, choices));
    }
  } catch (const InputError& error) {
    // The others are still worth showing.
    say(error.what());
    findings.read_in_part = true;
    findings.has_unreadable = true;
  }
}

}  // namespace

Findings read_measurements(std::vector<std::string> inputs, const measure::Choices& choices) {
  if (inputs.empty()) {
    if (!run::is_run(kDefaultRun)) {
      throw Error(
          fmt::format("{}: no run here; make one with 'skidscan record' or name a run or a "
                      "perf.data file",
                      kDefaultRun));
    }
    inputs.emplace_back(kDefaultRun);
  }
  Findings findings;
  findings.inputs = std::move(inputs);
  for (std::size_t number = 0; number < findings.inputs.size(); ++number) {
    read_input(findings.inputs[number], choices, findings);
    findings.input_of.resize(findings.measurements.size(), number);
  }
  if (findings.measurements.empty() && !findings.has_unreadable) {
    throw Error(
        fmt::format("{}: nothing was recorded that could be measured", findings.inputs.front()));
  }
  return findings;
}

}  // namespace skid::commands
