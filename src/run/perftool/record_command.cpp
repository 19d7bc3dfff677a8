#include "src/run/perftool/perftool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace skid::perftool {

namespace {

using machine::PerfTool;
using When = CommandWord::When;

// run.sh of kits leaves out the same words where they are refused.
constexpr const char* kDataAddresses = "-d";
constexpr const char* kWeights = "-W";

void add(std::vector<CommandWord>& words, std::vector<CommandWord> more) {
  std::move(more.begin(), more.end(), std::back_inserter(words));
}

/// Likewise, for some recordings only.
std::vector<CommandWord> only(When when, const std::vector<std::string>& texts) {
  std::vector<CommandWord> words;
  words.reserve(texts.size());
  for (const std::string& text : texts) {
    words.push_back({.text = text, .is_value = false, .since = {}, .when = when});
  }
  return words;
}

std::vector<CommandWord> since(Since version, std::vector<CommandWord> words) {
  for (CommandWord& word : words) word.since = version;
  return words;
}

}  // namespace

std::vector<CommandWord> record_words(const Subject& subject) {
  const Extras& extras = subject.extras;
  std::vector<CommandWord> words;
  // Until perf 6.7 mappings of programs that start on another CPU are missing with -C.
  if (extras.per_cpu) {
    add(words, {{.text = "taskset"}, {.text = "-c"}, value_word("cpu")});
  }
  add(words, {value_word("perf"), {.text = "record"}});
  // No copies of the modules in ~/.debug.
  words.push_back({.text = "--no-buildid-cache"});
  // Side-band events of BPF programs, for which perf's end waits up to a second.
  add(words, since(PerfTool::kNoBpfEvent, {{.text = "--no-bpf-event"}}));
  const std::string rate = std::to_string(extras.frequency.value_or(subject.period));
  const std::vector<std::string> plain{"-e", subject.perf_event, extras.frequency ? "-F" : "-c",
                                       rate};
  if (subject.cross_check.empty()) {
    add(words, only(When::always, plain));
  } else {
    // Tracepoints take no period among their terms, so the event has to.
    auto event = split_event_name(subject.perf_event);
    event.name += fmt::format("/{}={}/", extras.frequency ? "freq" : "period", rate);
    add(words, only(When::with_cross_check,
                    {"-e", join_event_name(event), "-e", subject.cross_check, "-c", "1"}));
    add(words, only(When::without_cross_check, plain));
  }
  if (!extras.call_graph.empty())
    add(words, {{.text = "--call-graph"}, {.text = extras.call_graph}});
  if (!extras.branch_filter.empty()) add(words, {{.text = "-j"}, {.text = extras.branch_filter}});
  // Linux takes both together only since 6.12, and then counters of several tasks have one id.
  if (has_counter_values(subject.perf_event)) words.push_back({.text = "--no-inherit"});
  if (extras.per_cpu) add(words, {{.text = "-C"}, value_word("cpu")});
  if (subject.data_addresses) words.push_back({.text = kDataAddresses});
  if (subject.weights) words.push_back({.text = kWeights});
  add(words, {{.text = "-o"}, value_word("output")});
  // Events start disabled; the target has them enabled once it is warm.
  add(words, since(PerfTool::kControl,
                   {{.text = "-D"}, {.text = "-1"}, {.text = "--control"}, value_word("fifos")}));
  words.push_back({.text = "--"});
  add(words, runway::command_words(subject.length, /*with_cpu=*/true));
  add(words, since(PerfTool::kControl, runway::control_words()));
  return words;
}

std::vector<std::string> record_command(const PerfTool& perf, const Recording& recording) {
  std::vector<CommandWord> words = record_words(recording.subject);
  std::erase_if(words, [&perf](const CommandWord& word) {
    return !perf.has(word.since) || word.when == When::without_cross_check;
  });
  const auto* duration = std::get_if<std::chrono::nanoseconds>(&recording.subject.length);
  return filled(words,
                {{"perf", perf.path.string()},
                 {"output", recording.output.string()},
                 {"fifos", fmt::format("fifo:{},{}", recording.control.string(),
                                       recording.acknowledge.string())},
                 {"target", recording.target.string()},
                 {"seconds", duration == nullptr ? std::string() : runway::seconds_text(*duration)},
                 {"cpu", std::to_string(recording.cpu)},
                 {"control", recording.control.string()},
                 {"acknowledge", recording.acknowledge.string()}});
}

bool has_data_addresses(const std::vector<std::string>& command) {
  const auto end = std::ranges::find(command, "--");
  return std::find(command.begin(), end, kDataAddresses) != end;
}

std::string control_note(const PerfTool& perf) {
  if (perf.version.empty() || perf.has_control()) return {};
  return fmt::format(
      "perf {} has no --control (new in {}.{}): the targets' start and warm-up are in the "
      "recordings",
      perf.version, PerfTool::kControl.major, PerfTool::kControl.minor);
}

}  // namespace skid::perftool
