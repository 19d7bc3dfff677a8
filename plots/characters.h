// Which characters of foreign texts a figure shows as they are.
#pragma once

#include <string>
#include <string_view>

namespace skid::plots {

/// What is known of the fonts that a figure is drawn with.
enum class Fonts {
  /// Those of whoever looks at it, as of an SVG: they have what Unicode assigns to characters.
  of_viewers,
  /// Those of the machine that draws it. Pango draws a box as large as the figure for a character
  /// that none of them has. Only DejaVu Sans is there for certain, as fontconfig comes with it.
  of_drawers,
};

/// `text` as output::escape_for_terminal() writes it, and each further character that the fonts
/// lack as \u{1F9FF}: for any fonts those of private use and noncharacters, which XML forbids in
/// part and which no one has an agreed picture of; for those of the drawing machine what DejaVu
/// Sans lacks, and scripts of which it has a part. Gives back what it gave before.
std::string drawable(std::string_view text, Fonts fonts);

}  // namespace skid::plots
