// Manual pages in roff, for man(1). Texts are ASCII.
#include "src/commandline/help.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::commandline {
namespace {

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", roff_text(text));
}

/// A line of its own, whatever it begins with.
std::string line(const std::string& text) {
  return text.empty() ? text : roff_text(text) + '\n';
}

/// A bold term, or a term with its own fonts, and its description.
std::string entry(const std::string& term, const std::string& description) {
  return ".TP\n" + term + '\n' + line(description);
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// "skidscan-report".
std::string page_name(const Program& program, const Command& command) {
  std::string name = full_name(program, command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// Literal words are bold, placeholders are in italics.
std::string roff_value(const Value& value) {
  const std::string text = spelling_of(value);
  const bool is_literal = !value.words.empty() && !text.starts_with(value.name);
  return is_literal ? bold(text) : fmt::format("\\fI{}\\fR", roff_text(text));
}

std::string option_term(const Option& option) {
  std::string text;
  for (const std::string& name : option.flags()) text += (text.empty() ? "" : ", ") + bold(name);
  return option.value.name.empty() ? text : text + " " + roff_value(option.value);
}

std::string options_section(const Command& command) {
  std::string text;
  const auto arguments = arguments_of(command);
  if (!arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const Option* argument : arguments) {
    text += entry(roff_value(argument->value), argument->description);
  }
  text += ".SH OPTIONS\n";
  for (const Option& option : command.options) {
    if (option.flags().empty()) continue;
    text += entry(option_term(option), option.description);
    const auto remarks = remarks_of(command, option);
    if (!remarks.empty()) text += line(fmt::format("[{}]", fmt::join(remarks, "; ")));
  }
  return text;
}

/// Whether the notes or examples of a command mention a call, "skidscan report".
bool mentions(const Command& command, const std::string& call) {
  const auto contains = [&call](const std::string& text) {
    return text.find(call) != std::string::npos;
  };
  return std::any_of(command.examples.begin(), command.examples.end(), contains) ||
         std::any_of(command.notes.begin(), command.notes.end(), contains);
}

std::string see_also(const Program& program, const Command& command) {
  const bool is_program = &command == &program.itself;
  std::vector<std::string> pages;
  if (!is_program) pages.push_back(program.itself.name);
  for (const Command& other : program.commands) {
    if (&other == &command) continue;
    if (is_program || mentions(command, full_name(program, other))) {
      pages.push_back(page_name(program, other));
    }
  }
  pages.emplace_back("perf-record");
  std::string text = ".SH SEE ALSO\n";
  for (const std::string& name : pages) {
    text += fmt::format(".BR {} (1){}\n", roff_text(name), &name == &pages.back() ? "" : ",");
  }
  return text + ".PP\n" +
         line(fmt::format("Documents named docs/... are in share/doc/{0} below the installation "
                          "prefix of {0}, such as /usr.",
                          program.itself.name));
}

std::string page(const Program& program, const Command& command) {
  const std::string name = page_name(program, command);
  // Without a date, so that the same program always has the same page.
  std::string text =
      fmt::format(".TH \"{}\" 1 \"\" \"{} {}\" \"User Commands\"\n", roff_text(upper(name)),
                  roff_text(program.itself.name), roff_text(program.version));
  text += ".SH NAME\n" + roff_text(name) + " \\- " + line(command.description);
  text +=
      ".SH SYNOPSIS\n" + bold(full_name(program, command)) + " " + line(usage_of(program, command));
  if (!command.notes.empty()) text += ".SH DESCRIPTION\n";
  for (const std::string& note : command.notes) {
    text += (&note == &command.notes.front() ? "" : ".PP\n") + line(note);
  }
  if (&command == &program.itself) {
    text += ".SH COMMANDS\n";
    for (const Command& each : program.commands) text += entry(bold(each.name), each.description);
  }
  text += options_section(command) + ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : all_exit_statuses(command)) {
    text += entry(bold(std::to_string(static_cast<int>(status))), meaning);
  }
  if (!command.examples.empty()) text += ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : command.examples) text += line(example);
  if (!command.examples.empty()) text += ".fi\n";
  return text + see_also(program, command);
}

}  // namespace

std::string roff_text(std::string_view text) {
  // groff_char(7)
  static const std::map<char, std::string_view> special{
      {'\\', "\\(rs"}, {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
      {'^', "\\(ha"},  {'~', "\\(ti"}, {'"', "\\(dq"}};
  std::string result;
  bool at_line_begin = true;
  for (const char c : text) {
    // A line that begins with one of these would be a request.
    if (at_line_begin && (c == '.' || c == '\'')) result += "\\&";
    at_line_begin = c == '\n';
    const auto found = special.find(c);
    if (found == special.end())
      result += c;
    else
      result += found->second;
  }
  return result;
}

std::map<std::string, std::string> manual_pages(const Program& program) {
  std::map<std::string, std::string> pages;
  pages.emplace(page_name(program, program.itself) + ".1", page(program, program.itself));
  for (const Command& command : program.commands) {
    pages.emplace(page_name(program, command) + ".1", page(program, command));
  }
  return pages;
}

}  // namespace skid::commandline
