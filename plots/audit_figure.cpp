// The bias within blocks that an audit finds.
#include "analysis/wording.h"
#include "plots/kinds.h"
#include "src/output/report/parts.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::plots {
namespace {

using audit::BlockFinding;
using audit::EventAudit;

/// Panels with a bar for each of `heights` at 1, 2, …
Panel bar_panel(std::string title, const std::vector<double>& heights, double highest) {
  Panel panel{.title = std::move(title), .commands = count_axis(highest)};
  Rows bars;
  for (const double height : heights) {
    bars.push_back({static_cast<double>(bars.size() + 1), height});
  }
  panel.series.push_back({"$d using 1:2 with boxes lt 1", std::move(bars)});
  return panel;
}

/// The samples of each instruction. The most important part of the title first: it may be cut.
Panel block_panel(const BlockFinding& block, const Paper& paper) {
  const auto& places = block.samples.places;
  const double even = block.samples.expected();
  std::string title =
      fmt::format("{} at {:#x}:  max/even {:.3g}, {}",
                  block.function.empty() ? "code" : block.function, block.samples.range.begin,
                  block.samples.largest_ratio(), analysis::p_text(block.evenness.p_holm));
  if (block.evenness.is_biased) title += ", biased";
  title += fmt::format(", {}, even {}", analysis::counted(block.samples.samples(), "sample"),
                       output::number_text(even));
  std::vector<double> samples;
  std::vector<std::string> tics;
  const double labels = std::max(1.0, paper.width / paper.width_of(14));
  const auto step =
      static_cast<std::size_t>(round_up_nicely(static_cast<double>(places.size()) / labels));
  for (std::size_t i = 0; i < places.size(); ++i) {
    samples.push_back(static_cast<double>(places[i].samples));
    if (i % step == 0) tics.push_back(fmt::format("'{:#x}' {}", places[i].address, i + 1));
  }
  const double most = std::max(even, *std::max_element(samples.begin(), samples.end()));
  Panel panel = bar_panel(std::move(title), samples, most);
  panel.commands.push_back(fmt::format("set xrange [0.4:{}.6]", places.size()));
  panel.commands.push_back(fmt::format("set xtics ({})", fmt::join(tics, ", ")));
  panel.marks = {even_line(even)};
  return panel;
}

/// Instructions by the ratio of their samples to the even count. The last bin has all above.
Panel ratio_panel(const audit::BlockBias& bias) {
  constexpr std::size_t kBins = 41;  // of a tenth
  std::vector<double> bins(kBins);
  for (const double ratio : bias.ratios) {
    ++bins[static_cast<std::size_t>(std::min(10 * ratio, kBins - 1.0))];
  }
  Panel panel =
      bar_panel(fmt::format("{} of {}, {} of {} biased, {:.3g}% of {} misplaced",
                            analysis::counted(bias.ratios.size(), "instruction"),
                            analysis::counted(bias.judged, "block"), bias.biased, bias.judged,
                            100 * bias.misplaced->value, analysis::counted(bias.samples, "sample")),
                bins, *std::max_element(bins.begin(), bins.end()));
  panel.marks = {"set arrow from 10.5,graph 0 to 10.5,graph 1 nohead dt 2 lw 1 front"};
  return panel;
}

/// Adds the panels of `event`: its ratios, or its blocks with the most bias. Returns the number of
/// blocks without a panel.
std::size_t add_panels(const EventAudit& event, const std::string& name, Kind kind,
                       Figure& figure) {
  constexpr std::size_t kMostBlocks = 6;
  const std::size_t before = figure.panels.size();
  const std::size_t shown = std::min(kMostBlocks, event.bias.blocks.size());
  if (kind == Kind::ratios) {
    figure.panels.push_back(ratio_panel(event.bias));
  } else {
    for (std::size_t i = 0; i < shown; ++i) {
      figure.panels.push_back(block_panel(event.bias.blocks[i], figure.paper));
    }
  }
  if (before < figure.panels.size()) figure.panels[before].title.insert(0, name + '\n');
  return kind == Kind::ratios ? 0 : event.bias.judged - shown;
}

}  // namespace

Figure audit_figure(const std::vector<audit::Audit>& audits, const FigureOptions& options) {
  const bool is_of_ratios = options.kind == Kind::ratios;
  Figure figure =
      begin_figure(is_of_ratios ? "Samples of instructions over the even count of their block"
                                : "Samples of instructions that execute equally often",
                   {}, options, 940);
  figure.title += output::title_mark(audits);
  bool is_judged = false;
  std::size_t left_out = 0;
  for (const audit::Audit& audit : audits) {
    figure.head.push_back(output::machine_text(audit.cpu, audit.kernel));
    for (const EventAudit& event : audit.events) {
      if (!event.bias.misplaced) continue;
      is_judged = true;
      std::string name = fmt::format("{}, {}", event.event, output::level_name(event.level));
      if (audits.size() > 1) name += ", " + audit.file;
      left_out += add_panels(event, name, options.kind, figure);
    }
  }
  if (!is_judged) {
    throw Error("--plot: no block of code was judged; audit --details prints why, for each event");
  }
  if (figure.panels.empty()) throw Error("--plot: --top 0 lists no block to draw");
  figure.head = each_once(std::move(figure.head));
  figure.head.emplace_back(is_of_ratios ? "dashed: even; last bar: 4 and more"
                                        : "dashed: the even count of the block");
  if (left_out > 0) {
    figure.head.back() += fmt::format("; without {} whose samples are spread more evenly",
                                      analysis::counted(left_out, "block"));
  }
  figure.commands = {"set boxwidth 0.8"};
  if (is_of_ratios)
    figure.commands.emplace_back(
        "set xrange [0:42]; set xtics ('0' 0.5, '1' 10.5, '2' 20.5, '3' 30.5, '4' 40.5)");
  figure.x_label =
      is_of_ratios ? "samples over the even count of the block" : "address of the instruction";
  figure.y_label = is_of_ratios ? "instructions" : "samples";
  figure.plot_lines = std::clamp(24 / static_cast<double>(figure.panels.size()), 6.0, 14.0);
  return figure;
}

}  // namespace skid::plots
