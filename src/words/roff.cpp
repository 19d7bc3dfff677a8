#include "src/words/roff.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::words {
namespace {

/// Characters of ASCII that roff takes for something else, or shows as something else (groff_char).
std::string_view special(char c) {
  constexpr std::array<std::pair<char, std::string_view>, 7> kSpecial{{{'\\', "\\(rs"},
                                                                       {'-', "\\-"},
                                                                       {'\'', "\\(aq"},
                                                                       {'`', "\\(ga"},
                                                                       {'^', "\\(ha"},
                                                                       {'~', "\\(ti"},
                                                                       {'"', "\\(dq"}}};
  const auto* found = std::find_if(kSpecial.begin(), kSpecial.end(),
                                   [c](const auto& entry) { return entry.first == c; });
  return found == kSpecial.end() ? std::string_view() : found->second;
}

/// The code point of the UTF-8 at the front, which is removed; nullopt for a byte that is none.
std::optional<std::uint32_t> take_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (lead < 0xc0 || lead >= 0xf8 || text.size() < length) {
    text.remove_prefix(1);
    return std::nullopt;
  }
  std::uint32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  text.remove_prefix(length);
  return code;
}

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", roff_text(text));
}

/// A line of its own, whatever it begins with.
std::string line(const std::string& text) {
  return text.empty() ? text : roff_text(text) + '\n';
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string page_name(const Manual& manual, const Command& command) {
  return command.name.empty() ? manual.program : manual.program + "-" + command.name;
}

/// What shells take literally is bold, what stands for something else is not.
std::string roff_value(const Value& value) {
  const std::string text = spelling_of(value);
  return !value.words.empty() && !text.starts_with(value.name)
             ? bold(text)
             : fmt::format("\\fI{}\\fR", roff_text(text));
}

std::string option_names(const Option& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + bold(name);
  if (!option.value.name.empty()) text += " " + roff_value(option.value);
  return text;
}

std::string options_section(const Command& command) {
  std::string text;
  if (!command.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const Argument& argument : command.arguments) {
    text += ".TP\n" + roff_value(argument.value) + '\n' + line(argument.description);
  }
  text += ".SH OPTIONS\n";
  for (const Option& option : command.options) {
    text += ".TP\n" + option_names(option) + '\n' + line(option.description);
    const auto remarks = remarks_of(option);
    if (!remarks.empty()) text += line(fmt::format("[{}]", fmt::join(remarks, "; ")));
  }
  return text;
}

std::string footer_sections(const Footer& footer) {
  std::string text;
  if (!footer.exit_statuses.empty()) text += ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : footer.exit_statuses) {
    text += fmt::format(".TP\n{}\n{}", bold(std::to_string(status)), line(meaning));
  }
  if (!footer.examples.empty()) text += ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : footer.examples) text += line(example);
  if (!footer.examples.empty()) text += ".fi\n";
  return text;
}

/// The other commands that the words about one name, so that its page leads there.
std::vector<const Command*> related(const Manual& manual, const Command& command) {
  std::vector<const Command*> found;
  for (const Command& other : manual.commands) {
    if (other.name == command.name) continue;
    const std::string call = manual.program + " " + other.name;
    const auto names = [&call](const std::string& text) {
      return text.find(call) != std::string::npos;
    };
    const Footer& footer = command.footer;
    if (command.name.empty() ||
        std::any_of(footer.examples.begin(), footer.examples.end(), names) ||
        std::any_of(footer.notes.begin(), footer.notes.end(), names)) {
      found.push_back(&other);
    }
  }
  return found;
}

std::string see_also(const Manual& manual, const Command& command) {
  std::vector<std::string> pages;
  if (!command.name.empty()) pages.push_back(manual.program);
  for (const Command* other : related(manual, command)) pages.push_back(page_name(manual, *other));
  pages.emplace_back("perf-record");
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < pages.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", roff_text(pages[i]), i + 1 < pages.size() ? "," : "");
  }
  return text + ".PP\n" +
         line(fmt::format("Documents named docs/... are in share/doc/{} below the prefix that {} "
                          "is installed in, such as /usr.",
                          manual.program, manual.program));
}

std::string page(const Manual& manual, const Command& command) {
  const std::string name = page_name(manual, command);
  const std::string call =
      manual.program + (command.name.empty() ? std::string() : " " + command.name);
  // No date: the same program gives the same page.
  std::string text =
      fmt::format(".TH \"{}\" 1 \"\" \"{} {}\" \"User Commands\"\n", roff_text(upper(name)),
                  roff_text(manual.program), roff_text(manual.version));
  text += ".SH NAME\n" + roff_text(name) + " \\- " + line(command.description);
  text += ".SH SYNOPSIS\n" + bold(call);
  if (command.name.empty()) text += " \\fICOMMAND\\fR";
  text += " " + roff_text(usage_of(command)) + '\n';
  if (!command.footer.notes.empty()) text += ".SH DESCRIPTION\n";
  bool first = true;
  for (const std::string& note : command.footer.notes) {
    if (!first) text += ".PP\n";
    text += line(note);
    first = false;
  }
  if (command.name.empty()) {
    text += ".SH COMMANDS\n";
    for (const Command& each : manual.commands) {
      text += ".TP\n" + bold(each.name) + '\n' + line(each.description);
    }
  }
  return text + options_section(command) + footer_sections(command.footer) +
         see_also(manual, command);
}

}  // namespace

std::string roff_text(std::string_view text) {
  std::string result;
  bool at_line_begin = true;
  while (!text.empty()) {
    const char c = text.front();
    if (at_line_begin && (c == '.' || c == '\'')) result += "\\&";
    at_line_begin = c == '\n';
    if (static_cast<unsigned char>(c) >= 0x80) {
      if (const auto code = take_code_point(text)) result += fmt::format("\\[u{:04X}]", *code);
      continue;
    }
    text.remove_prefix(1);
    const std::string_view name = special(c);
    name.empty() ? result += c : result += name;
  }
  return result;
}

std::map<std::string, std::string> manual_pages(const Manual& manual) {
  std::map<std::string, std::string> pages;
  pages.emplace(manual.program + ".1", page(manual, manual.itself));
  for (const Command& command : manual.commands) {
    pages.emplace(page_name(manual, command) + ".1", page(manual, command));
  }
  return pages;
}

}  // namespace skid::words
