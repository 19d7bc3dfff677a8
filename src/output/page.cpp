#include "src/output/page.h"

#include "src/output/escape.h"

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

}  // namespace skid::output
