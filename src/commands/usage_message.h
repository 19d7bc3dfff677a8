// What is wrong with a command line, in the words of all other messages.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace skid::commands {

/// "--format: found xml, allowed text, json, csv; try 'skidscan report --help'": what `error`,
/// which parsing a command line with `app` threw, comes to.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace skid::commands
