#include "src/output/page.h"

#include "analysis/wording.h"
#include "src/output/escape.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

using Kind = ListColumn::Kind;

constexpr std::size_t kGap = 2;
/// Narrower columns look crowded, and levels of like content should have like widths.
constexpr std::size_t kNarrowestTableColumn = 11;
/// Columns that a shortened text keeps: before other columns are left out, and after.
constexpr std::size_t kNarrowText = 16;
constexpr std::size_t kNarrowestText = 8;

const char* sequence_of(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return "";
    case Ink::bold:
      return "1";
    case Ink::dim:
      return "2";
    case Ink::green:
      return "32";
    case Ink::yellow:
      return "33";
    case Ink::red:
      return "1;31";
  }
  return "";
}

std::string spaces(std::size_t width, std::string_view text) {
  const std::size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ');
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::size_t content_width(const ListColumn& column) {
  std::size_t width = display_width(column.title);
  for (const Cell& cell : column.cells) width = std::max(width, display_width(cell.text));
  return width;
}

/// Leaves out columns of high rank until the rest fits, then shortens what may be. Returns the
/// widths.
std::vector<std::size_t> fit(std::vector<ListColumn>& columns, std::size_t page_width) {
  std::vector<std::size_t> widths;
  const auto width_of_all = [&] {
    widths.clear();
    std::size_t width = kIndent;
    for (const ListColumn& column : columns) {
      widths.push_back(content_width(column));
      const bool is_cut = column.kind > Kind::text;
      width += kGap + (is_cut ? std::min(widths.back(), kNarrowText) : widths.back());
    }
    return width - kGap;
  };
  while (width_of_all() > page_width) {
    const auto last =
        std::max_element(columns.begin(), columns.end(),
                         [](const ListColumn& a, const ListColumn& b) { return a.rank < b.rank; });
    if (last == columns.end() || last->rank == 0) break;
    columns.erase(last);
  }
  std::size_t used = kIndent - kGap;
  for (const std::size_t width : widths) used += kGap + width;
  // Wrapped texts first: nothing of them is lost.
  for (const bool wrapped : {true, false}) {
    for (std::size_t i = columns.size(); i-- > 0 && used > page_width;) {
      const Kind kind = columns[i].kind;
      if (kind <= Kind::text || (kind == Kind::wrapped) != wrapped) continue;
      const std::size_t least = std::min(widths[i], kNarrowestText);
      const std::size_t cut = std::min(used - page_width, widths[i] - least);
      widths[i] -= cut;
      used -= cut;
    }
  }
  return widths;
}

}  // namespace

std::string paint(std::string_view text, Ink ink, bool color) {
  if (!color || ink == Ink::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", sequence_of(ink), text);
}

std::string Page::paint(std::string_view text, Ink ink) const {
  return output::paint(text, ink, color);
}

std::string Page::title(std::string_view text) const {
  return '\n' + paint(text, Ink::bold) + '\n';
}

std::string Page::hanging(const std::string& lead, std::size_t lead_width, std::string_view text,
                          Ink ink) const {
  std::string result;
  std::string before = lead;
  for (const std::string& line : wrap(text, width > lead_width ? width - lead_width : 1)) {
    result += before + paint(line, ink) + '\n';
    before = std::string(lead_width, ' ');
  }
  return result;
}

std::string Page::note(std::string_view text, Ink ink, std::size_t more) const {
  return hanging(std::string(kIndent, ' '), kIndent + more, text, ink);
}

std::string Page::field(std::string_view name, std::string_view text, Ink ink) const {
  constexpr std::size_t kWidth = 11;
  return hanging(paint(pad_right(name, kWidth), ink == Ink::plain ? Ink::dim : ink), kWidth, text,
                 ink);
}

std::string Page::rule(std::string_view name) const {
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

std::string Page::list(std::vector<ListColumn> columns) const {
  const std::vector<std::size_t> widths = fit(columns, width);
  std::size_t rows = 0;
  for (const ListColumn& column : columns) rows = std::max(rows, column.cells.size());
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line(kIndent - kGap, ' ');
    std::size_t used = kIndent - kGap;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const ListColumn& column = columns[i];
      Cell cell = cell_of(column);
      line += std::string(kGap, ' ');
      used += kGap;
      if (column.kind == Kind::wrapped) {
        // The last column.
        if (!cell.text.empty()) {
          text += hanging(line, used, cell.text, cell.ink);
          return;
        }
        continue;
      }
      if (column.kind == Kind::shortened) cell.text = shorten(cell.text, widths[i]);
      if (column.kind == Kind::front_shortened) cell.text = shorten_front(cell.text, widths[i]);
      const std::string padding = spaces(widths[i], cell.text);
      const std::string painted = paint(cell.text, cell.ink);
      line += column.kind == Kind::number ? padding + painted : painted + padding;
      used += widths[i];
    }
    text += without_trailing_spaces(std::move(line));
  };
  add_line([](const ListColumn& column) { return Cell{column.title, Ink::dim}; });
  for (std::size_t row = 0; row < rows; ++row) {
    add_line([row](const ListColumn& column) {
      return row < column.cells.size() ? column.cells[row] : Cell{};
    });
  }
  return text;
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + spaces(width, text);
}

std::string pad_left(std::string_view text, std::size_t width) {
  return spaces(width, text) + std::string(text);
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return kUnknown;
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  // Fixed decimals would show a small mean as none.
  if (std::abs(value) < 0.1) return fmt::format("{:.2g}", value);
  return std::abs(value) < 100 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

std::string share_range(const Page& page, double low, double high) {
  std::string text = analysis::percent(low);
  text.pop_back();
  return page.range(text, analysis::percent(high));
}

std::string list_of(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format(
      "{} and {} more",
      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most), ", "),
      names.size() - most);
}

}  // namespace skid::output
