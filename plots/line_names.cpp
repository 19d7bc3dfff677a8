// Places the names of lines beside them, where no other line and no other name is.
#include "plots/axes.h"
#include "plots/drawing.h"
#include "plots/event_grid.h"
#include "src/support/escape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
struct Column;
}  // namespace skid::output

namespace skid::plots {
namespace {

/// The columns and rows of cells that a panel is divided into.
constexpr int kAcross = 120, kUp = 48;

/// Counts what is in each cell of a panel.
class Cells {
 public:
  /// Adds `value` to the cells of a rectangle, corners included, as far as they are in the panel.
  void add(int left, int low, int right, int high, int value) {
    each(left, low, right, high, [value](int& cell) { cell += value; });
  }
  void add(const Cells& other) {
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] += other.cells_[i];
  }
  /// Returns the sum of the cells of a rectangle.
  int sum(int left, int low, int right, int high) {
    int all = 0;
    each(left, low, right, high, [&all](int cell) { all += cell; });
    return all;
  }
  int at(int x, int y) { return sum(x, y, x, y); }
  /// Limits each cell to 1, because a line counts once in each cell.
  void limit_to_one() {
    for (int& cell : cells_) cell = std::min(cell, 1);
  }

 private:
  template <typename Function>
  void each(int left, int low, int right, int high, Function function) {
    for (int x = std::max(0, left); x <= std::min(kAcross - 1, right); ++x) {
      for (int y = std::max(0, low); y <= std::min(kUp - 1, high); ++y) {
        function(cells_[static_cast<std::size_t>(y * kAcross + x)]);
      }
    }
  }
  std::vector<int> cells_ = std::vector<int>(std::size_t{kAcross} * kUp);
};

/// Returns the cells that a line of steps passes.
Cells passed_by(const Rows& rows, const RowHeight& height_of, const Axis& axis) {
  Cells cells;
  int x = -1, y = 0;
  for (const auto& row : rows) {
    const int to_x = static_cast<int>(axis.place_of(row[0]) * kAcross);
    const int to_y = std::min(kUp - 1, static_cast<int>(height_of(row) * kUp));
    if (x >= 0) cells.add(x, y, to_x, y, 1);
    cells.add(to_x, std::min(y, to_y), to_x, std::max(y, to_y), 1);
    x = to_x;
    y = to_y;
  }
  cells.limit_to_one();
  return cells;
}

/// The place of a name: its cells, and the arguments of gnuplot's label.
struct Place {
  int left, low, right, high;
  double x, y;  ///< position of the label, as shares of the panel's width and height
  const char* justified;

  bool is_inside() const { return left >= 0 && low >= 0 && right < kAcross && high < kUp; }
};

/// Returns the places of a name at the right, at the left, and above a cell of a line. The size of
/// the name is in cells.
std::array<Place, 3> places_at(int x, int y, int width, int height) {
  const double middle = (y + 0.5) / kUp, above = (y + 1.0 + height / 2.0) / kUp;
  const auto across = [](double cell) { return cell / kAcross; };
  const int low = y - height / 2, high = low + height - 1;
  return {Place{x + 1, low, x + width, high, across(x + 1.8), middle, "left"},
          Place{x - width, low, x - 1, high, across(x - 0.8), middle, "right"},
          Place{x - width / 2, y + 1, x + width / 2, y + height, across(x + 0.5), above, "center"}};
}

}  // namespace

void EventGrid::add_names(Panel& panel, const std::vector<Column>& lines,
                          const RowHeight& height_of, const Axis& axis) const {
  // Costs of a place: on another name, at a cell of several lines, near a height of zero.
  constexpr int kName = 1000, kShared = 4, kZero = 10;
  std::vector<Cells> passed;
  Cells busy;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    passed.push_back(passed_by(panel.series.at(i).rows, height_of, axis));
    busy.add(passed.back());
  }
  const int height = figure.paper.height ? 6 : 4;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double text = figure.paper.width_of(static_cast<double>(display_width(lines[i].label)));
    const int width = 2 + static_cast<int>(std::ceil(text / plot_width() * kAcross));
    std::optional<Place> best;
    double least = 0;
    int crossed = 0;
    for (int x = 0; x < kAcross; ++x) {
      for (int y = 0; y < kUp; ++y) {
        if (passed[i].at(x, y) == 0) continue;
        for (const Place& place : places_at(x, y, width, height)) {
          if (!place.is_inside()) continue;
          const int lies_on = busy.sum(place.left, place.low, place.right, place.high);
          // The upper part of a line is seen first.
          const double cost = lies_on + kShared * (busy.at(x, y) - 1) + (y < 3 ? kZero : 0) +
                              std::abs(y - 0.8 * kUp) / kUp;
          if (best && cost >= least) continue;
          best = place;
          least = cost;
          crossed = lies_on;
        }
      }
    }
    if (!best) continue;  // the panel is narrower than the name
    busy.add(best->left, best->low, best->right, best->high, kName);
    panel.marks.push_back(
        fmt::format("set label {} at graph {:.3f},graph {:.3f} {} tc rgb ink[{}] front{}",
                    figure.paper.quoted(lines[i].label), best->x, best->y, best->justified,
                    style_of(lines[i]), crossed > 0 ? " boxed" : ""));
  }
}

}  // namespace skid::plots
