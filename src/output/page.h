// The terminal or page that a text is written for: how it is coloured, wrapped and laid out there.
// All texts are escaped for a terminal already; HTML gets its own escapes in html/document.h.
#pragma once

#include "src/output/cell.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

struct List;
struct MachineGroup;
struct Table;

inline constexpr std::size_t kIndent = 2;

/// A terminal or page, and how much is shown on it.
struct Page {
  bool color = false;       ///< ANSI colours
  std::size_t width = 100;  ///< columns; at least 60 for reports
  bool unicode = true;      ///< block characters; false draws bars with #
  bool details = true;      ///< everything that is known; false: what fits one screen
  bool html = false;        ///< HTML for a browser, which breaks lines and chooses columns itself
  /// Draws the figure of a kind (plots/figure.h) as HTML; null: text without figures. `of`: what to
  /// draw; null draws the subject of the text.
  std::function<std::string(std::string_view kind, const MachineGroup* of)> draw = {};

  /// Returns `text` in that ink; unchanged on a page without colour.
  std::string paint(std::string_view text, Ink ink) const;
  /// Returns the sentence that begins a text: wrapped; in HTML as the heading.
  std::string answer(std::string_view text, Ink ink) const;
  /// Returns an empty line and a bold one.
  std::string title(std::string_view text) const;
  /// Wraps `text` after `lead`, which is painted; indents further lines to `lead_width` columns.
  std::string hanging(const std::string& lead, std::size_t lead_width, std::string_view text,
                      Ink ink = Ink::plain) const;
  /// Wraps `text`.
  std::string paragraph(std::string_view text, Ink ink = Ink::plain) const {
    return hanging("", 0, text, ink);
  }
  /// Wraps and indents `text`; indents further lines by `more` additional columns.
  std::string note(std::string_view text, Ink ink = Ink::dim, std::size_t more = 0) const {
    return hanging(std::string(kIndent, ' '), kIndent + more, text, ink);
  }
  /// Returns a name and its value, as at the beginning of a report; nothing for an empty value.
  std::string field(std::string_view name, std::string_view text, Ink ink = Ink::plain) const;
  /// Returns the note "12 more" and `what` for things that are left out; empty if `count` is 0.
  /// `more`: as for note().
  std::string left_out(std::size_t count, std::string_view what, std::size_t more = 0) const {
    return count == 0 ? "" : note(fmt::format("{} more{}", count, what), Ink::dim, more);
  }
  /// Returns a title and a note for each of the first `most` texts; empty if there are no texts.
  std::string section(std::string_view name, const std::vector<std::string>& texts,
                      Ink ink = Ink::plain, std::size_t most = std::string::npos) const;
  /// Returns warnings about recordings, each once, below an empty line; without details only the
  /// first ones.
  std::string warnings(const std::vector<std::string>& texts) const;
  /// Returns the page that a preformatted() text is written for: in HTML a terminal with colours.
  Page terminal() const { return html ? Page{.color = true, .width = 120} : *this; }
  /// Returns a text for terminal(), laid out as there.
  std::string preformatted(const std::string& text) const;
  /// Returns an empty line, and a line across the page that begins with `name`, which this function
  /// escapes.
  std::string rule(std::string_view name) const;
  /// Formats a range: "11–13"; "11-13" in ASCII; "-3 to 2" where a dash could be read as a sign.
  std::string range(const std::string& low, const std::string& high) const;
  /// Returns the lines of a table, each at most `width` columns wide as long as one column of cells
  /// fits. Columns that do not fit follow below, under a header of their own.
  std::string table(const Table& table) const;
  /// Returns a header line, unless no column has a title, and a line for each row.
  std::string list(const List& list) const;
  /// Returns the result of `draw`; empty without figures.
  std::string figure(std::string_view kind, const MachineGroup* of) const {
    return draw ? draw(kind, of) : "";
  }
  /// Breaks `text` into lines that leave `indent` columns free; a page for a browser, which breaks
  /// lines itself, gets one line.
  std::vector<std::string> lines(std::string_view text, std::size_t indent) const;
};

}  // namespace skid::output
