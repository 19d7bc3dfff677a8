// Text laid out for a terminal or as HTML: colours, wrapped lines, tables. All of it is escaped for
// a terminal already; what HTML needs in addition is done here.
#pragma once

#include "analysis/wording.h"
#include "src/output/escape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

struct MachineGroup;

inline constexpr std::size_t kIndent = 2;
inline constexpr const char* kUnknown = "-";  ///< a number that is not known

enum class Ink { plain, bold, dim, green, yellow, red };

struct Cell {
  std::string text;
  Ink ink = Ink::plain;
};

struct Row {
  std::string name;
  std::vector<Cell> cells;  ///< one a column, or none for a line that holds `name` alone
  Ink ink = Ink::plain;     ///< of the name
};

/// Row names and right-aligned cells, few enough columns to be cut into several tables.
struct Table {
  std::vector<Cell> header;
  std::vector<Row> rows;
};

/// A row with a cell for each of `things`.
template <typename Things, typename CellOf>
Row row_of(std::string name, const Things& things, CellOf cell_of) {
  Row row{std::move(name), {}};
  for (const auto& thing : things) row.cells.push_back(cell_of(thing));
  return row;
}

/// A column of a list.
struct ListColumn {
  enum class Kind {
    number,           ///< aligned right
    text,             ///< aligned left
    shortened,        ///< the same, cut in the middle where the page is narrow
    front_shortened,  ///< the same, for names that differ in their ends
    wrapped,          ///< text of the last column, continued on further lines
  };
  std::string title;
  Kind kind = Kind::number;
  int rank = 0;  ///< of a narrow page, columns of the highest rank are left out, 4 first; 0 stays
  bool shown = true;  ///< false: left out of any page
};

/// Things of one kind: a row each, with a cell for each column.
struct List {
  std::vector<ListColumn> columns;
  std::vector<std::vector<Cell>> rows = {};

  /// Adds a row of cells, or of their texts.
  template <typename... Cells>
  void add(Cells&&... cells) {
    rows.push_back({Cell{std::forward<Cells>(cells)}...});
  }
};

/// The terminal or page that a text is written for, and how much of it.
struct Page {
  bool color = false;       ///< ANSI colours
  std::size_t width = 100;  ///< columns; at least 60 for reports
  bool unicode = true;      ///< block characters; false draws bars with #
  bool details = true;      ///< all that is known; false: what fits one screen
  bool html = false;        ///< HTML for a browser, which breaks lines and chooses columns itself
  /// The figure of a kind (plots/figure.h) as HTML; null: text without figures. `of`: what to draw;
  /// null for what the text is about.
  std::function<std::string(std::string_view kind, const MachineGroup* of)> draw = {};

  /// `text` in that ink, or as it is without colour.
  std::string paint(std::string_view text, Ink ink) const;
  /// The sentence that a text begins with: `text` wrapped.
  std::string answer(std::string_view text, Ink ink) const;
  /// An empty line and a bold one.
  std::string title(std::string_view text) const;
  /// `text` wrapped after `lead`, which is painted; further lines indented to `lead_width` columns.
  std::string hanging(const std::string& lead, std::size_t lead_width, std::string_view text,
                      Ink ink = Ink::plain) const;
  /// `text` wrapped.
  std::string paragraph(std::string_view text, Ink ink = Ink::plain) const {
    return hanging("", 0, text, ink);
  }
  /// `text` wrapped and indented; further lines by `more` columns more.
  std::string note(std::string_view text, Ink ink = Ink::dim, std::size_t more = 0) const {
    return hanging(std::string(kIndent, ' '), kIndent + more, text, ink);
  }
  /// A name and its value, as at the beginning of a report; nothing for an empty value.
  std::string field(std::string_view name, std::string_view text, Ink ink = Ink::plain) const;
  /// "12 more" and `what`, of things that are left out; empty for none. `more`: as of `note`.
  std::string left_out(std::size_t count, std::string_view what, std::size_t more = 0) const {
    return count == 0 ? "" : note(fmt::format("{} more{}", count, what), Ink::dim, more);
  }
  /// A title, and a note for each text, of many the first ones; empty without any.
  std::string section(std::string_view name, const std::vector<std::string>& texts,
                      Ink ink = Ink::plain, std::size_t most = std::string::npos) const;
  /// Warnings about recordings, each once, below an empty line. Without details the first ones.
  std::string warnings(const std::vector<std::string>& texts) const;
  /// An empty line, and a line across the page that begins with `name`, which is not escaped yet.
  std::string rule(std::string_view name) const;
  /// "11–13", "11-13" in ASCII, "-3 to 2" where a dash could be read as a sign.
  std::string range(const std::string& low, const std::string& high) const;
  /// Lines of a table, each at most `width` columns wide as long as one column of cells fits.
  /// What does not fit side by side follows below under a header of its own.
  std::string table(const Table& table) const;
  /// A header, unless no column has a title, and a line a row.
  std::string list(const List& list) const;
  /// What `draw` makes of these; empty without figures.
  std::string figure(std::string_view kind, const MachineGroup* of) const {
    return draw ? draw(kind, of) : "";
  }
  /// `text` in lines that leave `indent` columns free; in one line on a page, which a browser
  /// breaks.
  std::vector<std::string> lines(std::string_view text, std::size_t indent) const;
};

/// As many spaces as make `text` `width` columns wide; pad_right and pad_left add them to it.
inline std::string spaces(std::size_t width, std::string_view text) {
  const std::size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ');
}
inline std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + spaces(width, text);
}
inline std::string pad_left(std::string_view text, std::size_t width) {
  return spaces(width, text) + std::string(text);
}

/// "-", for what is not known.
inline Cell unknown_cell() {
  return {kUnknown, Ink::dim};
}
/// "12.5%"; "-" of nothing.
inline std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return kUnknown;
  return analysis::percent(static_cast<double>(part) / static_cast<double>(whole));
}

/// A number in a table: whole ones without decimals, small ones with two significant digits.
std::string number_text(double value);

/// "99.92–100%"
inline std::string share_range(const Page& page, double low, double high) {
  std::string text = analysis::percent(low);
  text.pop_back();
  return page.range(text, analysis::percent(high));
}

/// The results of `text_of` for each element.
template <typename Elements, typename TextOf>
std::vector<std::string> texts_of(const Elements& elements, TextOf text_of) {
  std::vector<std::string> texts;
  for (const auto& element : elements) texts.push_back(text_of(element));
  return texts;
}

/// Names separated by commas; of many the first ones and "and 12 more".
std::string list_of(const std::vector<std::string>& names, std::size_t most = 8);
/// All of them.
inline std::string joined(const std::vector<std::string>& names,
                          std::string_view separator = ", ") {
  return fmt::format("{}", fmt::join(names, separator));
}

}  // namespace skid::output
