// The bias within blocks that an audit finds.
#include "analysis/wording.h"
#include "plots/kinds.h"
#include "src/output/report/parts.h"
#include "src/support/error.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::plots {
namespace {

using audit::BlockFinding;
using audit::EventAudit;

constexpr const char* kBars = "using 1:2 with boxes lc rgb machine[1]";
constexpr double kAuditWidth = 940;  // pixels

struct Judged {
  const EventAudit* event;
  std::string name;
};

std::vector<Judged> judged_events(const std::vector<audit::Audit>& audits) {
  std::vector<Judged> judged;
  for (const audit::Audit& audit : audits) {
    for (const EventAudit& event : audit.events) {
      if (!event.bias.misplaced) continue;
      std::string name = fmt::format("{}, {}", event.event, output::level_name(event.level));
      if (audits.size() > 1) name += fmt::format(", {}", audit.file);
      judged.push_back({&event, std::move(name)});
    }
  }
  return judged;
}

Figure begin_audit(std::string_view title, const std::vector<audit::Audit>& audits,
                   const FigureOptions& options) {
  Figure figure = begin_figure(title, {}, options, kAuditWidth);
  figure.title += output::title_mark(audits);
  for (const audit::Audit& audit : audits) {
    const std::string kernel = audit.kernel.empty() ? "" : ", Linux " + audit.kernel;
    std::string text = output::cpu_name(audit.cpu) + kernel;
    if (std::find(figure.head.begin(), figure.head.end(), text) == figure.head.end()) {
      figure.head.push_back(std::move(text));
    }
  }
  return figure;
}

/// A title that the panel has room for.
std::string fitting(const std::string& text, const Paper& paper) {
  return paper.fitted(text, paper.width - 4 * paper.points);
}

/// The most important part first where there is room for a part alone.
std::string block_caption(const BlockFinding& block, const Paper& paper) {
  const std::string name =
      fmt::format("{} at {:#x}:  ", block.function.empty() ? "code" : block.function,
                  block.samples.range.begin);
  std::string bias = fmt::format("max/even {:.3g}, ", block.samples.largest_ratio()) +
                     analysis::p_text(block.evenness.p_holm);
  if (block.evenness.is_biased) bias += ", biased";
  if (paper.is_narrow()) return name + bias;
  return fmt::format("{}{}, even {}, {}", name,
                     analysis::counted(block.samples.samples(), "sample"),
                     output::number_text(block.samples.expected()), bias);
}

Panel block_panel(const BlockFinding& block, const std::string& event, const Paper& paper) {
  const auto& places = block.samples.places;
  const double even = block.samples.expected();
  Panel panel{.title = event.empty() ? "" : fitting(event, paper) + "\n"};
  panel.title += fitting(block_caption(block, paper), paper);
  Rows bars;
  double most = even;
  std::vector<std::string> tics;
  const double room = static_cast<double>(paper.characters_in(paper.width)) / 14;
  const auto step = static_cast<std::size_t>(
      round_up_nicely(static_cast<double>(places.size()) / std::max(1.0, room)));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto samples = static_cast<double>(places[i].samples);
    bars.push_back({static_cast<double>(i + 1), samples});
    if (i % step == 0) tics.push_back(fmt::format("'{:#x}' {}", places[i].address, i + 1));
    most = std::max(most, samples);
  }
  set_count_axis(panel, most);
  panel.commands.push_back(fmt::format("set xrange [0.4:{}.6]", places.size()));
  panel.commands.push_back(fmt::format("set xtics ({})", fmt::join(tics, ", ")));
  panel.marks = {even_line(even)};
  panel.series = {{kBars, std::move(bars)}};
  return panel;
}

Figure blocks_figure(const std::vector<audit::Audit>& audits, const std::vector<Judged>& events,
                     const FigureOptions& options) {
  constexpr std::size_t kMostPanels = 6;
  Figure figure =
      begin_audit("Samples of instructions that execute equally often", audits, options);
  std::size_t left_out = 0;
  for (const auto& [event, name] : events) {
    const std::size_t shown = std::min(kMostPanels, event->bias.blocks.size());
    for (std::size_t i = 0; i < shown; ++i) {
      figure.panels.emplace_back(
          block_panel(event->bias.blocks[i], i == 0 ? name : "", figure.paper));
    }
    left_out += event->bias.judged - shown;
  }
  figure.head.emplace_back("dashed: the even count of the block");
  if (left_out > 0) {
    figure.head.back() += fmt::format("; without {} whose samples are spread more evenly",
                                      analysis::counted(left_out, "block"));
  }
  figure.commands = {"set boxwidth 0.8"};
  figure.x_label = "address of the instruction";
  figure.y_label = "samples";
  return figure;
}

/// Instructions by the ratio of their samples to the even count. The last bin has all above.
Panel ratio_panel(const EventAudit& event, const std::string& name, const Paper& paper) {
  constexpr double kWidth = 0.1, kMost = 4;
  constexpr auto kBins = static_cast<std::size_t>(kMost / kWidth) + 1;
  const audit::BlockBias& bias = event.bias;
  std::vector<std::size_t> bins(kBins);
  for (const double ratio : bias.ratios) {
    ++bins[std::min(static_cast<std::size_t>(ratio / kWidth), kBins - 1)];
  }
  Panel panel{.title = fitting(name, paper) + "\n" +
                       fitting(fmt::format("{} of {}, {} of {} biased, {:.3g}% of {} misplaced",
                                           analysis::counted(bias.ratios.size(), "instruction"),
                                           analysis::counted(bias.judged, "block"), bias.biased,
                                           bias.judged, 100 * bias.misplaced->value,
                                           analysis::counted(bias.samples, "sample")),
                               paper)};
  Rows bars;
  for (std::size_t i = 0; i < kBins; ++i) {
    bars.push_back({(static_cast<double>(i) + 0.5) * kWidth, static_cast<double>(bins[i])});
  }
  set_count_axis(panel, static_cast<double>(*std::max_element(bins.begin(), bins.end())));
  panel.marks = {"set arrow from 1,graph 0 to 1,graph 1 nohead dt 2 lw 1 front"};
  panel.series = {{kBars, std::move(bars)}};
  return panel;
}

Figure ratios_figure(const std::vector<audit::Audit>& audits, const std::vector<Judged>& events,
                     const FigureOptions& options) {
  Figure figure =
      begin_audit("Samples of instructions over the even count of their block", audits, options);
  for (const auto& [event, name] : events) {
    figure.panels.emplace_back(ratio_panel(*event, name, figure.paper));
  }
  figure.head.emplace_back("dashed: even; last bar: 4 and more");
  figure.commands = {"set xrange [-0.05:4.15]", "set xtics 0.5"};
  figure.x_label = "samples over the even count of the block";
  figure.y_label = "instructions";
  return figure;
}

}  // namespace

Figure audit_figure(const std::vector<audit::Audit>& audits, const FigureOptions& options) {
  const auto events = judged_events(audits);
  if (events.empty()) {
    throw Error("--plot: no block of code was judged; audit --details prints why, for each event");
  }
  Figure figure = options.kind == Kind::ratios ? ratios_figure(audits, events, options)
                                               : blocks_figure(audits, events, options);
  if (figure.panels.empty()) throw Error("--plot: --top 0 lists no block to draw");
  figure.plot_lines = figure.panels.size() == 1 ? 14 : figure.panels.size() < 5 ? 9 : 6;
  return figure;
}

}  // namespace skid::plots
