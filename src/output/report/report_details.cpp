#include "src/output/escape.h"
#include "src/output/report/parts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

using analysis::Measurement;

std::string triggers(const Page& page, const EventGroup& event) {
  const std::string first = trigger_text(*event.columns.front().measurement);
  const bool same = std::all_of(
      event.columns.begin(), event.columns.end(),
      [&first](const Column& column) { return trigger_text(*column.measurement) == first; });
  if (same) return page.field("trigger", first);
  std::string text;
  for (const Column& column : event.columns) {
    text += page.field(text.empty() ? "trigger" : "",
                       column.label + ": " + trigger_text(*column.measurement));
  }
  return text;
}

/// Which event was requested and which one the recording holds, a line a column.
std::string event_names(const Page& page, const EventGroup& event) {
  const bool all_synthetic =
      std::all_of(event.columns.begin(), event.columns.end(),
                  [](const Column& column) { return column.measurement->synthetic; });
  using Kind = ListColumn::Kind;
  List list{{{"", Kind::text},
             {"requested", Kind::shortened},
             {"", Kind::text},
             {"recorded", Kind::shortened},
             {"", Kind::text}}};
  for (const Column& column : event.columns) {
    const Measurement& m = *column.measurement;
    const bool substituted = m.event.substituted;
    std::vector<std::string> words;
    if (substituted) words.emplace_back("<- another event");
    if (m.read_in_part) words.emplace_back("(read in part)");
    if (m.synthetic && !all_synthetic) words.emplace_back("(synthetic)");
    list.rows.push_back(
        {{column.label},
         {escape_for_terminal(m.event.requested.value_or("not known"))},
         {!substituted   ? ""
          : page.unicode ? "≠"
                         : "!",
          Ink::red},
         {escape_for_terminal(m.event.recorded), substituted ? Ink::red : Ink::plain},
         {joined(words, " "), Ink::yellow}});
  }
  return '\n' + page.list(list);
}

}  // namespace

std::string trigger_text(const Measurement& measurement) {
  if (!measurement.trigger) return "unknown; pass --hit FUNCTION --runway FUNCTION";
  const analysis::Trigger& trigger = *measurement.trigger;
  std::string text =
      fmt::format("{} at 0x{:x}", escape_for_terminal(trigger.kind), trigger.address);
  if (!measurement.triggers.empty()) {
    text += fmt::format(", the first of {}", measurement.triggers.size());
  }
  if (!trigger.symbol.empty()) text += fmt::format(" ({})", escape_for_terminal(trigger.symbol));
  return text;
}

std::string cpu_details(const analysis::Cpu& cpu) {
  std::vector<std::string> details;
  const auto number = [&details](const char* name, const std::optional<int>& value) {
    if (value) details.push_back(fmt::format("{} {}", name, *value));
  };
  if (!cpu.vendor.empty()) details.push_back(escape_for_terminal(cpu.vendor));
  number("family", cpu.family);
  number("model", cpu.model);
  number("stepping", cpu.stepping);
  if (!cpu.microcode.empty()) {
    details.push_back("microcode " + escape_for_terminal(cpu.microcode));
  }
  if (!cpu.arch.empty()) details.push_back(escape_for_terminal(cpu.arch));
  const std::string name = cpu_name(cpu);
  return details.empty() ? name : fmt::format("{} ({})", name, joined(details));
}

namespace {

/// The paths of recording, each once; empty where all samples came by a fixed period alone.
std::string paths_text(const MachineGroup& machine) {
  std::vector<std::string> paths;
  bool only_period = true;
  for (const EventGroup& event : machine.events) {
    for (const Column& column : event.columns) {
      const auto& path = column.measurement->path;
      if (!path) continue;
      only_period = only_period && *path == analysis::RecordingPath{};
      std::string text = analysis::describe(*path);
      if (std::find(paths.begin(), paths.end(), text) == paths.end()) {
        paths.push_back(std::move(text));
      }
    }
  }
  return only_period ? std::string() : joined(paths, "; ");
}

}  // namespace

std::string machine_header(const Page& page, const MachineGroup& machine) {
  std::string cpu = cpu_details(machine.cpu);
  if (machine.cpu.hypervisor) cpu += ", under " + escape_for_terminal(*machine.cpu.hypervisor);
  std::string kernel = machine.kernel.empty() ? "unknown" : escape_for_terminal(machine.kernel);
  std::string text;
  if (machine.sources.size() == 1) {
    const Source& source = machine.sources.front();
    kernel +=
        fmt::format("; {} {}", source.is_run ? "run" : "file", escape_for_terminal(source.name));
  } else {
    text = page.field("inputs", list_of(texts_of(machine.sources,
                                                 [](const Source& source) {
                                                   return source.letter + ' ' +
                                                          escape_for_terminal(source.name);
                                                 }),
                                        page.details ? machine.sources.size() : 8));
  }
  text = page.field("CPU", cpu) + page.field("kernel", kernel) + text;
  const std::string paths = paths_text(machine);
  if (!paths.empty()) text += page.field("mode", paths + "; verdicts are of this sampling mode");
  return text + origin_field(page, origin_of(machine));
}

std::string event_details(const Page& page, const EventGroup& event) {
  std::string text = page.rule(event.event) + triggers(page, event) + event_names(page, event) +
                     '\n' + page.table(event_numbers(event, page));
  if (const auto repeats = repeats_numbers(event, page)) {
    text +=
        page.title("Over runs: means of their values, intervals over runs") + page.table(*repeats);
  }
  return text + event_histograms(page, event);
}

}  // namespace skid::output
