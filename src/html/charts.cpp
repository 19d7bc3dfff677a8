#include "src/html/charts.h"

#include "analysis/ledger.h"
#include "analysis/wording.h"
#include "plots/figure_bins.h"
#include "src/output/escape.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace skid::html {
namespace {

using analysis::Measurement;
using analysis::SampleClass;
using output::Column;
using output::EventGroup;
using plots::BarClass;

// Units of the figures' own coordinates; a page scales them to its width.
constexpr double kWidth = 860;
constexpr double kLeft = 70;
constexpr double kRight = 14;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr std::int64_t kMostBins = 140;

std::string css_of(BarClass bar_class) {
  return std::string(analysis::name_of(plots::sample_class_of(bar_class)));
}

std::string_view words_for(BarClass bar_class) {
  return analysis::words_for(plots::sample_class_of(bar_class));
}

std::string coordinate(double value) {
  return fmt::format("{:.2f}", value);
}

Markup svg_text(double x, double y, std::string_view css, std::string_view text) {
  return element("text", {{"x", coordinate(x)}, {"y", coordinate(y)}, {"class", std::string(css)}},
                 text);
}

Markup line(double x1, double y1, double x2, double y2, std::string_view css) {
  return element("line", {{"x1", coordinate(x1)},
                          {"y1", coordinate(y1)},
                          {"x2", coordinate(x2)},
                          {"y2", coordinate(y2)},
                          {"class", std::string(css)}});
}

/// A mark that says `value` under the pointer, and in the line below the figure.
Markup mark(std::string_view tag, Attributes attributes, const std::string& value) {
  attributes.emplace_back("data-value", value);
  return element(tag, attributes, element("title", value));
}

Markup rectangle(double x, double y, double width, double height, const std::string& css,
                 const std::string& value) {
  return mark("rect",
              {{"x", coordinate(x)},
               {"y", coordinate(y)},
               {"width", coordinate(width)},
               {"height", coordinate(height)},
               {"class", css}},
              value);
}

Markup figure(const std::string& title, double height, const Markup& content,
              const Markup& below = {}) {
  return element("figure", element("svg",
                                   {{"viewBox", fmt::format("0 0 {:.0f} {:.0f}", kWidth, height)},
                                    {"role", "group"},
                                    {"tabindex", "0"},
                                    {"aria-label", title + "; arrow keys go through its values"}},
                                   element("title", title) + content) +
                               element("p", {{"class", "readout"}, {"aria-live", "polite"}}) +
                               below);
}

Markup legend(const std::vector<std::pair<std::string, std::string>>& classes_and_words) {
  Markup items;
  for (const auto& [css, words] : classes_and_words) {
    items += element("li", element("span", {{"class", "key " + css}}) + Markup::text(words));
  }
  return element("ul", {{"class", "legend"}}, items);
}

std::string offset_range(std::int64_t lo, std::int64_t width) {
  if (width == 1) return analysis::signed_number(lo);
  return fmt::format("{} to {}", analysis::signed_number(lo),
                     analysis::signed_number(lo + width - 1));
}

/// The offsets of a bar. Where bins are wider than one, those from 0 on hold the hits, at 0, and
/// the skids behind them.
std::string offsets_of(const plots::Bar& bar, const plots::OffsetAxis& axis) {
  if (bar.lo != 0) return offset_range(bar.lo, axis.width);
  if (bar.bar_class == BarClass::hit || axis.width == 1) return "0";
  return offset_range(1, axis.width - 1);
}

std::string bar_value(const plots::Bar& bar, const plots::OffsetAxis& axis, std::uint64_t located) {
  return fmt::format(
      "offset {}: {} ({} of the located), {}", offsets_of(bar, axis),
      analysis::counted(bar.count, "sample"),
      analysis::percent(static_cast<double>(bar.count) / static_cast<double>(located)),
      words_for(bar.bar_class));
}

/// The panels of an event, which share their axis of offsets.
class HistogramPanels {
 public:
  HistogramPanels(const EventGroup& event, const plots::OffsetAxis& axis)
      : event_(event), axis_(axis) {
    const double span = static_cast<double>(axis_.highest - axis_.lowest + 1);
    from_ = static_cast<double>(axis_.lowest) - 0.5 - 0.015 * span;
    to_ = static_cast<double>(axis_.highest) + 0.5 + 0.015 * span;
  }

  Markup draw() {
    Markup content;
    for (const Column& column : event_.columns) content += panel(column);
    content += offsets();
    std::vector<std::pair<std::string, std::string>> classes;
    for (const BarClass present : present_) {
      classes.emplace_back(css_of(present), words_for(present));
    }
    return figure("Where samples of " + output::escape_for_terminal(event_.event) + " land",
                  y_ + kAxis, content, legend(classes));
  }

 private:
  static constexpr double kCaption = 22;
  static constexpr double kPanel = 96;
  static constexpr double kGap = 10;
  static constexpr double kAxis = 44;

  double x_of(double offset) const { return kLeft + (offset - from_) / (to_ - from_) * kPlotWidth; }

  Markup panel(const Column& column) {
    const Measurement& m = *column.measurement;
    const plots::Bars bars = plots::bars_of(m, axis_);
    std::string caption =
        fmt::format("{}: {}", column.label, analysis::counted(m.samples.read(), "sample"));
    if (m.period.requested) caption += fmt::format(", period {}", *m.period.requested);
    if (m.hit_ratio.total > 0) caption += ", hits " + analysis::percent(m.hit_ratio.value);
    if (bars.beyond > 0) caption += fmt::format(", {} beyond the axis", bars.beyond);
    if (m.synthetic) caption += ", synthetic";
    Markup content = svg_text(kLeft, y_ + kCaption - 7, "caption", caption);
    y_ += kCaption;
    const double bottom = y_ + kPanel;
    content += line(kLeft, bottom, kLeft + kPlotWidth, bottom, "axis");
    if (bars.bars.empty()) {
      content += svg_text(kLeft + kPlotWidth / 2, y_ + kPanel / 2, "empty", "no located samples");
    } else {
      content += counts(bars.highest, bottom);
      content += line(x_of(0), y_, x_of(0), bottom, "trigger");
      const double scale = (kPanel - 6) / static_cast<double>(bars.highest);
      for (const plots::Bar& bar : bars.bars) {
        present_.insert(bar.bar_class);
        // A single sample among a million must be seen all the same.
        const double height = std::max(1.0, static_cast<double>(bar.count) * scale);
        const double width = std::max(1.0, x_of(bar.right) - x_of(bar.left));
        content +=
            rectangle(x_of(bar.left), bottom - static_cast<double>(bar.bottom) * scale - height,
                      width, height, css_of(bar.bar_class),
                      column.label + ", " + bar_value(bar, axis_, m.samples.located()));
      }
    }
    y_ = bottom + kGap;
    return content;
  }

  /// Tics of a panel's samples.
  Markup counts(std::uint64_t highest, double bottom) const {
    constexpr double kLeast = 30;  // between tics
    const double scale = (kPanel - 6) / static_cast<double>(highest);
    const std::int64_t step =
        plots::round_up_nicely(std::max(1.0, kLeast / (kPanel - 6) * static_cast<double>(highest)));
    Markup content;
    for (std::uint64_t count = 0; count <= highest; count += static_cast<std::uint64_t>(step)) {
      const double y = bottom - static_cast<double>(count) * scale;
      if (count > 0) content += line(kLeft, y, kLeft + kPlotWidth, y, "grid");
      content += svg_text(kLeft - 6, y + 4, "tic right", analysis::in_thousands(count));
    }
    return content;
  }

  /// The axis below the last panel.
  Markup offsets() {
    y_ -= kGap;
    const double span = static_cast<double>(axis_.highest - axis_.lowest + 1);
    const std::int64_t step = plots::round_up_nicely(span * 60.0 / kPlotWidth);
    Markup content;
    // From the first multiple of the step on.
    std::int64_t first = axis_.lowest / step * step;
    if (first < axis_.lowest) first += step;
    for (std::int64_t offset = first; offset <= axis_.highest; offset += step) {
      const double x = x_of(static_cast<double>(offset));
      content += line(x, y_, x, y_ + 4, "axis");
      content += svg_text(x, y_ + 17, "tic middle", fmt::format("{}", offset));
    }
    std::string label = "offset from the trigger in instructions";
    if (axis_.width > 1) label += fmt::format(", bins of {}", axis_.width);
    content += svg_text(kLeft + kPlotWidth / 2, y_ + 36, "label middle", label);
    return content;
  }

  const EventGroup& event_;
  plots::OffsetAxis axis_;
  double from_ = 0, to_ = 1;  ///< offsets at the ends of the plot
  double y_ = 0;              ///< where the next panel begins
  std::set<BarClass> present_;
};

/// The same numbers as text.
Markup offset_values(const EventGroup& event, const plots::OffsetAxis& axis) {
  Markup content;
  for (const Column& column : event.columns) {
    const Measurement& m = *column.measurement;
    const auto located = static_cast<double>(m.samples.located());
    Markup rows;
    for (const plots::Bar& bar : plots::bars_of(m, axis).bars) {
      rows +=
          element("tr", element("th", {{"scope", "row"}}, offsets_of(bar, axis)) +
                            element("td", css_of(bar.bar_class)) +
                            element("td", {{"class", "number"}}, fmt::format("{}", bar.count)) +
                            element("td", {{"class", "number"}},
                                    analysis::percent(static_cast<double>(bar.count) / located)));
    }
    if (rows.empty()) continue;
    Markup head =
        element("th", {{"scope", "col"}}, "offset") + element("th", {{"scope", "col"}}, "class");
    for (const char* name : {"samples", "of the located"}) {
      head += element("th", {{"scope", "col"}, {"class", "number"}}, name);
    }
    content += element("table", element("caption", column.label) +
                                    element("thead", element("tr", head)) + element("tbody", rows));
  }
  if (content.empty()) return content;
  return element("details", element("summary", "The figure's values") +
                                element("div", {{"class", "values"}}, content));
}

}  // namespace

Markup histogram_figure(const EventGroup& event) {
  const plots::OffsetAxis axis = plots::choose_axis(event.columns, kMostBins);
  return HistogramPanels(event, axis).draw() + offset_values(event, axis);
}

Markup ledger_figure(const EventGroup& event) {
  constexpr double kBar = 18, kRow = 26;
  double y = 6;
  Markup content;
  std::set<SampleClass> present;
  for (const Column& column : event.columns) {
    const Measurement& m = *column.measurement;
    const auto read = static_cast<double>(m.samples.read());
    content += svg_text(kLeft - 6, y + 13, "tic right", output::shorten(column.label, 10));
    if (m.samples.read() == 0) content += svg_text(kLeft, y + 13, "empty left", "no samples");
    double x = kLeft;
    for (std::size_t i = 0; i < analysis::kSampleClasses && read > 0; ++i) {
      const auto sample_class = static_cast<SampleClass>(i);
      const std::uint64_t count = m.samples[sample_class];
      if (count == 0) continue;
      present.insert(sample_class);
      const double share = static_cast<double>(count) / read;
      const double width = share * kPlotWidth;
      content += rectangle(
          x, y, std::max(width, 1.0), kBar, "class-" + std::string(analysis::name_of(sample_class)),
          fmt::format("{}, {}: {} ({} of those read)", column.label,
                      analysis::words_for(sample_class), analysis::counted(count, "sample"),
                      analysis::percent(share)));
      x += width;
    }
    y += kRow;
  }
  std::vector<std::pair<std::string, std::string>> classes;
  for (const SampleClass sample_class : present) {
    classes.emplace_back("class-" + std::string(analysis::name_of(sample_class)),
                         analysis::words_for(sample_class));
  }
  return figure("Samples of " + output::escape_for_terminal(event.event) + " by class", y, content,
                legend(classes));
}

Markup ratio_figure(const std::string& title, const std::vector<RatioLine>& lines) {
  constexpr double kNames = 120, kNumbers = 240, kLine = 22, kHeading = 26, kAxis = 40;
  constexpr double kPlot = kWidth - kNames - kNumbers - 2 * kRight;
  const auto x_of = [](double share) { return kNames + std::clamp(share, 0.0, 1.0) * kPlot; };
  Markup marks;
  double y = 4;
  std::string group;
  for (const RatioLine& of : lines) {
    if (of.group != group || y < 5) {
      if (!of.group.empty()) {
        marks += svg_text(8, y + kHeading - 8, "caption", output::shorten(of.group, 80));
        y += kHeading;
      }
      group = of.group;
    }
    const double middle = y + kLine / 2;
    const std::string color = fmt::format("side{}", of.color % 7);
    marks += svg_text(kNames - 10, middle + 4, "tic right", output::shorten(of.name, 16));
    std::string value = "nothing judged";
    if (of.ratio) {
      const double low = of.ratio->low.value_or(of.ratio->value);
      const double high = of.ratio->high.value_or(of.ratio->value);
      value = fmt::format("{} ({} to {})", analysis::percent(of.ratio->value),
                          analysis::percent(std::clamp(low, 0.0, 1.0)),
                          analysis::percent(std::clamp(high, 0.0, 1.0)));
      const std::string said =
          (of.group.empty() ? "" : of.group + ", ") + of.name + ": hit ratio " + value;
      marks += line(x_of(low), middle, x_of(high), middle, "interval " + color);
      marks += mark("circle",
                    {{"cx", coordinate(x_of(of.ratio->value))},
                     {"cy", coordinate(middle)},
                     {"r", "5"},
                     {"class", (of.judged ? "point " : "point hollow ") + color}},
                    said);
    }
    if (!of.remark.empty()) value += ", " + of.remark;
    marks += svg_text(kNames + kPlot + kRight, middle + 4, "tic left", output::shorten(value, 40));
    y += kLine;
  }
  Markup content;
  for (int percent = 0; percent <= 100; percent += 25) {
    const double x = x_of(percent / 100.0);
    content += line(x, 0, x, y, "grid");
    content += svg_text(x, y + 16, "tic middle", fmt::format("{}%", percent));
  }
  content += svg_text(kNames + kPlot / 2, y + 34, "label middle",
                      "hit ratio with its 95% interval; hollow: the contract is not judged");
  return figure(title, y + kAxis, content + marks);
}

}  // namespace skid::html
