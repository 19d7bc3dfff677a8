// Figures of blocks: a head, then for each event on each machine what its kind of figure shows.
#pragma once

#include "plots/canvas.h"
#include "plots/figure_file.h"
#include "plots/figure_layout.h"

#include <functional>
#include <string>
#include <vector>

namespace skid::plots {

/// What a colour or pattern stands for.
struct LegendEntry {
  Fill fill;
  std::string name;
};

struct Head {
  std::string title;
  std::vector<LegendEntry> legend;  ///< may be empty
  std::string note = {};            ///< a line below the machines; may be empty
};

/// How many lines of `room` pixels the legend takes.
int legend_lines(const std::vector<LegendEntry>& legend, int room);
inline constexpr int kLegendLine = 16;  // pixels

/// The legend in lines, the middle of the first at y.
void draw_legend(Canvas& canvas, const std::vector<LegendEntry>& legend, int x, int y, int room);

/// The texts and rectangles so far, and the look of axes to come.
void end_head(Canvas& canvas, int width, int height);

/// `machines` are what `blocks` were made of. `draw_block` is given the block's area below its
/// name; the height is the layout's. Throws Error when the figure would be larger than an image can
/// be.
Drawing draw_blocks(const std::vector<output::MachineGroup>& machines,
                    const std::vector<Block>& blocks, const Layout& layout, const Head& head,
                    const std::function<void(Canvas&, const Block&, const Area&)>& draw_block);

}  // namespace skid::plots
