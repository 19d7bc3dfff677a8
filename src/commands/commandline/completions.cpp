#include "src/commands/commandline/completions.h"

#include "src/commands/commandline/command.h"
#include "src/commands/commandline/help.h"
#include "src/commands/commandline/parse.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::commandline {
namespace {

/// Returns the value that a word after `before` would have; null: none. Stores the options of
/// `before`, because its candidates may depend on them.
const Value* value_after(const Program& program, const Command& command, Texts before) {
  const Value* value = nullptr;
  for (const Option& option : command.options) {
    if (!option.value.name.empty() && option.has_flag(before.back())) value = &option.value;
  }
  if (value != nullptr) {
    before.pop_back();
  } else if (const auto arguments = arguments_of(command); !arguments.empty()) {
    value = &arguments.front()->value;
  }
  try {
    static_cast<void>(parse(program, before));
  } catch (const ValueError&) {  // the line is not complete
  }
  return value;
}

}  // namespace

std::string completions(const Program& program, Texts words) {
  std::string current = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  std::string prefix;
  if (const auto sign = current.find('='); current.starts_with("--") && sign != std::string::npos) {
    words.push_back(current.substr(0, sign));
    prefix = current.substr(0, sign + 1);
    current.erase(0, sign + 1);
  }
  std::string text = "words\n";
  const auto offer = [&](const std::string& word, std::string_view description) {
    // Names of a recording's functions can be anything.
    if (!word.starts_with(current) || !is_printable_ascii(word)) return;
    text.append(prefix).append(word).append(description.empty() ? "" : "\t");
    // The first clause fits the line of a word.
    text.append(trimmed(description.substr(0, description.find_first_of(":;(")))) += '\n';
  };
  const auto offer_options = [&](const Command& command) {
    for (const Option& option : command.options) {
      for (const std::string& name : option.flags()) offer(name, option.description);
    }
  };
  const auto name =
      std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
  if (name == words.end()) {
    for (const Command& command : program.commands) offer(command.name, command.description);
    if (current.starts_with('-')) offer_options(program.itself);
    return text;
  }
  const Command* command = find_by(program.commands, &Command::name, *name);
  if (command == nullptr) return text;
  const bool is_option = current.starts_with('-') && prefix.empty();
  if (is_option) offer_options(*command);
  const Value* value = is_option ? nullptr : value_after(program, *command, words);
  if (value == nullptr) return text;
  if (value->completion == Completion::files) return "files\n";
  if (value->completion == Completion::directories) return "directories\n";
  if (value->completion == Completion::list) {
    const std::size_t begin = current.rfind(',') + 1;
    prefix += current.substr(0, begin);
    current.erase(0, begin);
  }
  for (const std::string& word : value->candidates ? value->candidates() : value->words) {
    offer(word, "");
  }
  return text;
}

}  // namespace skid::commandline
