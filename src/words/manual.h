// All that the command line says of itself, read from the one definition that also parses it.
#pragma once

#include "src/words/footer.h"

#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace skid::words {

/// What a shell may put where a value belongs.
enum class Completion { none, words, files, directories };

struct Value {
  std::string name;                ///< "FILE"; empty: a flag, which takes none
  std::vector<std::string> words;  ///< the only ones that are allowed; empty: any
  std::string limits;              ///< "1 to 1000"; may be empty
  bool many = false;               ///< several in a row

  Completion completion() const;
};

struct Option {
  std::vector<std::string> names;  ///< "-i", "--input"
  Value value;
  std::string description;
  std::vector<std::string> excludes;  ///< names of options that it does not go with
  bool alone = false;                 ///< excludes so many that they are not named, here nor there
};

struct Argument {
  std::string description;
  Value value;
  bool required = false;
};

struct Command {
  std::string name;  ///< "report"; of the program itself empty
  std::string description;
  std::vector<Argument> arguments;
  std::vector<Option> options;
  Footer footer;
};

struct Manual {
  std::string program;  ///< "skidscan"
  std::string version;
  Command itself;  ///< what comes without a command
  std::vector<Command> commands;
};

/// What `app`, a program or one of its commands, says of itself.
Command read_command(const CLI::App& app);

/// The same of a program and all its commands. `version`: as its pages show it.
Manual read_manual(const CLI::App& app, const std::string& version);

/// "[OPTIONS] [INPUT...]": what may stand behind the name of a command.
std::string usage_of(const Command& command);

/// "--format text|json", "-i, --input INPUT...": an option and its value.
std::string spelling_of(const Option& option);
/// The value alone: "text|json", "INPUT..."; empty for flags. Long lists of words are left to
/// `remarks_of`.
std::string spelling_of(const Value& value);

/// "one of load, store"; "1 to 1000"; "not with --samples": what else is to be said of an option.
std::vector<std::string> remarks_of(const Option& option);

/// What of a description goes on a line, for lists in which it has one of its own: without what
/// stands in parentheses, and ended early where that is too long.
std::string brief(const std::string& description);

}  // namespace skid::words
