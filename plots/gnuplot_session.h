// gnuplot as a child process without a shell: commands in, the bytes of a figure out.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gnuplotio {
class Gnuplot;
}

namespace skid::plots {

/// A figure's file format and gnuplot's name for it.
struct Terminal {
  std::string name;     ///< "pngcairo"
  std::string options;  ///< behind the name in `set terminal`
};

/// Runs gnuplot with `terminal`, lets `write` send it commands, and returns the figure. gnuplot
/// never sees a path: it writes to a file in memory. Throws Error when it is missing (naming the
/// package), lacks the terminal or fails (with its message).
std::string draw(const Terminal& terminal, const std::function<void(gnuplotio::Gnuplot&)>& write);

/// What `write` sends, as text: commands with their data behind them. No gnuplot takes part.
std::string record(const std::function<void(gnuplotio::Gnuplot&)>& write);

/// `text` as a gnuplot string, drawable() with any fonts. Single quotes keep gnuplot from
/// expanding backquotes, macros and escapes (gnuplot manual, "Quotation marks"). An apostrophe
/// becomes U+2019: gnuplot 5.4 takes a doubled quote at the beginning of a string for an empty
/// string, and what follows for further tokens. Of "]]>", which XML does not allow in text and
/// gnuplot writes into SVG as it is, the last character is written as \x3e.
std::string gnuplot_string(std::string_view text);

}  // namespace skid::plots
