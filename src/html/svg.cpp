#include "src/html/svg.h"

#include "plots/layout.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::html {
namespace {

using plots::Align;
using plots::Axis;
using plots::Color;
using plots::LineStyle;
using plots::Panel;

std::string number(double value) {
  return fmt::format("{:.2f}", value);
}

/// Colours are classes, which the style sets by light and dark.
Attributes colored(Color color, Attributes attributes, const char* what = "fill") {
  attributes.emplace_back("class", plots::name_of(color));
  attributes.emplace_back(what, "currentColor");
  return attributes;
}

Attributes stroked(const LineStyle& style, Attributes attributes) {
  attributes = colored(style.color, std::move(attributes), "stroke");
  attributes.emplace_back("stroke-width", number(style.width));
  if (!style.dashes.empty()) {
    attributes.emplace_back("stroke-dasharray", fmt::format("{}", fmt::join(style.dashes, " ")));
  }
  return attributes;
}

Markup line(double x1, double y1, double x2, double y2, const LineStyle& style) {
  return element(
      "line",
      stroked(style,
              {{"x1", number(x1)}, {"y1", number(y1)}, {"x2", number(x2)}, {"y2", number(y2)}}));
}

/// `y`: the middle of its height.
Markup text(double x, double y, int points, Align align, Color color, const std::string& content,
            Attributes more = {}) {
  const double size = points * 4 / 3.0;
  Attributes attributes{
      {"x", number(x)}, {"y", number(y + 0.35 * size)}, {"font-size", number(size)}};
  if (align != Align::left) {
    attributes.emplace_back("text-anchor", align == Align::right ? "end" : "middle");
  }
  attributes.insert(attributes.end(), more.begin(), more.end());
  return element("text", colored(color, std::move(attributes)), content);
}

/// A mark with a value to show under the pointer and in the line below the figure.
Markup mark(const char* tag, Attributes attributes, const plots::Meaning& meaning) {
  if (meaning.value.empty()) return element(tag, attributes);
  const std::string value = meaning.place + ": " + meaning.value;
  attributes.emplace_back("data-value", value);
  return element(tag, attributes, element("title", value));
}

Attributes rectangle(double left, double top, double width, double height) {
  return {{"x", number(left)},
          {"y", number(top)},
          {"width", number(width)},
          {"height", number(height)}};
}

/// The boxes of a panel with their look, row by row and from left to right, as the keyboard selects
/// them.
std::vector<std::pair<const plots::Box*, const plots::Boxes*>> boxes_of(const Panel& panel) {
  std::vector<std::pair<const plots::Box*, const plots::Boxes*>> result;
  for (const plots::Boxes& boxes : panel.boxes) {
    for (const plots::Box& box : boxes.boxes) result.emplace_back(&box, &boxes);
  }
  const auto key = [&panel](const plots::Box& box) {
    return std::pair(panel.rows.empty() ? 0.0 : box.top, box.left);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&key](const auto& a, const auto& b) { return key(*a.first) < key(*b.first); });
  return result;
}

/// A panel's axes and marks, with its units as pixels.
class PanelDrawing {
 public:
  explicit PanelDrawing(const Panel& panel) : panel_(panel) {}

  Markup draw() const {
    Markup content = grid() + rules(false);
    for (const auto& [box, look] : boxes_of(panel_)) content += draw(*box, *look);
    for (const plots::Curve& curve : panel_.curves) content += draw(curve);
    content += axes() + rules(true);
    for (const plots::Points& points : panel_.points) content += draw(points);
    for (const plots::Note& note : panel_.notes) {
      content += text(x(note.x), y(note.y), 8, note.align, note.color, note.text);
    }
    return content;
  }

 private:
  static double share(const Axis& axis, double value) {
    if (!axis.logarithmic) return (value - axis.low) / (axis.high - axis.low);
    return std::log(value / axis.low) / std::log(axis.high / axis.low);
  }
  double x(double value) const {
    return panel_.area.left + share(panel_.x, value) * panel_.area.width;
  }
  double y(double value) const { return bottom() - share(panel_.y, value) * panel_.area.height; }
  double right() const { return panel_.area.left + panel_.area.width; }
  double bottom() const { return panel_.area.top + panel_.area.height; }

  Markup grid() const {
    Markup content;
    const double left = panel_.area.left, top = panel_.area.top;
    const auto add = [&content](double x1, double y1, double x2, double y2) {
      content += element("line", {{"x1", number(x1)},
                                  {"y1", number(y1)},
                                  {"x2", number(x2)},
                                  {"y2", number(y2)},
                                  {"class", "grid"}});
    };
    if (panel_.x.grid) {
      for (const plots::Tic& tic : panel_.x.tics) add(x(tic.at), top, x(tic.at), bottom());
    }
    if (panel_.y.grid) {
      for (const plots::Tic& tic : panel_.y.tics) add(left, y(tic.at), right(), y(tic.at));
    }
    return content;
  }

  Markup axes() const {
    const LineStyle style{Color::grey};
    const double left = panel_.area.left, top = panel_.area.top;
    Markup content = line(left, bottom(), right(), bottom(), style);
    for (const plots::Tic& tic : panel_.x.tics) {
      content += line(x(tic.at), bottom(), x(tic.at), bottom() + 4, style);
      if (tic.label.empty()) continue;
      content += text(x(tic.at), bottom() + 13, 8, Align::center, Color::black, tic.label);
    }
    if (!panel_.x.label.empty()) {
      content +=
          text((left + right()) / 2, bottom() + 31, 9, Align::center, Color::black, panel_.x.label);
    }
    // Rows have their texts instead of an axis.
    if (!panel_.rows.empty()) return content;
    content += line(left, top, left, bottom(), style);
    for (const plots::Tic& tic : panel_.y.tics) {
      content += line(left - 4, y(tic.at), left, y(tic.at), style) +
                 text(left - 8, y(tic.at), 8, Align::right, Color::black, tic.label);
    }
    if (!panel_.y.label.empty()) {
      const double middle = (top + bottom()) / 2;
      content += text(left - 66, middle, 9, Align::center, Color::black, panel_.y.label,
                      {{"transform", fmt::format("rotate(-90 {:.2f} {:.2f})", left - 66, middle)}});
    }
    return content;
  }

  Markup rules(bool on_top) const {
    Markup content;
    for (const plots::Rule& rule : panel_.rules) {
      if (rule.on_top != on_top) continue;
      content += line(x(rule.x1), y(rule.y1), x(rule.x2), y(rule.y2), rule.style);
    }
    return content;
  }

  Markup draw(const plots::Box& box, const plots::Boxes& look) const {
    // A single sample among a million stays visible.
    const double width = std::max(1.0, x(box.right) - x(box.left));
    const double height = std::max(1.0, y(box.bottom) - y(box.top));
    Attributes place = rectangle(x(box.left), y(box.bottom) - height, width, height);
    return mark("rect", colored(look.fill.color, std::move(place)), box.meaning);
  }

  Markup draw(const plots::Curve& curve) const {
    std::string points;
    for (const auto& [at, height] : curve.points) {
      points += fmt::format("{:.2f},{:.2f} ", x(at), y(height));
    }
    return element("polyline", stroked(curve.style, {{"points", points}, {"fill", "none"}}));
  }

  Markup draw(const plots::Points& points) const {
    const LineStyle style{points.color, 2};
    Markup content;
    for (const plots::Point& point : points.points) {
      const double at = x(point.x), middle = y(point.y);
      if (points.shape == plots::Shape::cross) {
        content += line(at - 3, middle - 3, at + 3, middle + 3, style) +
                   line(at - 3, middle + 3, at + 3, middle - 3, style);
        continue;
      }
      Attributes disc = stroked(style, {{"cx", number(at)}, {"cy", number(middle)}, {"r", "4"}});
      disc.emplace_back("fill",
                        points.shape == plots::Shape::disc ? "currentColor" : "var(--paper)");
      content += (points.upright ? line(at, y(point.low), at, y(point.high), style)
                                 : line(x(point.low), middle, x(point.high), middle, style)) +
                 mark("circle", std::move(disc), point.meaning);
    }
    return content;
  }

  const Panel& panel_;
};

Markup draw(const plots::Swatch& swatch) {
  const auto& [left, top, width, height] = swatch.area;
  if (const auto* style = std::get_if<LineStyle>(&swatch.look)) {
    return line(left, top + height / 2.0, left + width, top + height / 2.0, *style);
  }
  return element("rect", colored(std::get<plots::Fill>(swatch.look).color,
                                 rectangle(left, top, width, height)));
}

/// The values of all marks as text.
Markup values(const plots::Figure& figure) {
  Markup rows;
  const auto add = [&rows](const plots::Meaning& meaning) {
    if (meaning.value.empty()) return;
    rows += element(
        "tr", element("th", {{"scope", "row"}}, meaning.place) + element("td", meaning.value));
  };
  for (const plots::Block& block : figure.blocks) {
    for (const Panel& panel : block.panels) {
      for (const auto& [box, look] : boxes_of(panel)) add(box->meaning);
      for (const plots::Points& points : panel.points) {
        for (const plots::Point& point : points.points) add(point.meaning);
      }
    }
  }
  if (rows.empty()) return rows;
  return element("details", element("summary", "The figure's values") +
                                element("div", {{"class", "values"}},
                                        element("table", element("tbody", rows))));
}

}  // namespace

Markup svg_figure(const std::string& title, plots::Figure figure) {
  figure.title.clear();
  figure.head.clear();
  plots::lay_out(figure, plots::Fonts::of_viewers);
  Markup content = element("title", title);
  for (const plots::Swatch& swatch : figure.swatches) content += draw(swatch);
  for (const plots::PlacedText& placed : figure.texts) {
    content += text(placed.x, placed.y, placed.points, Align::left, placed.color, placed.text);
  }
  for (const plots::Block& block : figure.blocks) {
    for (const Panel& panel : block.panels) content += PanelDrawing(panel).draw();
  }
  return element(
      "figure", element("svg",
                        {{"viewBox", fmt::format("0 0 {} {}", figure.width, figure.height)},
                         {"role", "group"},
                         {"tabindex", "0"},
                         {"aria-label", title + "; arrow keys select its values"}},
                        content) +
                    element("p", {{"class", "readout"}, {"aria-live", "polite"}}) + values(figure));
}

}  // namespace skid::html
