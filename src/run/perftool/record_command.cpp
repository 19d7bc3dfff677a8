#include "src/run/perftool/record_command.h"

#include "runway/target.h"
#include "runway/target_run.h"
#include "src/machine/machine.h"
#include "src/run/perftool/event_name.h"
#include "src/support/since.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

namespace skid::perftool {

using machine::PerfTool;

std::vector<std::string> record_command(const PerfTool& perf, const Recording& recording) {
  const Subject& subject = recording.subject;
  const Extras& extras = subject.extras;
  std::vector<std::string> words;
  const auto add = [&words](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  const std::string cpu = std::to_string(recording.cpu);
  // Until perf 6.7 mappings of programs that start on another CPU are missing with -C.
  if (extras.per_cpu) add({"taskset", "-c", cpu});
  // No copies of the modules in ~/.debug.
  add({perf.path.string(), "record", "--no-buildid-cache"});
  // Side-band events of BPF programs, for which perf's end waits up to a second.
  if (perf.has(PerfTool::kNoBpfEvent)) add({"--no-bpf-event"});
  const std::string rate = std::to_string(extras.frequency.value_or(subject.period));
  if (subject.cross_check.empty()) {
    add({"-e", subject.perf_event, extras.frequency ? "-F" : "-c", rate});
  } else {
    // Tracepoints take no period among their terms, so the event has to.
    auto event = split_event_name(subject.perf_event);
    event.name += fmt::format("/{}={}/", extras.frequency ? "freq" : "period", rate);
    add({"-e", join_event_name(event), "-e", subject.cross_check, "-c", "1"});
  }
  if (!extras.call_graph.empty()) add({"--call-graph", extras.call_graph});
  if (!extras.branch_filter.empty()) add({"-j", extras.branch_filter});
  // Linux takes both together only since 6.12, and then counters of several tasks have one id.
  if (has_counter_values(subject.perf_event)) add({"--no-inherit"});
  if (extras.per_cpu) add({"-C", cpu});
  if (subject.data_addresses) add({"-d"});
  if (subject.weights) add({"-W"});
  if (subject.registers) add({std::string(kRegistersOption)});
  // The registers of IBS: 72 to 80 bytes a sample, each of which has its own interrupt anyway.
  if (subject.perf_event.starts_with("ibs_op/")) add({"-R"});
  add({"-o", recording.output.string()});
  runway::Target target;
  target.path = recording.target;
  runway::TargetRun run{.length = subject.length, .cpu = recording.cpu};
  // Events start disabled; the target has them enabled once it is warm.
  if (perf.has_control()) {
    run.control = recording.control;
    run.acknowledge = recording.acknowledge;
    add({"-D", "-1", "--control",
         fmt::format("fifo:{},{}", run.control.string(), run.acknowledge.string())});
  }
  words.emplace_back("--");
  for (std::string& word : runway::command_line(target, run)) words.push_back(std::move(word));
  return words;
}

std::string control_note(const PerfTool& perf) {
  if (perf.version.empty() || perf.has_control()) return {};
  return fmt::format(
      "perf {} has no --control (new in {}.{}): the targets' start and warm-up are in the "
      "recordings",
      perf.version, PerfTool::kControl.major, PerfTool::kControl.minor);
}

}  // namespace skid::perftool
