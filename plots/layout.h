// Places the parts of a figure, in pixels, and replaces characters that it cannot show.
#pragma once

#include "plots/model.h"

#include <string>
#include <string_view>

namespace skid::plots {

/// The fonts with which a figure is shown.
enum class Fonts {
  /// The viewer's, as for an SVG: they have all assigned characters of Unicode.
  of_viewers,
  /// Those of the machine that draws it. Pango draws a box as large as the figure for a character
  /// that none of them has. Only DejaVu Sans is certain to be installed: fontconfig depends on it.
  of_drawers,
};

/// `text` after output::escape_for_terminal(), with each character that the fonts lack as
/// \u{1F9FF}: for any fonts private use and noncharacters, which have no agreed picture and which
/// XML forbids in part; for the drawing machine also those that DejaVu Sans lacks, and scripts that
/// it has in part. Idempotent.
std::string drawable(std::string_view text, Fonts fonts);

/// Sets `width`, `height`, `texts`, `swatches` and the areas of the panels. Every text is made
/// drawable() with `fonts`, and cut where it is longer than its room. Throws Error when the figure
/// would be larger than an image can be.
void lay_out(Figure& figure, Fonts fonts);

}  // namespace skid::plots
