#include "src/output/html/document.h"

#include "analysis/wording.h"
#include "assets.h"
#include "src/output/cell.h"
#include "src/output/page.h"
#include "src/output/table.h"
#include "src/support/command_text.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>

namespace skid::output::html {
namespace {

std::string command_line(const std::vector<std::string>& line) {
  return element("pre", "", escaped(command_text(line)));
}

/// Returns the section with the command lines, and the foot of the page.
std::string origin_section(const Origin& origin) {
  std::string content = element("h2", "", "How to repeat it");
  if (!origin.recorded.empty()) {
    content += element("p", "", "Recorded, according to runs and recordings, by");
    for (const auto& line : origin.recorded) content += command_line(line);
    if (origin.left_out > 0) {
      content += element("p", "",
                         fmt::format("and {} more, which the JSON report lists",
                                     analysis::counted(origin.left_out, "command line")));
    }
    content += element("p", "", "and shown by");
  }
  content += command_line(origin.line);
  return content + element("footer", "", "skidscan " + escaped(origin.version));
}

/// Puts content into a box that scrolls, also by keyboard, where the window is narrower than it.
std::string scrolling(std::string_view content) {
  return fmt::format(R"(<div class="scroll" tabindex="0">{}</div>)"
                     "\n",
                     content);
}

/// Returns a table in such a box, of the cells of its head, which may be none, and its rows.
std::string table_of(std::string_view classes, const std::string& head, const std::string& body) {
  return scrolling(element("table", classes,
                           (head.empty() ? "" : element("thead", "", element("tr", "", head))) +
                               element("tbody", "", body)));
}

/// Returns a row of a table. Its indent is a class; a row without cells spans the table.
std::string table_row(const Row& row, std::size_t columns) {
  const std::size_t indent = std::min(row.name.find_first_not_of(' '), row.name.size());
  const std::string name = escaped(std::string_view(row.name).substr(indent));
  const std::string classes = fmt::format("indent{} {}", indent / kIndent, class_of(row.ink));
  if (row.cells.empty()) {
    return name.empty() ? ""
                        : fmt::format("<tr><th class=\"{}\" colspan=\"{}\">{}</th></tr>\n", classes,
                                      columns + 1, name);
  }
  std::string cells = element("th", classes, name);
  for (const Cell& cell : row.cells) {
    cells += element("td", fmt::format("number {}", class_of(cell.ink)), escaped(cell.text));
  }
  return element("tr", "", cells);
}

std::string classes_of(const ListColumn& column) {
  using Kind = ListColumn::Kind;
  return fmt::format("{} rank{}",
                     column.kind == Kind::number ? "number"
                     : column.kind == Kind::text ? "text"
                                                 : "long",
                     column.rank);
}

}  // namespace

std::string document(std::string_view title, const std::string& body, const Origin& origin) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; "
      "script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}{}<script>{}</script>\n</body>\n"
      "</html>\n",
      kStyleHash, kScriptHash, title, kStyle, body, origin_section(origin), kScript);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : escape_for_terminal(text)) {
    constexpr std::string_view kSpecial = "&<>\"'";
    constexpr std::array kEntities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const std::size_t place = kSpecial.find(character);
    if (place == std::string_view::npos) {
      result += character;
    } else {
      result += kEntities.at(place);
    }
  }
  return result;
}

std::string_view class_of(Ink ink) {
  constexpr std::array<std::string_view, 6> kClasses{"", "bold", "dim", "good", "care", "bad"};
  return kClasses.at(static_cast<std::size_t>(ink));
}

std::string hanging(std::string_view lead, std::string_view text, Ink ink) {
  if (lead.find_first_not_of(' ') == std::string_view::npos) {
    return element("p", class_of(ink), escaped(text));
  }
  return element("dl", "", element("dt", "", lead) + element("dd", class_of(ink), escaped(text)));
}

std::string preformatted(std::string_view text) {
  std::string markup;
  while (!text.empty()) {
    std::string_view line = take_until('\n', text);
    for (auto ink = kInkSequences.end(); !line.empty();) {
      const std::string_view piece = take_until('\x1b', line);
      markup += ink == kInkSequences.end()
                    ? escaped(piece)
                    : fmt::format("<span class=\"{}\">{}</span>",
                                  class_of(static_cast<Ink>(ink - kInkSequences.begin())),
                                  escaped(piece));
      take_until('[', line);
      ink = std::ranges::find(kInkSequences, take_until('m', line));  // the end: "\x1b[0m"
    }
    markup += '\n';
  }
  return scrolling(element("pre", "", markup));
}

std::string table(const Table& table) {
  std::string head = "<td></td>";
  for (const Cell& cell : table.header) head += element("th", "number", escaped(cell.text));
  std::string body;
  for (const Row& row : table.rows) body += table_row(row, table.header.size());
  return table_of("", head, body);
}

std::string list(const List& list) {
  std::string head;
  bool has_titles = false, is_sortable = true;
  for (const ListColumn& column : list.columns) {
    if (!column.shown) continue;
    has_titles = has_titles || !column.title.empty();
    is_sortable = is_sortable && !column.title.empty();
    head += element("th", classes_of(column), escaped(column.title));
  }
  // Rows with a text in the last column alone continue that of the row before them.
  const auto continues = [](const std::vector<Cell>& row) {
    return row.size() > 1 && std::all_of(row.begin(), row.end() - 1,
                                         [](const Cell& cell) { return cell.text.empty(); });
  };
  std::string body;
  for (auto row = list.rows.begin(); row != list.rows.end();) {
    const auto next = std::find_if_not(row + 1, list.rows.end(), continues);
    std::string cells;
    for (std::size_t i = 0; i < row->size(); ++i) {
      const ListColumn& column = list.columns[i];
      if (!column.shown) continue;
      std::string content = escaped((*row)[i].text);
      for (auto more = row + 1; i + 1 == row->size() && more != next; ++more) {
        content += element("div", class_of(more->back().ink), escaped(more->back().text));
      }
      cells +=
          element("td", fmt::format("{} {}", classes_of(column), class_of((*row)[i].ink)), content);
    }
    body += element("tr", "", cells);
    row = next;
  }
  return table_of(is_sortable ? "sortable" : "", has_titles ? head : "", body);
}

}  // namespace skid::output::html
