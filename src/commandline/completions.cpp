// What shells complete, computed by the program itself, and the scripts through which they ask it.
#include "src/commandline/help.h"

#include <algorithm>

namespace skid::commandline {
namespace {

bool is_flag(const Option& option, const std::string& name) {
  const auto flags = option.flags();
  return std::find(flags.begin(), flags.end(), name) != flags.end();
}

/// The value that a word after `before` is for; null: none. Stores the options of `before`, which
/// its candidates may depend on.
const Value* value_after(const Program& program, const Command& command, Texts before) {
  const Value* value = nullptr;
  for (const Option& option : command.options) {
    if (!option.value.name.empty() && is_flag(option, before.back())) value = &option.value;
  }
  if (value != nullptr) {
    before.pop_back();
  } else if (const auto arguments = arguments_of(command); !arguments.empty()) {
    value = &arguments.front()->value;
  }
  try {
    static_cast<void>(parse(program, before));
  } catch (const UsageError&) {  // the line is not complete
  }
  return value;
}

/// `text` for the name of the program, which is ~ in it.
std::string script(const Program& program, std::string_view text) {
  std::string result;
  for (const char c : text) c == '~' ? result += program.itself.name : result += c;
  return result;
}

/// Names of a recording's functions can be anything.
bool is_printable(std::string_view word) {
  return std::none_of(word.begin(), word.end(), [](char c) { return c < ' ' || c > '~'; });
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
  const auto offer = [&](const std::string& word, const std::string& description) {
    if (!word.starts_with(current) || !is_printable(word)) return;
    text += prefix + word + (description.empty() ? "" : '\t' + brief(description)) + '\n';
  };
  const auto offer_options = [&](const Command& command) {
    for (const Option& option : command.options) {
      for (const std::string& name : option.flags()) offer(name, option.description);
    }
  };
  const auto name = std::find_if(words.begin(), words.end(),
                                 [](const std::string& word) { return !word.starts_with('-'); });
  if (name == words.end()) {
    for (const Command& command : program.commands) offer(command.name, command.description);
    if (current.starts_with('-')) offer_options(program.itself);
    return text;
  }
  const auto command = std::find_if(program.commands.begin(), program.commands.end(),
                                    [&](const Command& each) { return each.name == *name; });
  if (command == program.commands.end()) return text;
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

std::string bash_completion(const Program& program) {
  return script(program, R"(# bash completion of ~, which itself lists the words.

_~() {
  local line=${COMP_LINE:0:COMP_POINT} current cut word
  local -a words offered
  COMPREPLY=()
  read -a words <<<"$line"  # removes backslashes, too
  [[ $line == *[[:space:]] ]] && words+=('')
  current=${words[-1]}
  cut=${current%"${current##*[:=]}"}  # bash completes the word after a colon or sign alone
  mapfile -t offered < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
  case ${offered[0]} in
    words)
      for word in "${offered[@]:1}"; do
        word=${word%%$'\t'*}
        word=${word#"$cut"}
        [[ $word == *[!][:alnum:]_.,:=/%+-]* ]] && printf -v word %q "$word"
        COMPREPLY+=("$word")
      done
      return ;;
    files) mapfile -t COMPREPLY < <(compgen -f -- "${current#--*=}") ;;
    directories) mapfile -t COMPREPLY < <(compgen -d -- "${current#--*=}") ;;
  esac
  compopt -o filenames 2>/dev/null
}

complete -F _~ ~
)");
}

std::string zsh_completion(const Program& program) {
  return script(program, R"(#compdef ~
# zsh completion of ~, which itself lists the words.

local -a offered
offered=("${(@f)$(command $words[1] complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
case $offered[1] in
  words)
    offered=("${(@)offered[2,-1]//:/\\:}")
    offered=("${(@)offered/$'\t'/:}")
    _describe value offered ;;
  files) compset -P '--*='; _files ;;
  directories) compset -P '--*='; _files -/ ;;
esac
)");
}

std::string fish_completion(const Program& program) {
  return script(program, R"(# fish completion of ~, which itself lists the words.

function __~_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l offered ($words[1] complete $words[2..] 2>/dev/null)
    switch "$offered[1]"
        case words
            printf '%s\n' $offered[2..]
        case files
            __fish_complete_path (commandline -ct)
        case directories
            __fish_complete_directories (commandline -ct)
    end
end

complete -c ~ -f -a '(__~_complete)'
)");
}

}  // namespace skid::commandline
