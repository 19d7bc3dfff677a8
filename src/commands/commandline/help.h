// The help of commands, from which manual pages are made.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace skid::commandline {

struct Command;
struct Option;
struct Program;
struct Value;

/// Returns the help of a command, or of the program itself, in lines of at most `width` columns.
/// Examples are not wrapped.
std::string help_text(const Program& program, const Command& command, std::size_t width);

/// Returns what follows the name of a command: "[OPTIONS] [INPUT...]".
std::string usage_of(const Program& program, const Command& command);

/// Returns the positional arguments of a command.
std::vector<const Option*> arguments_of(const Command& command);

/// Returns the names of an option and its value: "-o FILE", "--format text|json". Long lists of
/// words are left to remarks_of().
std::string spelling_of(const Option& option);
/// Returns the spelling of a value alone: "text|json", "INPUT..."; empty for flags.
std::string spelling_of(const Value& value);

/// Returns the limits of an option: "one of load, store", "1 to 1000", "not with --samples".
std::vector<std::string> remarks_of(const Command& command, const Option& option);

}  // namespace skid::commandline
