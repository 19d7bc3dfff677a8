#include "src/html/tables.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace skid::html {
namespace {

const char* class_of(output::Ink ink) {
  switch (ink) {
    case output::Ink::plain:
      return "";
    case output::Ink::bold:
      return "bold";
    case output::Ink::dim:
      return "dim";
    case output::Ink::green:
      return "good";
    case output::Ink::yellow:
      return "care";
    case output::Ink::red:
      return "bad";
  }
  return "";
}

/// A table is wider than a narrow window: it scrolls in a box that the keyboard reaches.
Markup scrolling(const std::string& caption, const Markup& content) {
  return element(
      "div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", caption}},
      content);
}

}  // namespace

Markup inked(const std::string& text, output::Ink ink) {
  return element("span", {{"class", class_of(ink)}}, text);
}

SortableCell unknown_cell() {
  return {output::kUnknown};
}

Markup sortable_table(const std::string& caption, const std::vector<SortableColumn>& columns,
                      const std::vector<SortableRow>& rows) {
  Markup head;
  for (const SortableColumn& column : columns) {
    head += element("th", {{"scope", "col"}, {"class", column.of_numbers ? "number" : ""}},
                    element("button", {{"type", "button"}}, column.name));
  }
  Markup body;
  for (const auto& row : rows) {
    Markup cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      Attributes attributes{{"class", columns[i].of_numbers ? "number" : ""}};
      if (row[i].number) attributes.emplace_back("data-sort", fmt::format("{}", *row[i].number));
      cells += element("td", attributes, row[i].content);
    }
    body += element("tr", cells);
  }
  return scrolling(caption,
                   element("table", {{"class", "sortable"}},
                           element("caption", caption) + element("thead", element("tr", head)) +
                               element("tbody", body)));
}

Markup table(const std::string& caption, const output::Table& table) {
  Markup head = element("td", {{"class", "corner"}});
  for (const output::Cell& cell : table.header) {
    head += element("th", {{"scope", "col"}, {"class", "number"}}, cell.text);
  }
  Markup body;
  const std::string columns = fmt::format("{}", table.header.size() + 1);
  for (const output::Row& row : table.rows) {
    const std::size_t indent =
        std::min(row.name.find_first_not_of(' '), std::size_t{4});  // npos: an empty row
    if (row.name.empty() && row.cells.empty()) continue;
    const std::string name = row.name.substr(std::min(indent, row.name.size()));
    std::string classes = fmt::format("indent{}", indent / 2);
    if (row.ink != output::Ink::plain) classes += std::string(" ") + class_of(row.ink);
    if (row.cells.empty()) {
      body += element(
          "tr",
          element("th", {{"scope", "rowgroup"}, {"colspan", columns}, {"class", classes}}, name));
      continue;
    }
    Markup cells = element("th", {{"scope", "row"}, {"class", classes}}, name);
    for (const output::Cell& cell : row.cells) {
      cells += element("td", {{"class", std::string("number ") + class_of(cell.ink)}}, cell.text);
    }
    body += element("tr", cells);
  }
  return scrolling(caption, element("table", element("caption", caption) +
                                                 element("thead", element("tr", head)) +
                                                 element("tbody", body)));
}

}  // namespace skid::html
