// What the terminal behind standard output can show.
#pragma once

namespace skid::commands {

/// Whether standard output is a terminal and NO_COLOR is not set (no-color.org).
bool standard_output_takes_color();

/// Columns of the terminal, or of COLUMNS, at least 40; 100 where neither tells.
unsigned standard_output_width();

}  // namespace skid::commands
