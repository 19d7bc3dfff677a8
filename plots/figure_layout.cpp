#include "plots/figure_layout.h"

#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace skid::plots {
namespace {

constexpr int kMostBlocksInARow = 4;

}  // namespace

std::vector<Block> blocks_of(const std::vector<output::MachineGroup>& machines) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    for (const output::EventGroup& event : machines[i].events) {
      blocks.push_back({&machines[i], &event, i});
    }
  }
  return blocks;
}

Layout lay_out(const std::vector<Block>& blocks, Arrangement arrangement) {
  Layout layout;
  const auto count = static_cast<int>(blocks.size());
  layout.columns = std::min(count, kMostBlocksInARow);
  std::size_t levels = 1;
  for (const Block& block : blocks) levels = std::max(levels, block.event->columns.size());
  // Looked at before it becomes pixels, so that no number of measurements overflows them.
  if (levels > static_cast<std::size_t>(kLongestSide) / 100) {
    throw Error(fmt::format("figure: {} measurements of one event do not fit; draw fewer", levels));
  }
  const auto lines = static_cast<int>(levels);
  layout.panels = arrangement == Arrangement::panels ? lines : 1;
  layout.captions = arrangement == Arrangement::panels ? 1 : lines;
  constexpr std::array<int, kMostBlocksInARow> kPlotWidths{820, 560, 460, 420};
  layout.plot_width = kPlotWidths[static_cast<std::size_t>(layout.columns - 1)];
  layout.plot_height = layout.panels == 1   ? 300
                       : layout.panels == 2 ? 200
                       : layout.panels <= 4 ? 140
                                            : 100;
  const int rows = (count + layout.columns - 1) / layout.columns;
  layout.width = layout.columns * layout.block_width();
  const auto height = static_cast<long long>(rows) * layout.block_height() + kTop;
  if (height > kLongestSide) {
    throw Error(fmt::format("figure: {} events of up to {} measurements do not fit; draw fewer",
                            count, lines));
  }
  layout.height = static_cast<int>(height);
  return layout;
}

}  // namespace skid::plots
