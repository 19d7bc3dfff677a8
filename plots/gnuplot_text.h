// Texts that gnuplot draws without interpreting them.
#pragma once

#include <string>
#include <string_view>

namespace skid::plots {

/// Returns `text` after escape_for_terminal(), in which each character that fonts lack is
/// written as \u{1F9FF}. These are private use and noncharacters, which have no agreed picture and
/// some of which XML forbids. Without `all_fonts` they are also those that DejaVu Sans lacks, and
/// scripts that it has only in part. It is the only font that is certain to be installed
/// (fontconfig depends on it), and Pango draws a box as large as the figure for a character that no
/// font has. The function is idempotent.
std::string drawable(std::string_view text, bool all_fonts);

/// Returns `text`, drawable(), as a gnuplot string. Single quotes keep gnuplot from expanding
/// backquotes, macros and escapes (gnuplot manual, "Quotation marks"). An apostrophe becomes
/// U+2019, because gnuplot 5.4 reads a doubled quote at the beginning of a string as an empty
/// string, and the rest as further tokens. The last character of "]]>" becomes \x3e, because XML
/// does not allow it in text and gnuplot copies it into SVG.
std::string gnuplot_string(std::string_view text, bool all_fonts);

}  // namespace skid::plots
