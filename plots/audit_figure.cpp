// Draws the bias within blocks that an audit finds.
#include "analysis/block_evenness.h"
#include "analysis/event_identity.h"
#include "analysis/wording.h"
#include "plots/axes.h"
#include "plots/drawing.h"
#include "plots/kinds.h"
#include "plots/labels.h"
#include "plots/marks.h"
#include "src/audit/block_bias.h"
#include "src/audit/block_samples.h"
#include "src/audit/findings.h"
#include "src/machine/machine.h"
#include "src/output/number_text.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/sample_origin.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::plots {

struct FigureOptions;

namespace {

using audit::BlockFinding;
using audit::EventAudit;

/// Makes the panel of a block: the samples of each instruction. The most important part of the
/// title is first, because it may be cut.
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
  Rows bars;
  double most = even;
  std::vector<std::string> tics;
  const double labels = std::max(1.0, paper.width / paper.width_of(14));
  const auto step =
      static_cast<std::size_t>(round_up_nicely(static_cast<double>(places.size()) / labels));
  for (std::size_t i = 0; i < places.size(); ++i) {
    bars.push_back({static_cast<double>(i + 1), static_cast<double>(places[i].samples)});
    most = std::max(most, bars.back()[1]);
    if (i % step == 0) tics.push_back(fmt::format("'{:#x}' {}", places[i].address, i + 1));
  }
  Panel panel{.title = std::move(title), .commands = count_axis(most), .marks = {even_line(even)}};
  panel.commands.push_back(fmt::format("set xrange [0.4:{}.6]", places.size()));
  panel.commands.push_back(fmt::format("set xtics ({})", fmt::join(tics, ", ")));
  panel.series.push_back({"$d using 1:2 with boxes lt 1", std::move(bars)});
  return panel;
}

}  // namespace

Figure audit_figure(const std::vector<audit::Audit>& audits, const FigureOptions& options) {
  constexpr std::size_t kMostBlocks = 6;  // the most blocks that are shown of an event
  Figure figure = begin_figure("Samples within blocks of code", {}, options, 940);
  add_mark(figure, output::title_mark(audits));
  bool is_judged = false;
  std::size_t left_out = 0;
  for (const audit::Audit& audit : audits) {
    figure.head.push_back(output::machine_text(audit.cpu, audit.kernel));
    for (const EventAudit& event : audit.events) {
      if (!event.bias.misplaced) continue;
      is_judged = true;
      std::string name =
          fmt::format("{}, {}", event.identity.label, output::level_name(event.level));
      if (audits.size() > 1) name += ", " + std::filesystem::path(audit.file).filename().string();
      const std::size_t shown = std::min(kMostBlocks, event.bias.blocks.size());
      for (std::size_t i = 0; i < shown; ++i) {
        Panel panel = block_panel(event.bias.blocks[i], figure.paper);
        if (i == 0) panel.title.insert(0, name + '\n');
        figure.panels.push_back(std::move(panel));
      }
      left_out += event.bias.judged - shown;
    }
  }
  if (!is_judged) {
    throw Error(
        "figure: no block of code was judged; the details of 'skidscan audit' state why, for each "
        "event");
  }
  if (figure.panels.empty()) throw Error("figure: no block is listed, so none can be drawn");
  figure.head = each_once(std::move(figure.head));
  figure.note = "instructions of a block execute equally often; dashed: the even count";
  if (left_out > 0) {
    figure.note += fmt::format("; without {} whose samples are spread more evenly",
                               analysis::counted(left_out, "block"));
  }
  figure.commands = {"set boxwidth 0.8"};
  figure.x_label = "address of the instruction";
  figure.y_label = "samples";
  figure.plot_lines = std::clamp(24 / static_cast<double>(figure.panels.size()), 6.0, 14.0);
  return figure;
}

}  // namespace skid::plots
