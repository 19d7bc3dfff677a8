// Texts that gnuplot shows as they are.
#pragma once

#include <string>
#include <string_view>

namespace skid::plots {

/// `text` after output::escape_for_terminal(), with each character that the fonts lack as
/// \u{1F9FF}: private use and noncharacters, which have no agreed picture and which XML forbids in
/// part; without `all_fonts` also those that DejaVu Sans lacks, and scripts that it has in part. It
/// is the only font that is certain to be installed (fontconfig depends on it), and Pango draws a
/// box as large as the figure for a character that no font has. Idempotent.
std::string drawable(std::string_view text, bool all_fonts);

/// `text`, drawable(), as a gnuplot string. Single quotes keep gnuplot from expanding backquotes,
/// macros and escapes (gnuplot manual, "Quotation marks"). An apostrophe becomes U+2019:
/// gnuplot 5.4 reads a doubled quote at the beginning of a string as an empty string, and the rest
/// as further tokens. Of "]]>", which XML does not allow in text and gnuplot copies into SVG, the
/// last character becomes \x3e.
std::string gnuplot_string(std::string_view text, bool all_fonts);

}  // namespace skid::plots
