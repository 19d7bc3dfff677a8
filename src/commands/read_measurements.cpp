#include "src/commands/read_measurements.h"

#include "src/commands/messages.h"
#include "src/output/report_reader.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace skid::commands {
namespace {

constexpr const char* kDefaultRun = "skidscan.run";

struct Choices {
  measure::Choices measure;
  std::optional<std::int64_t> bin_width;
};

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

/// What may be a report: a regular file, a FIFO or standard input; else nothing. A FIFO has to stay
/// open until it was read, lest its writer finds nobody at the other end.
FileDescriptor open_stream(const std::string& input) {
  if (input == "-") {
    if (::isatty(STDIN_FILENO) == 1) return {};
    return FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  }
  std::error_code ignored;
  const auto status = std::filesystem::status(input, ignored);
  if (!std::filesystem::is_regular_file(status) && !std::filesystem::is_fifo(status)) return {};
  return FileDescriptor(::open(input.c_str(), O_RDONLY | O_CLOEXEC));
}

void read_report(const std::string& input, const FileDescriptor& stream, const Choices& choices,
                 Findings& findings) {
  if (choices.measure.hit_function) {
    throw Error(fmt::format(
        "{}: a report was measured before; --hit and --runway take its recordings", input));
  }
  const std::string text = read_to_end(stream, output::kMostReportBytes, input);
  if (text.size() > output::kMostReportBytes) {
    throw InputError({.file = input,
                      .offset = {},
                      .found = fmt::format("more than {} bytes", output::kMostReportBytes),
                      .allowed = "a report",
                      .remedy = "name its recordings instead"});
  }
  for (auto& measurement : output::read_report(text, input, choices.bin_width)) {
    findings.read_in_part = findings.read_in_part || measurement.read_in_part;
    findings.measurements.push_back(std::move(measurement));
  }
}

void read_input(const std::string& input, const Choices& choices, Findings& findings) {
  constexpr std::size_t kEnoughToTell = 64;
  try {
    if (run::is_run(input)) {
      read_run(input, choices.measure, findings);
      return;
    }
    const FileDescriptor stream = open_stream(input);
    if (stream && output::looks_like_report(peek(stream, kEnoughToTell))) {
      read_report(input, stream, choices, findings);
    } else {
      add(findings, measure::measure({input, {}, nullptr, nullptr}, choices.measure));
    }
  } catch (const InputError& error) {
    // The others are still worth showing.
    say(error.what());
    findings.read_in_part = true;
    findings.has_unreadable = true;
  }
}

}  // namespace

Findings read_measurements(std::vector<std::string> inputs, measure::Choices choices,
                           std::optional<std::int64_t> bin_width) {
  choices.bin_width = bin_width.value_or(1);
  const Choices all{std::move(choices), bin_width};
  if (inputs.empty()) {
    if (!run::is_run(kDefaultRun)) {
      throw Error(
          fmt::format("{}: no run here; make one with 'skidscan record' or name a run, a report "
                      "or a perf.data file",
                      kDefaultRun));
    }
    inputs.emplace_back(kDefaultRun);
  }
  Findings findings;
  findings.inputs = std::move(inputs);
  for (std::size_t number = 0; number < findings.inputs.size(); ++number) {
    read_input(findings.inputs[number], all, findings);
    findings.input_of.resize(findings.measurements.size(), number);
  }
  if (findings.measurements.empty() && !findings.has_unreadable) {
    throw Error(
        fmt::format("{}: nothing was recorded that could be measured", findings.inputs.front()));
  }
  return findings;
}

}  // namespace skid::commands
