// Tables and lists of cells, which a page lays out.
#pragma once

#include "src/output/cell.h"

#include <string>
#include <utility>
#include <vector>

namespace skid::output {

struct Row {
  std::string name;
  std::vector<Cell> cells;  ///< one cell per column; none for a heading row
  Ink ink = Ink::plain;     ///< colour of the name
};

/// Named rows of right-aligned cells. A page that is too narrow for all columns shows several
/// tables, each with some of them.
struct Table {
  std::vector<Cell> header;
  std::vector<Row> rows;
};

/// Returns a row with a cell for each of `things`.
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
    shortened,        ///< text, cut in the middle where the page is narrow
    front_shortened,  ///< text, cut at its beginning: for names that differ in their ends
    wrapped,          ///< text of the last column, continued on further lines
  };
  std::string title;
  Kind kind = Kind::number;
  /// A narrow page leaves out the columns of the highest rank first, from 4 down; 0 is always
  /// shown.
  int rank = 0;
  bool shown = true;  ///< false: left out of any page
};

/// A list of things of one kind: a row for each, with a cell for each column.
struct List {
  std::vector<ListColumn> columns;
  std::vector<std::vector<Cell>> rows = {};

  /// Adds a row. Its arguments are cells, or their texts.
  template <typename... Cells>
  void add(Cells&&... cells) {
    rows.push_back({Cell{std::forward<Cells>(cells)}...});
  }
};

}  // namespace skid::output
