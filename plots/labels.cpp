#include "plots/labels.h"

#include "analysis/wording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace skid::plots {

using analysis::Measurement;
using output::Column;
using output::EventGroup;
using output::MachineGroup;

namespace {

/// CPU, hypervisor and kernel, and the names of several sources by their letters.
std::string machine_text(const MachineGroup& machine, bool one_of_several) {
  std::string text = output::cpu_name(machine.cpu);
  // Machines of the same name may differ in it.
  if (one_of_several && !machine.cpu.microcode.empty()) {
    text += ", microcode " + machine.cpu.microcode;
  }
  if (machine.cpu.hypervisor) text += ", under " + *machine.cpu.hypervisor;
  if (!machine.kernel.empty()) text += ", Linux " + machine.kernel;
  if (machine.sources.size() > 1) {
    for (const output::Source& source : machine.sources) {
      text += fmt::format("; {}: {}", source.letter, source.name);
    }
  }
  return text;
}

std::string machine_name(std::size_t machine) {
  return fmt::format("CPU {}", machine + 1);
}

std::string period_text(const analysis::Period& period) {
  if (period.requested) return fmt::format(", period {}", *period.requested);
  if (!period.effective || !std::isfinite(*period.effective)) return {};
  return fmt::format(", period ~{:.0f}", *period.effective);
}

}  // namespace

Figure begin_figure(std::string_view title, const Machines& machines) {
  constexpr std::size_t kMostLines = 12;
  Figure figure;
  figure.title = std::string(title) + output::title_mark(machines);
  const bool several = machines.size() > 1;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    figure.head.push_back(
        {.text = (several ? machine_name(i) + ": " : "") + machine_text(machines[i], several),
         .most_lines = kMostLines});
  }
  return figure;
}

std::vector<NamedEvent> events_in_blocks(const Machines& machines, Figure& figure) {
  std::vector<NamedEvent> events;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    for (const EventGroup& event : machines[i].events) {
      const std::string machine = machines.size() == 1 ? "" : machine_name(i) + ":  ";
      events.push_back({&event, machine + event.event});
    }
  }
  constexpr std::array kPlotWidths{820, 560, 460, 420};  // pixels, by columns
  const std::size_t columns = std::clamp<std::size_t>(events.size(), 1, kPlotWidths.size());
  figure.columns = static_cast<int>(columns);
  figure.plot_width = kPlotWidths[columns - 1];
  return events;
}

int panel_height(std::size_t panels) {
  return panels == 1 ? 300 : panels == 2 ? 200 : panels <= 4 ? 140 : 100;
}

std::size_t most_columns(const std::vector<NamedEvent>& events) {
  std::size_t most = 1;
  for (const NamedEvent& event : events) most = std::max(most, event.event->columns.size());
  return most;
}

std::vector<EventRows> rows_by_event(const Machines& machines) {
  std::vector<EventRows> events;
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    for (const EventGroup& group : machines[machine].events) {
      auto event = std::find_if(events.begin(), events.end(),
                                [&group](const EventRows& e) { return e.event == group.event; });
      if (event == events.end()) event = events.insert(events.end(), {group.event, {}});
      for (const Column& column : group.columns) {
        const std::string suffix = machines.size() == 1 ? "" : "  " + machine_name(machine);
        event->rows.push_back({column.measurement, machine, column.level, column.label + suffix});
      }
    }
  }
  for (EventRows& event : events) {
    std::stable_sort(event.rows.begin(), event.rows.end(),
                     [](const Row& a, const Row& b) { return a.level < b.level; });
  }
  return events;
}

Panel row_panel(double rows, int row_height) {
  Panel panel;
  panel.height = static_cast<int>(rows * row_height);
  panel.y = {.low = rows, .high = 0};
  return panel;
}

std::string samples_text(const Measurement& measurement) {
  return samples_text(std::vector<const Measurement*>{&measurement});
}

std::string samples_text(const std::vector<const Measurement*>& runs) {
  std::uint64_t samples = 0;
  std::set<std::string> periods;
  for (const Measurement* run : runs) {
    samples += run->samples.read();
    periods.insert(period_text(run->period));
  }
  return analysis::counted(samples, "sample") +
         (periods.size() == 1 ? *periods.begin() : ", several periods");
}

std::string samples_and_hits(const Measurement& m, std::uint64_t beyond) {
  std::string text = samples_text(m);
  if (m.hit_ratio.total > 0) text += ", hits " + analysis::percent(m.hit_ratio.value);
  if (beyond > 0) text += fmt::format(", {} beyond the axis", beyond);
  return text.append(output::origin_word(output::origin_of(m)));
}

std::string count_and_share(std::uint64_t count, std::uint64_t all, std::string_view of) {
  return fmt::format("{} ({} of {})", analysis::counted(count, "sample"),
                     analysis::percent(static_cast<double>(count) / static_cast<double>(all)), of);
}

Axis offset_axis(const OffsetAxis& axis, int plot_width, bool labelled) {
  constexpr double kPixelsPerTic = 60;
  const double span = static_cast<double>(axis.highest - axis.lowest + 1);
  Axis result;
  result.low = static_cast<double>(axis.lowest) - 0.5 - 0.015 * span;
  result.high = static_cast<double>(axis.highest) + 0.5 + 0.015 * span;
  result.tics =
      tics(result.low, result.high,
           static_cast<double>(round_up_nicely(span * kPixelsPerTic / plot_width)),
           [labelled](double at) { return labelled ? fmt::format("{:.0f}", at) : std::string(); });
  if (labelled) {
    result.label = "offset from trigger (instructions)";
    if (axis.width > 1) result.label += fmt::format(", bins of {}", axis.width);
  }
  return result;
}

std::size_t keep_measurements(Machines& machines, bool (*is_kept)(const Measurement&)) {
  std::size_t others = 0;
  for (output::MachineGroup& machine : machines) {
    for (output::EventGroup& event : machine.events) {
      others += std::erase_if(event.columns,
                              [&](const auto& column) { return !is_kept(*column.measurement); });
    }
    std::erase_if(machine.events, [](const auto& event) { return event.columns.empty(); });
  }
  std::erase_if(machines, [](const auto& machine) { return machine.events.empty(); });
  return others;
}

const std::vector<double>& dashes_of(int n) {
  static const std::array<std::vector<double>, 5> kDashes{
      {{}, {12, 4}, {4, 4}, {16, 4, 4, 4}, {24, 6}}};
  return kDashes[static_cast<std::size_t>(n) % kDashes.size()];
}

Rule trigger_rule(const Axis& y) {
  return {0, y.low, 0, y.high, {Color::grey, 1, kDotted}};
}

std::string offsets_of(std::int64_t lo, bool hits, const OffsetAxis& axis) {
  if (axis.width == 1) return analysis::signed_number(lo);
  if (hits) return "0";
  return fmt::format("{} to {}", analysis::signed_number(lo == 0 ? 1 : lo),
                     analysis::signed_number(lo + axis.width - 1));
}

void show_nothing_located(Panel& panel) {
  panel.y = {};
  panel.notes = {{(panel.x.low + panel.x.high) / 2, 0.5, "no located samples"}};
}

}  // namespace skid::plots
