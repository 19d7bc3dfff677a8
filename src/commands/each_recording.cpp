#include "src/commands/each_recording.h"

#include "src/commands/messages.h"
#include "src/events/pfm_tables.h"
#include "src/kit/directory.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/in_order.h"
#include "src/symbols/threads.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace skid::commands {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultRun = "skidscan.run";

std::string what_finishes(const std::string& directory, const run::Run& run) {
  if (!run.by_kit) return fmt::format("skidscan record --resume {}", directory);
  return fmt::format("sh {}/run.sh -o {} (on the machine where it was begun)", directory,
                     directory);
}

/// What a run lacks, so that nobody takes it for whole.
std::vector<std::string> gaps_of(const std::string& directory, const run::Run& run) {
  std::vector<std::string> gaps;
  const auto pending =
      std::count_if(run.measurements.begin(), run.measurements.end(),
                    [](const auto& planned) { return planned.state == run::State::pending; });
  if (pending > 0) {
    gaps.push_back(
        fmt::format("{}: partial run, {} of {} measurements are missing; finish it with: {}",
                    directory, pending, run.measurements.size(), what_finishes(directory, run)));
  }
  for (const auto& planned : run.measurements) {
    if (!planned.reason.empty() && planned.state != run::State::finished) {
      gaps.push_back(
          fmt::format("{}: {} was not recorded: {}", directory, planned.requested, planned.reason));
    }
  }
  return gaps;
}

/// A recording, or what there is to say in its place.
struct Step {
  std::size_t input = 0;
  bool alone = false;  ///< a pipe: others may be meant to be read before it, and from it
  std::vector<std::string> messages;
  std::exception_ptr failure;           ///< why the input cannot be read
  std::shared_ptr<const run::Run> run;  ///< null for a bare recording; holds what `source` names
  std::optional<measure::Source> source;
};

/// The steps of all inputs, one after the other. The description of a run is read when its first
/// recording is asked for, so that no more of them are in memory than are being read.
class Steps {
 public:
  explicit Steps(const std::vector<std::string>& inputs) : inputs_(inputs) {}

  std::optional<Step> next() {
    while (of_run_.empty()) {
      if (input_ == inputs_.size()) return std::nullopt;
      const std::size_t number = input_++;
      try {
        if (!run::is_run(inputs_[number])) return of_file(number);
        add_run(number);
      } catch (...) {
        Step step;
        step.input = number;
        step.failure = std::current_exception();
        return step;
      }
    }
    Step step = std::move(of_run_.front());
    of_run_.pop_front();
    return step;
  }

 private:
  Step of_file(std::size_t number) const {
    if (kit::is_kit(inputs_[number])) {
      throw InputError({.file = inputs_[number],
                        .offset = {},
                        .found = "a kit that has not recorded anything",
                        .allowed = "a run or a recording",
                        .remedy = "carry it to the machine in question and run its run.sh"});
    }
    std::error_code ignored;
    const auto status = fs::status(inputs_[number], ignored);
    Step step;
    step.input = number;
    step.alone = inputs_[number] == "-" ||
                 (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status));
    step.source = measure::Source{inputs_[number], {}, nullptr, nullptr};
    return step;
  }

  void add_run(std::size_t number) {
    const std::string& directory = inputs_[number];
    const auto run = std::make_shared<const run::Run>(run::read_run(directory));
    Step first;
    first.input = number;
    first.messages = gaps_of(directory, *run);
    first.run = run;
    of_run_.push_back(std::move(first));
    for (const auto& planned : run->measurements) {
      if (planned.state != run::State::finished) continue;
      Step step;
      step.input = number;
      step.run = run;
      step.source =
          measure::Source{fs::path(directory) / planned.file, directory, run.get(), &planned};
      of_run_.push_back(std::move(step));
    }
  }

  const std::vector<std::string>& inputs_;
  std::size_t input_ = 0;  ///< whose steps come next
  std::deque<Step> of_run_;
};

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

InputsRead each_recording(const std::vector<std::string>& inputs, Cores& cores, const Read& read) {
  if (inputs.size() > 1 || run::is_run(inputs.front())) {
    // What libraries do once, and not safely, is done before there is a second thread.
    symbols::prepare_for_threads();
    events::prepare_pfm_tables();
  }
  InputsRead result;
  Steps steps(inputs);
  const auto read_step = [&](const Step& step) -> Finish {
    if (!step.failure && !step.source) return {};
    try {
      if (step.failure) std::rethrow_exception(step.failure);
      return read(*step.source, step.input);
    } catch (const InputError&) {
      // To be told in its turn.
      return [failure = std::current_exception()]() -> bool { std::rethrow_exception(failure); };
    }
  };
  const auto finish = [&](const Step& step, const Finish& rest) {
    for (const std::string& message : step.messages) say(message);
    try {
      if (rest && rest()) result.read_in_part = true;
    } catch (const InputError& error) {
      // The others are still worth showing; of a run, its other recordings are.
      say(error.what());
      result.read_in_part = true;
      if (!step.run) result.has_unreadable = true;
    }
  };
  InOrder<Step, Finish>(
      cores, [&] { return steps.next(); }, read_step, finish)
      .run();
  return result;
}

InputsRead each_recording(const std::vector<std::string>& inputs,
                          const std::function<bool(const measure::Source&)>& visit) {
  Cores one(1);
  return each_recording(inputs, one, [&](const measure::Source& source, std::size_t) -> Finish {
    const bool in_part = visit(source);
    return [in_part] { return in_part; };
  });
}

}  // namespace skid::commands
