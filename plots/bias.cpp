#include "analysis/wording.h"
#include "plots/kinds.h"
#include "src/support/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Measurement;
using analysis::SampleClass;
using analysis::TriggerCount;
using output::Column;
using output::EventGroup;
using output::MachineGroup;

/// Keeps the measurements with several triggers; returns the number of others.
std::size_t keep_several_triggers(Machines& machines) {
  std::size_t others = 0;
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) {
      others += std::erase_if(event.columns, [](const Column& column) {
        return column.measurement->triggers.size() < 2;
      });
    }
    std::erase_if(machine.events, [](const EventGroup& event) { return event.columns.empty(); });
  }
  std::erase_if(machines, [](const MachineGroup& machine) { return machine.events.empty(); });
  return others;
}

std::string caption_of(const Column& column) {
  const Measurement& m = *column.measurement;
  std::string text = fmt::format("{}:  {}", column.label, samples_text(m));
  if (!m.basis.equal_triggers) {
    text += ", triggers of unequal rates";
  } else if (m.bias) {
    if (m.bias->largest_ratio) text += fmt::format(", max/min {:.3g}", *m.bias->largest_ratio);
    text += ", " + analysis::p_text(m.bias->p);
  }
  if (m.synthetic) text += ", synthetic";
  return text;
}

Axis trigger_axis(std::size_t triggers, int plot_width, bool labelled) {
  constexpr double kPixelsPerTic = 40;
  const auto count = static_cast<double>(triggers);
  const std::int64_t step = round_up_nicely(count * kPixelsPerTic / plot_width);
  Axis axis{.low = 0.4, .high = count + 0.6};
  for (std::int64_t i = 1; i <= static_cast<std::int64_t>(triggers); i += step) {
    axis.tics.push_back({static_cast<double>(i), labelled ? fmt::format("{}", i) : ""});
  }
  if (labelled) axis.label = "trigger, in the order of addresses";
  return axis;
}

/// `highest`: per cent.
Axis share_axis(double highest, int height) {
  const double top = std::min(highest * 1.15, 105.0);
  const double step = std::max(top * 36.0 / height, 0.01);
  // Shares of many triggers are below 1%.
  const double unit = step >= 1 ? 1.0 : 0.01;
  return {.low = 0,
          .high = top,
          .tics = tics(0, top, static_cast<double>(round_up_nicely(step / unit)) * unit,
                       [](double at) { return fmt::format("{:.4g}%", at); }),
          .label = "share of samples"};
}

Panel panel_of(const Column& column, int height, int plot_width, bool labelled) {
  const Measurement& m = *column.measurement;
  Panel panel{.height = height,
              .captions = {{caption_of(column)}},
              .x = trigger_axis(m.triggers.size(), plot_width, labelled)};
  std::uint64_t all = 0, most = 0;
  for (const TriggerCount& trigger : m.triggers) {
    all += trigger.samples;
    most = std::max(most, trigger.samples);
  }
  if (all == 0) {
    show_nothing_located(panel);
    return panel;
  }
  const auto percent = [all](std::uint64_t samples) {
    return 100.0 * static_cast<double>(samples) / static_cast<double>(all);
  };
  const double even = m.basis.equal_triggers ? 100 / static_cast<double>(m.triggers.size()) : 0;
  panel.y = share_axis(std::max(even, percent(most)), height);
  Boxes hits{fill_of(SampleClass::hit)}, skids{fill_of(SampleClass::skid)};
  double x = 0.6;
  for (const TriggerCount& trigger : m.triggers) {
    const std::string place = fmt::format("{}, trigger {:.0f}", column.label, x + 0.4);
    const auto add = [&](Boxes& boxes, std::uint64_t from, std::uint64_t to, const char* what) {
      if (to == from) return;
      boxes.boxes.push_back({x,
                             x + 0.8,
                             percent(from),
                             percent(to),
                             {place, count_and_share(to - from, all, "all") + what}});
    };
    add(hits, 0, trigger.hits, ", hit");
    add(skids, trigger.hits, trigger.samples, ", on the runway after it");
    ++x;
  }
  panel.boxes = {std::move(skids), std::move(hits)};
  if (even > 0) {
    panel.rules = {{panel.x.low, even, panel.x.high, even, {Color::black, 1.5, kDashed}, true}};
  }
  return panel;
}

}  // namespace

Figure bias_figure(const Machines& all) {
  Machines machines = all;
  const std::size_t others = keep_several_triggers(machines);
  if (machines.empty()) {
    throw UsageError(
        fmt::format("--kind bias: no measurement with several triggers ({} with one "
                    "or none); record --triggers 4 makes them",
                    others));
  }
  Figure figure = begin_figure("Which trigger samples fall on", machines);
  if (others > 0) {
    figure.remark =
        fmt::format("without {} of one trigger", analysis::counted(others, "measurement"));
  }
  figure.legend = {{fill_of(SampleClass::hit), "hit"},
                   {fill_of(SampleClass::skid), "on the runway after it"},
                   {LineStyle{Color::black, 1.5, kDashed}, "even share"}};
  const std::vector<NamedEvent> events = events_in_blocks(machines, figure);
  const int height = panel_height(most_columns(events));
  for (const auto& [event, name] : events) {
    Block block{name};
    for (const Column& column : event->columns) {
      block.panels.push_back(
          panel_of(column, height, figure.plot_width, &column == &event->columns.back()));
    }
    figure.blocks.push_back(std::move(block));
  }
  return figure;
}

}  // namespace skid::plots
