// The texts made from the description of the command line: help, of which manual pages are made,
// and completions.
#pragma once

#include "src/commands/commandline/command.h"

#include <cstddef>
#include <string>
#include <vector>

namespace skid::commandline {

/// The help of a command, or of the program itself, in lines of at most `width` columns. Examples
/// are not wrapped.
std::string help_text(const Program& program, const Command& command, std::size_t width);

/// What shells offer in place of the last of `words`, which follow the program's name: a line
/// "files" or "directories", or a line "words" and a line for each, with its description after a
/// tab. Throws what candidates throw. The scripts in completion/ call the program as 'skidscan
/// complete WORD...', which prints it.
std::string completions(const Program& program, Texts words);

// The parts that these texts share.

/// "[OPTIONS] [INPUT...]": what follows the name of a command.
std::string usage_of(const Program& program, const Command& command);

/// The positional arguments of a command.
std::vector<const Option*> arguments_of(const Command& command);

/// "-o FILE", "--format text|json": the names of an option and its value. Long lists of words are
/// left to `remarks_of`.
std::string spelling_of(const Option& option);
/// The value alone: "text|json", "INPUT..."; empty for flags.
std::string spelling_of(const Value& value);

/// Limits of an option: "one of load, store", "1 to 1000", "not with --samples".
std::vector<std::string> remarks_of(const Command& command, const Option& option);

}  // namespace skid::commandline
