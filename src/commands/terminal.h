// What the terminal behind standard output and standard error can show.
#pragma once

namespace skid::commands {

/// Whether standard output is a terminal and NO_COLOR is not set (no-color.org).
bool standard_output_takes_color();

/// Whether standard output is a regular file: a pipe may lead to a pager on the same terminal.
bool standard_output_is_file();

/// Columns of the terminal, or of COLUMNS, at least 40; 100 where neither tells.
unsigned standard_output_width();

/// Whether the locale (LC_ALL, LC_CTYPE, LANG) is one of UTF-8. Where none is named, as in most
/// containers, nobody said that the terminal is an old one.
bool locale_takes_unicode();

}  // namespace skid::commands
