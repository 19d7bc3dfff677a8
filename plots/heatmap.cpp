#include "plots/kinds.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace skid::plots {
namespace {

constexpr int kPixelsPerBin = 3;
constexpr int kRowHeight = 20;

/// The share of its width by which a box reaches below the next one: else the background is visible
/// where two edges share a pixel.
constexpr double kOverlap = 0.15;

/// Smaller shares have the same shade.
constexpr double kLeastShare = 1e-4;

/// Boxes of a row without shades, each with its share of the located samples as `shade`; beyond the
/// axis are `beyond`.
std::vector<Box> bins_of(const Row& row, const OffsetAxis& axis, double y, std::uint64_t& beyond) {
  const auto histogram = histogram_of(row.measurement->basis.tally, axis);
  beyond = histogram.underflow + histogram.overflow;
  const std::uint64_t all = row.measurement->samples.located();
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    const analysis::Bin& bin = histogram.bins[i];
    const bool has_neighbour = i + 1 < histogram.bins.size() && histogram.bins[i + 1].lo == bin.hi;
    const double left = static_cast<double>(bin.lo) - 0.5;
    const double width = static_cast<double>(axis.width) * (has_neighbour ? 1 + kOverlap : 1);
    boxes.push_back({left,
                     left + width,
                     y + 0.92,
                     y + 0.08,
                     {fmt::format("{}, offset {}", row.label, offsets_of(bin.lo, false, axis)),
                      count_and_share(bin.count, all, "the located")},
                     static_cast<double>(bin.count) / static_cast<double>(all)});
  }
  return boxes;
}

/// A strip of all shades from `least` to 100%.
Block scale_of(double least) {
  constexpr int kSteps = 64;
  const double decades = -std::log10(least);
  Panel panel = row_panel(1, 12);
  panel.rows = {{0.5, "share", "of the row's located samples; white: none"}};
  panel.x = {.low = -decades, .high = 0};
  for (int i = -static_cast<int>(std::lround(decades)); i <= 0; ++i) {
    panel.x.tics.push_back({static_cast<double>(i), fmt::format("{:g}%", 100 * std::pow(10, i))});
  }
  Boxes strip{.shaded = true};
  for (int i = 0; i < kSteps; ++i) {
    const double left = static_cast<double>(i) / kSteps;
    const double right = std::min(1.0, (i + 1 + kOverlap) / kSteps);
    strip.boxes.push_back({decades * (left - 1), decades * (right - 1), 1, 0, {}, left});
  }
  panel.boxes = {std::move(strip)};
  return {"", {std::move(panel)}};
}

}  // namespace

Figure heatmap_figure(const Machines& machines) {
  Figure figure = begin_figure("Where samples land", machines);
  figure.remark = "each row: an event at a level; the scale of shares is logarithmic";
  double least = 0.1;
  for (const EventRows& event : rows_by_event(machines)) {
    std::vector<output::Column> columns;
    for (const Row& row : event.rows) columns.push_back({row.measurement, row.level, row.label});
    const OffsetAxis axis = choose_axis(columns, figure.plot_width / kPixelsPerBin);
    Panel panel = row_panel(static_cast<double>(event.rows.size()), kRowHeight);
    panel.x = offset_axis(axis, figure.plot_width, true);
    panel.rules = {trigger_rule(panel.y)};
    panel.boxes = {{.fill = {}, .shaded = true}};
    for (const Row& row : event.rows) {
      const auto top = static_cast<double>(panel.rows.size());
      std::uint64_t beyond = 0;
      const std::vector<Box> boxes = bins_of(row, axis, top, beyond);
      for (const Box& box : boxes) {
        least = std::min(least, box.shade);
        panel.boxes.front().boxes.push_back(box);
      }
      if (boxes.empty()) {
        panel.notes.push_back({(panel.x.low + panel.x.high) / 2, top + 0.5, "no located samples"});
      }
      panel.rows.push_back({top + 0.5, row.label, samples_and_hits(*row.measurement, beyond)});
    }
    figure.blocks.push_back({event.event, {std::move(panel)}});
  }
  // The power of ten at or below all shares.
  least = std::max(kLeastShare, std::pow(10.0, std::floor(std::log10(least) + 1e-9)));
  for (Block& block : figure.blocks) {
    for (Box& box : block.panels.front().boxes.front().boxes) {
      box.shade = 1 - std::log10(std::max(box.shade, least)) / std::log10(least);
    }
  }
  figure.blocks.insert(figure.blocks.begin(), scale_of(least));
  return figure;
}

}  // namespace skid::plots
