#include "src/words/footer.h"

#include <charconv>

#include <fmt/format.h>

namespace skid::words {
namespace {

constexpr std::string_view kExitStatus = "Exit status:";
constexpr std::string_view kExamples = "Examples:";
constexpr std::string_view kListIndent = "  ";

void end_section(std::string& text) {
  if (!text.empty()) text += '\n';
}

void add_status(Footer& footer, std::string_view line) {
  int status = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), status);
  const auto digits = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || digits == line.size()) return;
  footer.exit_statuses.emplace_back(status, line.substr(digits + 1));
}

}  // namespace

std::string footer_text(const Footer& footer) {
  std::string text;
  for (const std::string& note : footer.notes) {
    end_section(text);
    text += note + '\n';
  }
  if (!footer.exit_statuses.empty()) {
    end_section(text);
    text += fmt::format("{}\n", kExitStatus);
    for (const auto& [status, meaning] : footer.exit_statuses) {
      text += fmt::format("{}{} {}\n", kListIndent, status, meaning);
    }
  }
  if (!footer.examples.empty()) {
    end_section(text);
    text += fmt::format("{}\n", kExamples);
    for (const std::string& line : footer.examples)
      text += fmt::format("{}{}\n", kListIndent, line);
  }
  return text;
}

Footer parse_footer(std::string_view text) {
  Footer footer;
  std::string_view section;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line == kExitStatus || line == kExamples) {
      section = line;
    } else if (line.empty()) {
      section = {};
    } else if (section.empty() || !line.starts_with(kListIndent)) {
      footer.notes.emplace_back(line);
    } else if (section == kExamples) {
      footer.examples.emplace_back(line.substr(kListIndent.size()));
    } else {
      add_status(footer, line.substr(kListIndent.size()));
    }
  }
  return footer;
}

}  // namespace skid::words
