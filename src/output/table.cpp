#include "src/output/table.h"

#include "src/output/escape.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::output {
namespace {

constexpr std::size_t kGap = 2;
/// Narrower columns look crowded, and levels of like content should have like widths.
constexpr std::size_t kNarrowest = 11;

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

std::string line_of(const std::string& name, std::size_t name_width, const std::vector<Cell>& cells,
                    Ink ink, const std::vector<std::size_t>& widths, std::size_t first,
                    std::size_t last, bool color) {
  std::string line = paint(name, ink, color);
  if (!cells.empty()) line += spaces(name_width, name);
  for (std::size_t i = first; i < last && i < cells.size(); ++i) {
    line += std::string(kGap, ' ') + spaces(widths[i], cells[i].text) +
            paint(cells[i].text, cells[i].ink, color);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

std::string paint(std::string_view text, Ink ink, bool color) {
  if (!color || ink == Ink::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", sequence_of(ink), text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + spaces(width, text);
}

std::string pad_left(std::string_view text, std::size_t width) {
  return spaces(width, text) + std::string(text);
}

std::string render(const Table& table, std::size_t width, bool color) {
  std::size_t name_width = 0;
  std::vector<std::size_t> widths(table.header.size(), kNarrowest);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    widths[i] = std::max(widths[i], display_width(table.header[i].text));
  }
  for (const Row& row : table.rows) {
    if (row.cells.empty()) continue;
    name_width = std::max(name_width, display_width(row.name));
    for (std::size_t i = 0; i < widths.size() && i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i].text));
    }
  }

  std::string text;
  for (std::size_t first = 0; first < widths.size();) {
    std::size_t last = first;
    std::size_t used = name_width;
    while (last < widths.size() && (last == first || used + kGap + widths[last] <= width)) {
      used += kGap + widths[last++];
    }
    if (first > 0) text += '\n';
    text += line_of("", name_width, table.header, Ink::plain, widths, first, last, color);
    for (const Row& row : table.rows) {
      text += line_of(row.name, name_width, row.cells, row.ink, widths, first, last, color);
    }
    first = last;
  }
  return text;
}

}  // namespace skid::output
