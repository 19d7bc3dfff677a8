#include "src/commands/each_recording.h"

#include "src/commands/progress_line.h"
#include "src/events/pfm_tables.h"
#include "src/machine/machine.h"
#include "src/record/directory.h"
#include "src/run/packed_run.h"
#include "src/run/perftool/perftool.h"
#include "src/run/run.h"
#include "src/support/command_text.h"
#include "src/support/in_order.h"
#include "src/symbols/disassembler.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace skid::commands {
namespace {

namespace fs = std::filesystem;

/// Describes the parts that a run is missing.
std::vector<std::string> gaps_of(const std::string& directory, const run::Run& run) {
  std::vector<std::string> gaps;
  const auto pending =
      std::ranges::count(run.measurements, run::State::pending, &run::PlannedMeasurement::state);
  if (pending > 0) {
    gaps.push_back(
        fmt::format("{0}: partial run, {1} of {2} measurements are missing; finish it with: "
                    "{3}",
                    directory, pending, run.measurements.size(),
                    command_text({"skidscan", "record", "--resume", file_word(directory)})));
    if (const fs::path replaced = record::replaced_run(directory); !replaced.empty()) {
      gaps.push_back(
          fmt::format("{}: the run that {} was to replace", replaced.string(), directory));
    }
  }
  // By reason without the name of the event, which perf's message may contain.
  std::map<std::string, std::vector<const run::PlannedMeasurement*>> alike;
  for (const auto& planned : run.measurements) {
    if (planned.reason.empty() || planned.state == run::State::finished) continue;
    std::string reason = planned.reason;
    for (const auto& name : {planned.perf_event, planned.requested, planned.event}) {
      if (const auto at = reason.find(name); at != std::string::npos) reason.erase(at, name.size());
    }
    alike[reason].push_back(&planned);
  }
  for (const auto& [reason, measurements] : alike) {
    const auto& first = *measurements.front();
    std::string remedy;
    if (!run.machine.has_core_pmu() && perftool::reports_no_counter(reason)) {
      remedy = " The machine has no PMU; 'skidscan doctor' there prints the remedy";
    }
    const std::size_t others = measurements.size() - 1;
    gaps.push_back(fmt::format("{}: {} not recorded: {}{}", directory,
                               others == 0
                                   ? first.requested + " was"
                                   : fmt::format("{} and {} more were", first.requested, others),
                               first.reason, remedy));
  }
  return gaps;
}

/// A recording to read, or the messages that are printed in its place.
struct Step {
  std::size_t input = 0;
  std::size_t number = 1;  ///< among the recordings of its input
  bool alone = false;      ///< a pipe: others may be meant to be read before it, and from it
  std::vector<std::string> messages = {};
  std::exception_ptr failure = {};  ///< why the input cannot be read
  /// Null for a recording without a run; owns what `source` points to.
  std::shared_ptr<const run::Run> run = {};
  std::optional<measure::Source> source = {};
};

/// Returns the steps of all inputs, one after the other. The description of a run is read when its
/// first recording is requested, so that no more of them are in memory than are being read.
struct Steps {
  const std::vector<std::string>& inputs;
  std::size_t input = 0;  ///< whose steps come next
  std::deque<Step> of_run = {};
  std::size_t recordings = 1;  ///< of the last input

  /// Returns the number of a step, from 1, and the number of inputs; for a single input that is a
  /// run, those of its recordings.
  std::pair<std::size_t, std::size_t> place_of(const Step& step) const {
    if (inputs.size() > 1) return {step.input + 1, inputs.size()};
    return {step.number, recordings};
  }

  std::optional<Step> next() {
    while (of_run.empty()) {
      if (input == inputs.size()) return std::nullopt;
      const std::size_t number = input++;
      try {
        if (run::is_packed_run(inputs[number])) {
          add_run(number, std::make_shared<const run::UnpackedRun>(inputs[number]));
        } else if (run::is_run(inputs[number])) {
          add_run(number, nullptr);
        } else {
          return of_file(number);
        }
      } catch (...) {
        return Step{.input = number, .failure = std::current_exception()};
      }
    }
    Step step = std::move(of_run.front());
    of_run.pop_front();
    return step;
  }

  Step of_file(std::size_t number) const {
    std::error_code ignored;
    const auto status = fs::status(inputs[number], ignored);
    const bool is_pipe =
        inputs[number] == "-" ||
        (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status));
    return {.input = number,
            .alone = is_pipe,
            .source = measure::Source{inputs[number], {}, nullptr, nullptr}};
  }

  /// `unpacked`: the files of a packed run; null: a directory.
  void add_run(std::size_t number, const std::shared_ptr<const run::UnpackedRun>& unpacked) {
    struct Read {
      run::Run run;
      std::shared_ptr<const run::UnpackedRun> files;
    };
    const std::string& directory = inputs[number];
    const fs::path files = unpacked ? unpacked->path() : fs::path();
    const auto read = std::make_shared<const Read>(
        Read{run::read_run(unpacked ? files : fs::path(directory)), unpacked});
    const std::shared_ptr<const run::Run> run(read, &read->run);
    of_run.push_back({.input = number, .messages = gaps_of(directory, *run), .run = run});
    std::size_t recordings_of_run = 0;
    for (const auto& planned : run->measurements) {
      if (planned.state != run::State::finished) continue;
      const fs::path file = fs::path(directory) / planned.file;
      of_run.push_back({.input = number,
                        .number = ++recordings_of_run,
                        .run = run,
                        .source = measure::Source{file, directory, run.get(), &planned, files}});
    }
    recordings = std::max<std::size_t>(1, recordings_of_run);
  }
};

/// The recordings of a run that cannot be read. The reason is told once.
struct Unreadable {
  std::optional<InputFault> told = {};
  std::size_t more = 0;  ///< recordings that cannot be read for the same reason
  std::size_t read = 0;  ///< recordings that were read

  /// Returns whether this is another fault than the last one, and counts it if not.
  bool is_other(InputFault fault) {
    fault.file.clear();
    if (told && describe(*told) == describe(fault)) {
      ++more;
      return false;
    }
    told = std::move(fault);
    return true;
  }
};

}  // namespace

InputsRead each_recording(const std::vector<std::string>& inputs, Cores& cores,
                          const OutputOptions& shown, const Read& read) {
  using Clock = std::chrono::steady_clock;
  /// What is left to do, and how long it took so far.
  struct Begun {
    Finish rest;
    double seconds = 0;
  };
  if (inputs.size() > 1 || run::is_run(inputs.front()) || run::is_packed_run(inputs.front())) {
    // The one-time setup of libraries is not thread-safe, so it is done before a second thread
    // starts.
    symbols::prepare_for_threads();
    events::prepare_pfm_tables();
  }
  InputsRead result;
  std::map<std::size_t, Unreadable> of_runs;
  Steps steps{inputs};
  ProgressLine progress(ProgressLine::suits_standard_error(shown.quiet) && !shown.no_progress);
  const auto read_step = [&](const Step& step) -> Begun {
    if (!step.failure && !step.source) return {};
    const auto begin = Clock::now();
    try {
      if (step.failure) std::rethrow_exception(step.failure);
      const auto [number, total] = steps.place_of(step);
      progress.begins("reading", step.source->file.string(), number, total);
      Finish rest = read(*step.source, step.input);
      return {std::move(rest), std::chrono::duration<double>(Clock::now() - begin).count()};
    } catch (const InputError&) {
      // finish() reports it in the order of the inputs.
      return {[failure = std::current_exception()]() -> bool { std::rethrow_exception(failure); },
              0};
    }
  };
  const auto finish = [&](const Step& step, const Begun& half) {
    const auto paused = progress.pause();
    for (const std::string& message : step.messages) shown.note(message);
    try {
      if (half.rest && half.rest()) result.read_in_part = true;
      if (half.rest) {
        result.is_any_read = true;
        ++of_runs[step.input].read;
        shown.explain(
            fmt::format("{}: read in {:.2f} s", step.source->file.string(), half.seconds));
      }
    } catch (const InputError& error) {
      // The other inputs are still worth showing, and so are a run's other recordings.
      if (!step.run || of_runs[step.input].is_other(error.fault())) print_error(error.what());
      result.read_in_part = true;
      if (step.run) return;
      InputFault fault = error.fault();
      fault.file.clear();
      result.unread.push_back({inputs[step.input], describe(fault)});
    }
  };
  InOrder<Step, Begun>(
      cores, [&] { return steps.next(); }, read_step, finish)
      .run();
  for (const auto& [input, of_run] : of_runs) {
    if (of_run.told && of_run.read == 0) {
      result.unread.push_back({inputs[input], describe(*of_run.told)});
    }
    if (of_run.more == 0) continue;
    print_error(fmt::format("{}: {} more of its recordings cannot be read for the same reason",
                            inputs[input], of_run.more));
  }
  return result;
}

void InputSamples::add(std::size_t input, std::uint64_t samples, std::string_view why) {
  Counted& counted = of_input_[input];
  counted.samples += samples;
  if (counted.why.empty()) counted.why = why;
}

Sampled InputSamples::sampled() const {
  const auto has_none = [](const auto& one) { return one.second.samples == 0; };
  if (std::ranges::none_of(of_input_, has_none)) return Sampled::all;
  return std::ranges::all_of(of_input_, has_none) ? Sampled::none : Sampled::some;
}

Sampled InputSamples::note(const std::vector<std::string>& inputs) const {
  const Sampled result = sampled();
  for (const auto& [input, counted] : of_input_) {
    if (result != Sampled::some || counted.samples > 0) continue;
    print_error(fmt::format("{}: {}", inputs[input],
                            counted.why.empty() ? "no samples were recorded" : counted.why));
  }
  return result;
}

void UnusedFiles::add(const std::map<fs::path, std::string>& of_recording) {
  if (!of_all_) of_all_ = of_recording;
  std::erase_if(*of_all_, [&](const auto& file) { return !of_recording.contains(file.first); });
}

void UnusedFiles::note(const OutputOptions& shown) const {
  if (!of_all_) return;
  for (const auto& [path, text] : *of_all_) shown.note(text);
}

}  // namespace skid::commands
