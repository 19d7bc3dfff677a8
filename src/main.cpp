// Arguments to command; the only place that catches.
#include "src/commands/application.h"
#include "src/commands/messages.h"
#include "src/commands/usage_message.h"
#include "src/support/error.h"
#include "src/support/process.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include <CLI/CLI.hpp>

namespace {

int run(int argc, char** argv) {
  int exit_status = 0;
  const auto application = skid::commands::make_application(exit_status);
  CLI::App& app = *application;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help, --version
  } catch (const CLI::ParseError& error) {
    skid::commands::say(skid::commands::usage_message(app, error));
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
