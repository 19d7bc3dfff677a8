// Arguments to command; the only place that catches.
#include "src/commands/application.h"
#include "src/commands/messages.h"
#include "src/support/error.h"
#include "src/support/process.h"

#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <CLI/CLI.hpp>

namespace {

/// The command that the arguments chose, for "try 'skidscan COMMAND --help'".
std::string chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? "skidscan" : "skidscan " + chosen.front()->get_name();
}

int run(int argc, char** argv) {
  int exit_status = 0;
  const auto application = skid::commands::make_application(exit_status);
  CLI::App& app = *application;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help, --version
  } catch (const CLI::ParseError& error) {
    // The parser's sentences begin with a capital, ours do not; option names stay as they are.
    std::string message = error.what();
    if (!message.empty())
      message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    const auto unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty()) {
      message = "'" + unknown.front() + "' is no command";
    }
    skid::commands::say(message + "; try '" + chosen_command(app) + " --help'");
    return static_cast<int>(skid::ExitStatus::usage);
  }
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away ends the output, not the program in the middle of its work.
  std::signal(SIGPIPE, SIG_IGN);
  skid::raise_open_file_limit();
  try {
    return run(argc, argv);
  } catch (const skid::Error& error) {
    skid::commands::say(error.what());
    return static_cast<int>(error.status());
  } catch (const std::bad_alloc&) {
    skid::commands::say(
        "not enough memory; a recording that asks for much more than it is long may be damaged");
    return static_cast<int>(skid::ExitStatus::failed);
  } catch (const std::exception& error) {
    skid::commands::say(error.what());
    return static_cast<int>(skid::ExitStatus::failed);
  }
}
