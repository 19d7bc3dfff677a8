// Where the panels of a figure lie, in pixels.
#pragma once

#include "plots/figure_bins.h"
#include "src/output/report/grouping.h"

#include <cstddef>
#include <vector>

namespace skid::plots {

enum class Arrangement {
  panels,   ///< one block per event, precise levels stacked with a shared axis
  overlaid  ///< one block per event, levels over each other in one panel
};

// Pixels; for PDF a pixel is 1/96 inch.
inline constexpr int kTop = 72;       // figure title, machine, legend
inline constexpr int kBlockTop = 26;  // event
inline constexpr int kCaption = 20;   // level, samples, period
inline constexpr int kPanelGap = 8;
inline constexpr int kBlockBottom = 52;  // x tics and label
inline constexpr int kLeft = 84;         // y tics and label
inline constexpr int kRight = 22;

/// One event on one machine.
struct Block {
  const output::MachineGroup* machine;
  const output::EventGroup* event;
  std::size_t machine_number;
  OffsetAxis axis = {};  ///< where the figure has one of offsets
};

struct Layout {
  int columns = 1;
  int plot_width = 0;
  int plot_height = 0;
  int panels = 1;    ///< of the tallest block
  int captions = 1;  ///< lines above a panel
  int width = 0;
  int height = 0;

  int block_width() const { return kLeft + plot_width + kRight; }
  int block_height() const {
    return kBlockTop + panels * (captions * kCaption + plot_height) + (panels - 1) * kPanelGap +
           kBlockBottom;
  }
};

/// A rectangle in pixels from the figure's upper left corner.
struct Area {
  int left, top, width, height;
};

/// Cairo's images end at 32,767 pixels; some are left for a longer head.
inline constexpr int kLongestSide = 32'000;

std::vector<Block> blocks_of(const std::vector<output::MachineGroup>& machines);

/// One block per event, at most four side by side, with a panel per level below each other (or one
/// for all of them, overlaid). Throws Error when that takes more pixels than an image can have.
Layout lay_out(const std::vector<Block>& blocks, Arrangement arrangement);

}  // namespace skid::plots
