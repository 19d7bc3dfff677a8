// Commands that messages print, for users to paste into a shell.
#pragma once

#include <string>
#include <vector>

namespace skid {

/// Returns the words in one line: shell_quoted(), with control characters as bash and zsh read
/// them, $'a\x0ab', because messages have them escaped.
std::string command_text(const std::vector<std::string>& words);

/// Returns the name of a file as a word of a command, which is not taken for an option: "./-a" for
/// "-a". "-" alone, which is standard input, stays.
std::string file_word(const std::string& name);

}  // namespace skid
