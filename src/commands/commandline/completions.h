// Completion of a command line by a shell.
#pragma once

#include "src/commands/commandline/option.h"

#include <string>

namespace skid::commandline {

struct Program;

/// Returns what shells offer in place of the last of `words`, which follow the program's name: a
/// line "files" or "directories", or a line "words" and one line for each word, with its
/// description after a tab. Throws what Value::candidates throws. The scripts in completion/ call
/// 'skidscan complete WORD...', which prints this text.
std::string completions(const Program& program, Texts words);

}  // namespace skid::commandline
