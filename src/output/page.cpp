// Layout of texts, tables and lists.
//
// A list must fit a page that may be narrow. fit() chooses the columns and their widths:
// 1. Columns of the highest rank are left out (rank 4 first) until the others fit, counting at most
//    kNarrowText columns for each text that may be cut.
// 2. If it is still too wide, wrapped texts are made narrower, then shortened texts, each down to
//    kNarrowestText and the last column first.
//
// cut_texts() then shortens the texts of a column so that different texts stay different. It cuts
// them in the middle, then with longer and shorter ends, until they are: in 10 columns
//
//     a_very_long_name_1  ->  a_ver…me_1
//     a_very_long_name_2  ->  a_ver…me_2
//
// Texts that stay equal with any cut are numbered: the second one ends in "#2".
#include "src/output/page.h"

#include "src/output/cell.h"
#include "src/output/html/document.h"
#include "src/output/padding.h"
#include "src/output/table.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace skid::output {
namespace {

using Kind = ListColumn::Kind;

constexpr std::size_t kGap = 2;
/// Minimum width: narrower columns look crowded, and levels of like content should have like
/// widths.
constexpr std::size_t kNarrowestTableColumn = 11;
/// Minimum widths of a shortened text, before other columns are left out and after.
constexpr std::size_t kNarrowText = 16;
constexpr std::size_t kNarrowestText = 8;

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

/// A column that is shown, and its width.
struct Fitted {
  std::size_t column = 0;
  std::size_t width = 0;
};

/// Cuts the front of a text, after the columns that stay.
std::string without_front(const Cell& cell, std::size_t width) {
  const std::string_view text = cell.text;
  const std::size_t kept = cell.kept < std::min(width / 2, text.size()) ? cell.kept : 0;
  return std::string(text.substr(0, kept)) + shorten_front(text.substr(kept), width - kept);
}

/// Cuts `text` in its middle. `tail`: columns of its end that stay.
std::string without_middle(const std::string& text, std::size_t width, std::size_t tail) {
  if (display_width(text) <= width) return text;
  const std::string end = tail == 0 ? "" : shorten_front(text, tail + 1).substr(1);
  return shorten(text, width - display_width(end)) + end;
}

/// Shortens the texts of a column to `width` terminal columns each. Different texts stay different:
/// they are cut at a place that keeps them so, and are numbered if there is none.
std::map<std::string, std::string> cut_texts(const List& list, std::size_t column,
                                             std::size_t width) {
  std::map<std::string, std::string> cut;
  for (const auto& row : list.rows) cut[row[column].text] = without_front(row[column], width);
  const auto are_different = [&] {
    std::set<std::string> shown;
    for (const auto& [text, one] : cut) shown.insert(one);
    return shown.size() == cut.size();
  };
  if (list.columns[column].kind != Kind::front_shortened) {
    const std::size_t middle = (width - 1) / 2;
    for (std::size_t i = 0; i < 2 * width; ++i) {
      // Cut in the middle first, then with ends that are longer and shorter in turn.
      const std::size_t tail = i % 2 == 0 ? middle + i / 2 : middle - std::min(middle, i / 2 + 1);
      for (auto& [text, shown] : cut)
        shown = without_middle(text, width, std::min(tail, width - 1));
      if (are_different()) return cut;
    }
  }
  if (are_different()) return cut;
  std::map<std::string, int> used;
  for (auto& [text, shown] : cut) {
    const int number = ++used[shown];
    const std::string mark = fmt::format("#{}", number);
    if (number > 1) shown = shorten(shown, width - std::min(width, mark.size())) + mark;
  }
  return cut;
}

/// Leaves out columns of high rank until the rest fits, then shortens columns whose kind allows it.
std::vector<Fitted> fit(const List& list, std::size_t page_width) {
  std::vector<Fitted> fitted;
  for (std::size_t i = 0; i < list.columns.size(); ++i) {
    std::size_t width = display_width(list.columns[i].title);
    for (const auto& row : list.rows) width = std::max(width, display_width(row[i].text));
    if (list.columns[i].shown) fitted.push_back({i, width});
  }
  const auto width_of_all = [&](std::size_t most_of_cut) {
    std::size_t all = kIndent - kGap;
    for (const auto& [column, width] : fitted) {
      const bool may_be_cut = list.columns[column].kind > Kind::text;
      all += kGap + (may_be_cut ? std::min(width, most_of_cut) : width);
    }
    return all;
  };
  while (width_of_all(kNarrowText) > page_width) {
    const auto rank = [&](const Fitted& one) { return list.columns[one.column].rank; };
    const auto last = std::ranges::max_element(fitted, {}, rank);
    if (last == fitted.end() || rank(*last) == 0) break;
    fitted.erase(last);
  }
  std::size_t used = width_of_all(std::string::npos);
  // Wrapped texts are narrowed first: nothing of them is lost.
  for (const bool wrapped : {true, false}) {
    for (std::size_t i = fitted.size(); i-- > 0 && used > page_width;) {
      auto& [column, width] = fitted[i];
      const Kind kind = list.columns[column].kind;
      if (kind <= Kind::text || (kind == Kind::wrapped) != wrapped) continue;
      const std::size_t cut = std::min(used - page_width, width - std::min(width, kNarrowestText));
      width -= cut;
      used -= cut;
    }
  }
  return fitted;
}

}  // namespace

std::string Page::paint(std::string_view text, Ink ink) const {
  if (html) return html::painted(text, ink);
  if (!color || ink == Ink::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kInkSequences.at(static_cast<std::size_t>(ink)), text);
}

std::string Page::answer(std::string_view text, Ink ink) const {
  return html ? html::element("h1", html::class_of(ink), html::escaped(text))
              : paragraph(text, ink);
}

std::string Page::title(std::string_view text) const {
  if (html) return html::element("h3", "", html::escaped(text));
  return '\n' + paint(text, Ink::bold) + '\n';
}

std::string Page::hanging(const std::string& lead, std::size_t lead_width, std::string_view text,
                          Ink ink) const {
  if (html) return text.empty() ? "" : html::hanging(lead, text, ink);
  std::string result;
  std::string before = lead;
  for (const std::string& line : lines(text, lead_width)) {
    result += before + paint(line, ink) + '\n';
    before = std::string(lead_width, ' ');
  }
  return result;
}

std::string Page::section(std::string_view name, const std::vector<std::string>& texts, Ink ink,
                          std::size_t most) const {
  if (texts.empty()) return {};
  const std::size_t shown = std::min(texts.size(), most);
  std::string text = title(name);
  for (std::size_t i = 0; i < shown; ++i) text += note(texts[i], ink, kIndent);
  return text + left_out(texts.size() - shown, ": --details");
}

std::string Page::field(std::string_view name, std::string_view text, Ink ink) const {
  constexpr std::size_t kWidth = 11;
  return hanging(paint(pad_right(name, kWidth), ink == Ink::plain ? Ink::dim : ink), kWidth, text,
                 ink);
}

std::string Page::warnings(const std::vector<std::string>& texts) const {
  constexpr std::size_t kMostWithoutDetails = 5;
  const std::vector<std::string> different = each_once(texts);
  const std::size_t most = details ? different.size() : kMostWithoutDetails;
  std::string lines;
  for (std::size_t i = 0; i < different.size() && i < most; ++i) {
    lines += field("warning", escape_for_terminal(different[i]), Ink::yellow);
  }
  if (different.size() > most) {
    lines += field("", fmt::format("{} more warnings", different.size() - most));
  }
  return lines.empty() ? lines : '\n' + lines;
}

std::string Page::preformatted(const std::string& text) const {
  return html ? html::preformatted(text) : text;
}

std::string Page::rule(std::string_view name) const {
  if (html) return html::element("h2", "", html::escaped(name));
  const std::string shown = shorten(escape_for_terminal(name), width - 6);
  std::string line;
  for (std::size_t i = display_width(shown) + 4; i < width; ++i) line += unicode ? "─" : "-";
  return '\n' + paint(unicode ? "──" : "--", Ink::dim) + ' ' + paint(shown, Ink::bold) + ' ' +
         paint(line, Ink::dim) + '\n';
}

std::string Page::range(const std::string& low, const std::string& high) const {
  const bool is_negative = low.starts_with('-') || high.starts_with('-');
  return low + (is_negative ? " to " : unicode ? "–" : "-") + high;
}

std::string Page::table(const Table& table) const {
  if (html) return html::table(table);
  std::size_t name_width = 0;
  std::vector<std::size_t> widths(table.header.size(), kNarrowestTableColumn);
  const auto widen = [&widths](const std::vector<Cell>& cells) {
    for (std::size_t i = 0; i < widths.size() && i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(cells[i].text));
    }
  };
  widen(table.header);
  for (const Row& row : table.rows) {
    if (!row.cells.empty()) name_width = std::max(name_width, display_width(row.name));
    widen(row.cells);
  }

  std::string text;
  for (std::size_t first = 0; first < widths.size();) {
    std::size_t last = first;
    std::size_t used = name_width;
    while (last < widths.size() && (last == first || used + kGap + widths[last] <= width)) {
      used += kGap + widths[last++];
    }
    if (first > 0) text += '\n';
    const auto add_line = [&](const Row& row) {
      std::string line = paint(row.name, row.ink);
      if (!row.cells.empty()) line += spaces(name_width, row.name);
      for (std::size_t i = first; i < last && i < row.cells.size(); ++i) {
        const Cell& cell = row.cells[i];
        line += std::string(kGap, ' ') + spaces(widths[i], cell.text) + paint(cell.text, cell.ink);
      }
      text += without_trailing_spaces(std::move(line));
    };
    add_line({"", table.header});
    for (const Row& row : table.rows) add_line(row);
    first = last;
  }
  return text;
}

std::string Page::list(const List& list) const {
  if (html) return html::list(list);
  const std::vector<Fitted> fitted = fit(list, width);
  std::map<std::size_t, std::map<std::string, std::string>> cut;  // by column
  for (const auto& [column, column_width] : fitted) {
    const Kind kind = list.columns[column].kind;
    if (kind == Kind::shortened || kind == Kind::front_shortened) {
      cut[column] = cut_texts(list, column, column_width);
    }
  }
  std::string text;
  std::vector<Cell> titles;
  for (const ListColumn& column : list.columns) titles.push_back({column.title, Ink::dim});
  const auto add_line = [&](const std::vector<Cell>& cells) {
    std::string line(kIndent - kGap, ' ');
    std::size_t used = kIndent - kGap;
    for (const auto& [column, column_width] : fitted) {
      const Kind kind = list.columns[column].kind;
      Cell cell = cells[column];
      line += std::string(kGap, ' ');
      used += kGap;
      if (kind == Kind::wrapped && !cell.text.empty()) {  // the last column
        text += hanging(line, used, cell.text, cell.ink);
        return;
      }
      const bool is_title = &cells == &titles;
      if (const auto texts = cut.find(column); texts != cut.end() && !is_title) {
        cell.text = texts->second.at(cell.text);
      }
      if (is_title && kind > Kind::text) cell.text = shorten(cell.text, column_width);
      const std::string padding = spaces(column_width, cell.text);
      const std::string painted = paint(cell.text, cell.ink);
      line += kind == Kind::number ? padding + painted : painted + padding;
      used += column_width;
    }
    text += without_trailing_spaces(std::move(line));
  };
  if (std::ranges::any_of(titles, [](const Cell& cell) { return !cell.text.empty(); })) {
    add_line(titles);
  }
  for (const auto& row : list.rows) add_line(row);
  return text;
}

std::vector<std::string> Page::lines(std::string_view text, std::size_t indent) const {
  if (html) return {std::string(text)};
  return wrap(text, width > indent ? width - indent : 1);
}

}  // namespace skid::output
