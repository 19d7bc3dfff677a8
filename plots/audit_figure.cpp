#include "plots/audit_figure.h"

#include "analysis/wording.h"
#include "plots/labels.h"
#include "plots/offset_bins.h"
#include "src/output/report/grouping.h"
#include "src/output/report/parts.h"
#include "src/support/error.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using audit::BlockFinding;
using audit::EventAudit;

constexpr Fill kBars{Color::blue, 0};
constexpr std::string_view kNoBlock =
    "no block of code was judged; audit --details prints why, for each event";
constexpr std::string_view kTop0 = "--top 0 lists no block to draw";

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

Figure begin(std::string_view title, const std::vector<audit::Audit>& audits) {
  Figure figure;
  figure.title = std::string(title) + output::title_mark(audits);
  for (const audit::Audit& audit : audits) {
    const std::string kernel = audit.kernel.empty() ? "" : ", Linux " + audit.kernel;
    std::string text = output::cpu_name(audit.cpu) + kernel;
    const bool is_known = std::any_of(figure.head.begin(), figure.head.end(),
                                      [&](const HeadText& head) { return head.text == text; });
    if (!is_known) figure.head.push_back({.text = std::move(text), .most_lines = 2});
  }
  return figure;
}

/// From 0 to a little more than `highest`, with whole numbers of `what`.
Axis count_axis(double highest, int height, std::string_view what) {
  constexpr double kPixelsPerTic = 36;
  const double top = std::max(highest, 1.0) * 1.1;
  return {.low = 0,
          .high = top,
          .tics = tics(0, top, static_cast<double>(round_up_nicely(top * kPixelsPerTic / height)),
                       [](double at) { return fmt::format("{:.0f}", at); }),
          .label = std::string(what)};
}

std::string caption_of(const BlockFinding& block) {
  std::string text =
      fmt::format("{} at {:#x}:  {}, even {}", block.function.empty() ? "code" : block.function,
                  block.samples.range.begin, analysis::counted(block.samples.samples(), "sample"),
                  output::number_text(block.samples.expected()));
  text += fmt::format(", max/even {:.3g}, ", block.samples.largest_ratio()) +
          analysis::p_text(block.evenness.p_holm);
  if (block.evenness.is_biased) text += ", biased";
  return text;
}

Panel block_panel(const BlockFinding& block, int height, int plot_width) {
  constexpr double kPixelsPerTic = 72;
  const auto& places = block.samples.places;
  const double even = block.samples.expected();
  const auto count = static_cast<double>(places.size());
  Panel panel{.height = height,
              .captions = {{caption_of(block)}},
              .x = {.low = 0.4, .high = count + 0.6, .label = "address of the instruction"}};
  const std::int64_t step = round_up_nicely(count * kPixelsPerTic / plot_width);
  Boxes bars{kBars};
  double most = even;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double x = static_cast<double>(i) + 1;
    const std::string address = fmt::format("{:#x}", places[i].address);
    const auto samples = static_cast<double>(places[i].samples);
    if (static_cast<std::int64_t>(i) % step == 0) panel.x.tics.push_back({x, address});
    most = std::max(most, samples);
    if (places[i].samples == 0) continue;
    bars.boxes.push_back(
        {x - 0.4,
         x + 0.4,
         0,
         samples,
         {address, fmt::format("{}, {:.3g} of the even count",
                               analysis::counted(places[i].samples, "sample"), samples / even)}});
  }
  panel.y = count_axis(most, height, "samples");
  panel.boxes = {std::move(bars)};
  panel.rules = {{panel.x.low, even, panel.x.high, even, {Color::black, 1.5, kDashed}, true}};
  return panel;
}

Figure blocks_figure(const std::vector<audit::Audit>& audits) {
  constexpr std::size_t kMostPanels = 6;
  Figure figure = begin("Samples of instructions that execute equally often", audits);
  figure.legend = {{kBars, "samples of an instruction"},
                   {LineStyle{Color::black, 1.5, kDashed}, "even count"}};
  figure.plot_width = 820;
  std::size_t left_out = 0;
  for (const auto& [event, name] : judged_events(audits)) {
    const std::size_t shown = std::min(kMostPanels, event->bias.blocks.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const int height = std::min(200, panel_height(shown));
      figure.blocks.push_back(
          {.name = i == 0 ? name : "",
           .panels = {block_panel(event->bias.blocks[i], height, figure.plot_width)}});
    }
    left_out += event->bias.judged - shown;
  }
  if (left_out > 0) {
    figure.remark = fmt::format("without {} whose samples are spread more evenly",
                                analysis::counted(left_out, "block"));
  }
  return figure;
}

/// Instructions by the ratio of their samples to the even count. The last bin has all above.
Panel ratio_panel(const EventAudit& event, int height) {
  constexpr double kWidth = 0.1, kMost = 4;
  constexpr auto kBins = static_cast<std::size_t>(kMost / kWidth) + 1;
  std::vector<std::size_t> bins(kBins);
  for (const double ratio : event.bias.ratios) {
    ++bins[std::min(static_cast<std::size_t>(ratio / kWidth), kBins - 1)];
  }
  const audit::BlockBias& bias = event.bias;
  Panel panel{.height = height,
              .captions = {{fmt::format("{} of {}, {} of {} biased, {:.3g}% of {} misplaced",
                                        analysis::counted(bias.ratios.size(), "instruction"),
                                        analysis::counted(bias.judged, "block"), bias.biased,
                                        bias.judged, 100 * bias.misplaced->value,
                                        analysis::counted(bias.samples, "sample"))}},
              .x = {.low = -0.05,
                    .high = kMost + kWidth + 0.05,
                    .tics = tics(0, kMost, 0.5, [](double at) { return fmt::format("{:g}", at); }),
                    .label = "samples over the even count of the block; last bar: 4 and more"}};
  Boxes bars{kBars};
  for (std::size_t i = 0; i < kBins; ++i) {
    if (bins[i] == 0) continue;
    const double left = static_cast<double>(i) * kWidth;
    const std::string place = i + 1 == kBins ? fmt::format("{:g} and more", kMost)
                                             : fmt::format("{:.1f} to {:.1f}", left, left + kWidth);
    bars.boxes.push_back({left,
                          left + kWidth,
                          0,
                          static_cast<double>(bins[i]),
                          {place, analysis::counted(bins[i], "instruction")}});
  }
  panel.y = count_axis(static_cast<double>(*std::max_element(bins.begin(), bins.end())), height,
                       "instructions");
  panel.boxes = {std::move(bars)};
  panel.rules = {{1, 0, 1, panel.y.high, {Color::black, 1.5, kDashed}, true}};
  return panel;
}

Figure ratios_figure(const std::vector<audit::Audit>& audits) {
  Figure figure = begin("Samples of instructions over the even count of their block", audits);
  figure.legend = {{kBars, "instructions"}, {LineStyle{Color::black, 1.5, kDashed}, "even"}};
  figure.plot_width = 820;
  for (const auto& [event, name] : judged_events(audits)) {
    figure.blocks.push_back({name, {ratio_panel(*event, 200)}});
  }
  return figure;
}

}  // namespace

std::string_view name_of(AuditKind kind) {
  return kind == AuditKind::blocks ? "blocks" : "ratios";
}

std::optional<AuditKind> audit_kind_from(std::string_view name) {
  for (const AuditKind kind : kAuditKinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

Figure audit_figure(const std::vector<audit::Audit>& audits, AuditKind kind) {
  Figure figure = kind == AuditKind::blocks ? blocks_figure(audits) : ratios_figure(audits);
  if (figure.blocks.empty()) {
    throw Error(fmt::format("--plot: {}", judged_events(audits).empty() ? kNoBlock : kTop0));
  }
  return figure;
}

void draw_audit(const std::vector<audit::Audit>& audits, AuditKind kind, const FigureFiles& files) {
  check_figure_files(files);
  Figure figure = audit_figure(audits, kind);
  write_figure(figure, files);
}

}  // namespace skid::plots
