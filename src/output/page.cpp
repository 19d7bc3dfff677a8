#include "src/output/page.h"

#include "src/output/escape.h"

#include <cmath>

#include <fmt/format.h>

namespace skid::output {

std::string Page::paint(std::string_view text, Ink ink) const {
  return output::paint(text, ink, color);
}

std::string Page::title(std::string_view text) const {
  return '\n' + paint(text, Ink::bold) + '\n';
}

std::string Page::hanging(const std::string& lead, std::size_t lead_width, std::string_view text,
                          Ink ink) const {
  std::string result;
  std::string front = lead;
  for (const std::string& line : wrap(text, width > lead_width ? width - lead_width : 1)) {
    result += front + paint(line, ink) + '\n';
    front = std::string(lead_width, ' ');
  }
  return result;
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

std::string number_text(double value) {
  if (!std::isfinite(value)) return kUnknown;
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  // Fixed decimals would show a small mean as none.
  if (std::abs(value) < 0.1) return fmt::format("{:.2g}", value);
  return std::abs(value) < 100 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

}  // namespace skid::output
