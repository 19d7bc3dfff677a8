#include "plots/figure_blocks.h"

#include "plots/figure_text.h"
#include "plots/palette.h"
#include "src/support/error.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

constexpr int kSample = 14;     // pixels, the width of a colour in the legend
constexpr int kLegendTop = 53;  // pixels, below one line

/// Several machines, and several sources of one, take several lines.
constexpr int kMachineLine = 15;  // pixels

int width_of(const LegendEntry& entry) {
  return kSample + 6 + static_cast<int>(text_width(entry.name.size(), 9)) + 16;
}

/// Calls `place` with each entry, its x from 0 on and its line.
template <typename Place>
int place_entries(const std::vector<LegendEntry>& legend, int room, Place place) {
  int x = 0;
  int line = 0;
  for (const LegendEntry& entry : legend) {
    const int width = width_of(entry);
    if (x > 0 && x + width > room) {
      x = 0;
      ++line;
    }
    place(entry, x, line);
    x += width;
  }
  return legend.empty() ? 0 : line + 1;
}

}  // namespace

int legend_lines(const std::vector<LegendEntry>& legend, int room) {
  return place_entries(legend, room, [](const LegendEntry&, int, int) {});
}

void draw_legend(Canvas& canvas, const std::vector<LegendEntry>& legend, int x, int y, int room) {
  place_entries(legend, room, [&](const LegendEntry& entry, int right, int line) {
    const int middle = y + line * kLegendLine;
    canvas.rectangle({x + right, middle - 5, kSample, 10}, entry.fill);
    canvas.text(x + right + kSample + 6, middle, entry.name, room - right, 9, kBlack);
  });
}

void end_head(Canvas& canvas, int width, int height) {
  // Labels and objects appear with the next plot: an empty one over the whole figure.
  canvas.margins({0, 0, width, height});
  canvas.gnuplot() << "unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
                      "plot -1 notitle\n";
  canvas.forget_texts();
  canvas.gnuplot() << "set border 3 lc rgb '" << kGrey << "'\nset tics textcolor rgb '" << kBlack
                   << "'\n";
}

Drawing draw_blocks(const std::vector<output::MachineGroup>& machines,
                    const std::vector<Block>& blocks, const Layout& layout, const Head& head,
                    const std::function<void(Canvas&, const Block&, const Area&)>& draw_block) {
  const int room = layout.width - kLeft - kRight;
  std::vector<std::string> lines;
  for (auto& machine : machine_lines(machines, room)) {
    std::move(machine.begin(), machine.end(), std::back_inserter(lines));
  }
  if (!head.note.empty()) lines.push_back(head.note);
  const auto more_lines = static_cast<long long>(lines.size()) - 1;
  const int more_legend = std::max(legend_lines(head.legend, room) - 1, 0) * kLegendLine;
  if (layout.height + more_lines * kMachineLine + more_legend > kLongestSide) {
    throw Error(fmt::format("figure: {} machines with {} events do not fit; draw fewer",
                            machines.size(), blocks.size()));
  }
  const int legend_top = kLegendTop + static_cast<int>(more_lines) * kMachineLine;
  const int more = legend_top - kLegendTop + more_legend;
  const int height = layout.height + more;
  const auto write = [&](gnuplotio::Gnuplot& gnuplot) {
    Canvas canvas(gnuplot, layout.width, height);
    gnuplot << "set style fill solid 1.0 noborder\nset tics out font ',8'\n"
               "set xlabel font ',9' offset 0,0.3\nset ylabel font ',9' offset 0.5,0\n"
               "unset key\nset multiplot\n";
    canvas.text(kLeft, 16, head.title, room, 13, kBlack);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      canvas.text(kLeft, 36 + static_cast<int>(i) * kMachineLine, lines[i], room, 9, kGrey);
    }
    draw_legend(canvas, head.legend, kLeft, legend_top, room);
    end_head(canvas, layout.width, height);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Block& block = blocks[i];
      const int index = static_cast<int>(i);
      Area area{index % layout.columns * layout.block_width() + kLeft,
                kTop + more + index / layout.columns * layout.block_height(), layout.plot_width,
                layout.block_height() - kBlockTop};
      const std::string machine =
          machines.size() == 1 ? "" : machine_name(block.machine_number) + ":  ";
      canvas.text(area.left, area.top + 12, machine + block.event->event, area.width, 12, kBlack);
      area.top += kBlockTop;
      draw_block(canvas, block, area);
    }
    gnuplot << "unset multiplot\n";
  };
  return {layout.width, height, record(write)};
}

}  // namespace skid::plots
