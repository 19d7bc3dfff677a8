// Figures of a page as SVG within it: each mark shows its value under the pointer and by keyboard.
#pragma once

#include "plots/model.h"
#include "src/html/markup.h"

#include <string>

namespace skid::html {

/// `figure` without its title and the texts of its head, which a page has already, and the values
/// of its marks as a table. `title`: what the figure shows, for screen readers.
Markup svg_figure(const std::string& title, plots::Figure figure);

}  // namespace skid::html
