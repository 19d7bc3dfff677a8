// Capabilities of the terminal of standard output and standard error.
#pragma once

namespace skid::commands {

/// Whether standard output is a terminal and NO_COLOR is not set (no-color.org).
bool standard_output_takes_color();

/// Whether standard output is a regular file: a pipe may lead to a pager on the same terminal.
bool standard_output_is_file();

/// Columns of the terminal, or of COLUMNS, at least 40; 100 if neither is known.
unsigned standard_output_width();

/// Whether the locale (LC_ALL, LC_CTYPE, LANG) is UTF-8. True if none is set, as in most
/// containers, whose terminals support UTF-8.
bool locale_takes_unicode();

}  // namespace skid::commands
