// Tables of a page: those of the text report, and tables that can be sorted.
#pragma once

#include "src/html/markup.h"
#include "src/output/page.h"

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::html {

/// A cell of a table that can be sorted by each of its columns.
struct SortableCell {
  Markup content;
  std::optional<double> number;  ///< sort key; nullopt: the text

  SortableCell(Markup markup, std::optional<double> key = {})
      : content(std::move(markup)), number(key) {}
  template <std::convertible_to<std::string_view> Text>
  SortableCell(const Text& text, std::optional<double> key = {})
      : content(Markup::text(text)), number(key) {}
};
using SortableRow = std::vector<SortableCell>;
/// "-" for what is not known.
SortableCell unknown_cell();

/// A column of such a table.
struct SortableColumn {
  std::string name;  ///< plain
  bool of_numbers = false;
};
/// For columns of numbers.
inline SortableColumn number_column(std::string name) {
  return {std::move(name), true};
}

/// Rows have a cell for each column.
Markup sortable_table(const std::string& caption, const std::vector<SortableColumn>& columns,
                      const std::vector<SortableRow>& rows);

/// The table of a text report, with its indents; inks are classes.
Markup table(const std::string& caption, const output::Table& table);

/// A word in the colour of an ink.
Markup inked(const std::string& text, output::Ink ink);

}  // namespace skid::html
