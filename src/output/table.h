// Terminal tables: a column of row names and right-aligned cells, as many side by side as fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skid::output {

enum class Ink { plain, bold, dim, green, yellow, red };

/// `text` in that ink, or as it is without colour.
std::string paint(std::string_view text, Ink ink, bool color);

struct Cell {
  std::string text;  ///< escaped
  Ink ink = Ink::plain;
};

struct Row {
  std::string name;
  std::vector<Cell> cells;  ///< one a column, or none for a line that only says `name`
  Ink ink = Ink::plain;     ///< of the name
};

struct Table {
  std::vector<Cell> header;
  std::vector<Row> rows;
};

/// Lines, each ending in a newline and at most `width` columns wide as long as one column of cells
/// fits. What does not fit side by side follows below under a header of its own.
std::string render(const Table& table, std::size_t width, bool color);

/// `text` and as many spaces as bring it to `width` columns, behind or in front of it.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

}  // namespace skid::output
