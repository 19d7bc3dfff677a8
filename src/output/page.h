// Text laid out for a terminal: colours, wrapped lines, tables. All of it is escaped already.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::output {

inline constexpr std::size_t kIndent = 2;
inline constexpr const char* kUnknown = "-";  ///< a number that is not known
inline constexpr const char* kSyntheticText = "samples made by skidscan synth; no CPU took them";

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

/// A column of a list whose rows are things of one kind.
struct ListColumn {
  enum class Kind {
    number,           ///< aligned right
    text,             ///< aligned left
    shortened,        ///< the same, cut where the page is narrow
    front_shortened,  ///< the same, for names that differ in their ends
    wrapped,          ///< text of the last column, continued on further lines
  };
  std::string title;
  Kind kind = Kind::number;
  int rank = 0;  ///< of a narrow page, columns of the highest rank are left out; 0 stays
  std::vector<Cell> cells = {};
};

/// A column of a list of rows, and its cell in each of them.
template <typename T>
struct ColumnOf {
  ListColumn column;
  std::function<Cell(const T&)> cell;
};

/// The columns with the cells of all rows.
template <typename T>
std::vector<ListColumn> columns_of(const std::vector<T>& rows, std::vector<ColumnOf<T>> columns) {
  std::vector<ListColumn> result;
  for (ColumnOf<T>& one : columns) {
    for (const T& row : rows) one.column.cells.push_back(one.cell(row));
    result.push_back(std::move(one.column));
  }
  return result;
}

/// The terminal that a text is written for, and how much of it.
struct Page {
  bool color = false;       ///< ANSI colours
  std::size_t width = 100;  ///< columns; at least 60 for reports
  bool unicode = true;      ///< block characters; false draws bars with #
  bool details = true;      ///< all that is known; false: what fits one screen

  std::string paint(std::string_view text, Ink ink) const;
  /// An empty line and a bold one.
  std::string title(std::string_view text) const;
  /// `text` wrapped after `lead`, further lines indented to `lead_width` columns.
  std::string hanging(const std::string& lead, std::size_t lead_width, std::string_view text,
                      Ink ink = Ink::plain) const;
  /// `text` wrapped and indented; further lines by `more` columns more.
  std::string note(std::string_view text, Ink ink = Ink::plain, std::size_t more = 0) const;
  /// A name and its value, as at the beginning of a report.
  std::string field(std::string_view name, std::string_view text, Ink ink = Ink::plain) const;
  /// An empty line, and a line across the page that begins with `name`, which is not escaped yet.
  std::string rule(std::string_view name) const;
  /// "11–13", "11-13" in ASCII, "-3 to 2" where a dash could be read as a sign.
  std::string range(const std::string& low, const std::string& high) const;
  /// Lines of a table, each at most `width` columns wide as long as one column of cells fits.
  /// What does not fit side by side follows below under a header of its own.
  std::string table(const Table& table) const;
  /// A header and a line a row.
  std::string list(std::vector<ListColumn> columns) const;
};

/// `text` in that ink, or as it is without colour.
std::string paint(std::string_view text, Ink ink, bool color);

/// `text` and as many spaces as make it `width` columns wide.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

/// A number in a table: whole ones without decimals, small ones with two significant digits.
std::string number_text(double value);

/// "99.92–100%"
std::string share_range(const Page& page, double low, double high);

/// Names separated by commas; of many the first ones and "and 12 more".
std::string list_of(const std::vector<std::string>& names, std::size_t most = 8);

}  // namespace skid::output
