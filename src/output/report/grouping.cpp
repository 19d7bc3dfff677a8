#include "src/output/report/grouping.h"

#include "analysis/basis.h"
#include "src/machine/cpu_identity.h"
#include "src/output/escape.h"
#include "src/output/page.h"
#include "src/output/report/parts.h"
#include "src/support/text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;

const std::string& source_name(const Measurement& measurement) {
  return measurement.run.empty() ? measurement.file : measurement.run;
}

/// The element that has the key of `made`, which is added without one.
template <typename T, typename Key>
T& find_or_add(std::vector<T>& values, Key key, T made) {
  const auto found = std::ranges::find(values, std::invoke(key, made), key);
  return found != values.end() ? *found : values.emplace_back(std::move(made));
}

std::size_t source_index(const MachineGroup& machine, const Measurement& measurement) {
  const auto found = std::ranges::find(machine.sources, source_name(measurement), &Source::name);
  return static_cast<std::size_t>(found - machine.sources.begin());
}

/// Orders the columns of an event and labels each so that no two labels are the same.
void label_columns(const MachineGroup& machine, EventGroup& event) {
  const auto order = [&machine](const Column& column) {
    return std::make_tuple(column.level, source_index(machine, *column.measurement),
                           column.measurement->repeat);
  };
  std::ranges::stable_sort(event.columns, {}, order);

  const bool repeated = std::ranges::any_of(
      event.columns, [](const Column& c) { return c.measurement->repeat != 1; });
  std::map<std::string, int> used;
  for (Column& column : event.columns) {
    column.label = level_name(column.level);
    if (machine.sources.size() > 1) {
      column.label += ' ' + machine.sources[source_index(machine, *column.measurement)].letter;
    }
    if (repeated) column.label += fmt::format(" #{}", column.measurement->repeat);
    // One file can hold the same event twice.
    column.label = numbered(column.label, ++used[column.label]);
  }
}

/// The name of an Arm CPU, which the kernel does not give: "Arm Neoverse N1", "Ampere part 0xac3";
/// empty for other CPUs.
std::string arm_name(const analysis::Cpu& cpu) {
  const std::string_view vendor = cpu.vendor;
  if (!vendor.starts_with("0x")) return {};
  const auto implementer = whole_number<unsigned>(vendor.substr(2), 16);
  const std::string_view maker = implementer ? machine::arm_implementer(*implementer) : "";
  if (maker.empty()) return {};
  if (!cpu.model || *cpu.model < 0) return std::string(maker);
  const auto part = static_cast<unsigned>(*cpu.model);
  const std::string_view core = machine::arm_core_name(*implementer, part);
  return core.empty() ? fmt::format("{} part {:#x}", maker, part)
                      : fmt::format("{} {}", maker, core);
}

}  // namespace

std::string letter_of(std::size_t index) {
  std::string text;
  for (++index; index > 0; index = (index - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('a' + (index - 1) % 26));
  }
  return text;
}

std::string cpu_name(const analysis::Cpu& cpu) {
  if (!cpu.model_name.empty()) return escape_for_terminal(cpu.model_name);
  if (std::string name = arm_name(cpu); !name.empty()) return name;
  if (!cpu.vendor.empty()) return escape_for_terminal(cpu.vendor);
  return "unknown CPU";
}

std::string machine_text(const analysis::Cpu& cpu, std::string_view kernel) {
  std::string text = cpu_name(cpu);
  // Several CPUs have one name, such as those of QEMU.
  if (cpu.family && cpu.model && cpu.stepping) {
    // As perf's CPUID and `events --cpu` have them.
    text += fmt::format(" ({}-{:X}-{:X})", *cpu.family, *cpu.model, *cpu.stepping);
  }
  if (!cpu.microcode.empty()) text += ", microcode " + escape_for_terminal(cpu.microcode);
  if (cpu.hypervisor) text += ", under " + escape_for_terminal(*cpu.hypervisor);
  if (!kernel.empty()) text += ", Linux " + escape_for_terminal(kernel);
  return text;
}

std::vector<MachineGroup> group(const std::vector<Measurement>& measurements) {
  std::vector<MachineGroup> machines;
  const auto machine_of = [](const MachineGroup& m) { return std::tie(m.cpu, m.kernel); };
  for (const Measurement& measurement : measurements) {
    MachineGroup& machine =
        find_or_add(machines, machine_of, {measurement.cpu, measurement.kernel, false, {}, {}});
    machine.synthetic = machine.synthetic || measurement.synthetic;
    find_or_add(
        machine.sources, &Source::name,
        {letter_of(machine.sources.size()), source_name(measurement), !measurement.run.empty()});
    EventGroup& event =
        find_or_add(machine.events, &EventGroup::event, {measurement.event.label, {}});
    const int level = measurement.precise.requested.value_or(measurement.precise.recorded);
    event.columns.push_back({&measurement, level, {}});
  }
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) label_columns(machine, event);
  }
  return machines;
}

std::vector<MachineGroup> group_sampled(const std::vector<Measurement>& measurements) {
  std::vector<MachineGroup> machines = group(measurements);
  const auto has_samples = [](const Column& column) {
    return column.measurement->samples.read() > 0;
  };
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) {
      const auto without =
          std::stable_partition(event.columns.begin(), event.columns.end(), has_samples);
      if (without == event.columns.end()) continue;
      machine.unsampled.push_back({event.event, {without, event.columns.end()}});
      event.columns.erase(without, event.columns.end());
    }
    std::erase_if(machine.events, [](const EventGroup& event) { return event.columns.empty(); });
  }
  return machines;
}

std::string origin_field(const Page& page, SampleOrigin origin, const std::string& of) {
  if (origin == SampleOrigin::cpu) return {};
  const std::string begin = of.empty() ? "" : of + ": ";
  if (origin == SampleOrigin::model) {
    return page.field("SYNTHETIC", begin + "samples made by skidscan synth, not measured",
                      Ink::yellow);
  }
  return page.field(
      "EMULATED",
      begin + "an emulated CPU (QEMU) took the samples; its skid at level 0 is a parameter",
      Ink::yellow);
}

}  // namespace skid::output
