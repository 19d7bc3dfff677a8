// Places the parts of a figure, in pixels.
#pragma once

#include "plots/characters.h"
#include "plots/model.h"

namespace skid::plots {

/// Sets `width`, `height`, `texts`, `swatches` and the areas of the panels. Every text is made
/// drawable() with `fonts`, and cut where it is longer than its room. Throws Error when the figure
/// would be larger than an image can be.
void lay_out(Figure& figure, Fonts fonts);

}  // namespace skid::plots
