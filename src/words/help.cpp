#include "src/words/help.h"

#include "src/output/escape.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::words {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kColumn = 28;  ///< where descriptions begin

/// A name and its description beside it, or below where it is too long.
std::string entry(const std::string& name, const std::string& description, std::size_t width) {
  std::string text = std::string(kIndent, ' ') + name;
  if (text.size() + 2 > kColumn) {
    text += '\n';
    text += std::string(kColumn, ' ');
  } else {
    text.resize(kColumn, ' ');
  }
  bool first = true;
  for (const std::string& line : output::wrap(description, width - kColumn)) {
    if (!first) text += std::string(kColumn, ' ');
    text += line + '\n';
    first = false;
  }
  return text;
}

std::string paragraph(const std::string& text, std::size_t width) {
  return fmt::format("{}\n", fmt::join(output::wrap(text, width), "\n"));
}

std::string with_remarks(const Option& option) {
  std::string text = option.description;
  const auto remarks = remarks_of(option);
  if (!remarks.empty()) text += fmt::format(" [{}]", fmt::join(remarks, "; "));
  return text;
}

}  // namespace

std::string help_text(const std::string& program, const Command& command,
                      const std::vector<Command>& commands, std::size_t width) {
  width = std::max(width, 2 * kColumn);
  std::string text = paragraph(command.description, width);
  text += fmt::format("Usage: {}{}{} {}{}\n", program, command.name.empty() ? "" : " ",
                      command.name, commands.empty() ? "" : "COMMAND ", usage_of(command));
  if (!commands.empty()) text += "\nCommands:\n";
  for (const Command& each : commands) text += entry(each.name, each.description, width);
  if (!command.arguments.empty()) text += "\nArguments:\n";
  for (const Argument& argument : command.arguments) {
    text += entry(argument.value.name + (argument.value.many ? "..." : ""), argument.description,
                  width);
  }
  text += "\nOptions:\n";
  for (const Option& option : command.options) {
    text += entry(spelling_of(option), with_remarks(option), width);
  }
  for (const std::string& note : command.footer.notes) text += '\n' + paragraph(note, width);
  if (!command.footer.exit_statuses.empty()) text += "\nExit status:\n";
  for (const auto& [status, meaning] : command.footer.exit_statuses) {
    std::string front = fmt::format("{:>{}}  ", status, kIndent + 2);
    const std::size_t indent = front.size();
    for (const std::string& line : output::wrap(meaning, width - indent)) {
      text += front + line + '\n';
      front = std::string(indent, ' ');
    }
  }
  if (!command.footer.examples.empty()) text += "\nExamples:\n";
  for (const std::string& line : command.footer.examples) {
    text += std::string(kIndent, ' ') + line + '\n';
  }
  return text;
}

}  // namespace skid::words
