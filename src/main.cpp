// Arguments to command; the only place that catches.
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/completions.h"
#include "src/commands/commandline/help.h"
#include "src/commands/commandline/parse.h"
#include "src/commands/commands.h"
#include "src/commands/terminal.h"
#include "src/support/error.h"
#include "src/support/process.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using skid::ExitStatus;
using skid::commandline::Call;

ExitStatus run(int argc, char** argv) {
  const auto program = skid::commands::program();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty()) {
    skid::commands::print(skid::commands::first_steps());
    return ExitStatus::done;
  }
  if (arguments.front() == "complete") {  // for the scripts of the shells
    skid::commands::print(
        skid::commandline::completions(program, {arguments.begin() + 1, arguments.end()}));
    return ExitStatus::done;
  }
  const auto call = skid::commandline::parse(program, arguments);
  switch (call.request) {
    case Call::Request::help:
      skid::commands::print(skid::commandline::help_text(program, *call.command,
                                                         skid::commands::standard_output_width()));
      return ExitStatus::done;
    case Call::Request::version:
      skid::commands::print(fmt::format("{} {}\n", program.itself.name, program.version));
      return ExitStatus::done;
    case Call::Request::run:
      break;
  }
  return call.command->run();
}

ExitStatus run_and_report_errors(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const skid::Error& error) {
    skid::commands::print_error(error.what());
    return error.status();
  } catch (const std::bad_alloc&) {
    skid::commands::print_error(
        "not enough memory; a recording that requires much more than its size may be damaged");
    return ExitStatus::failed;
  } catch (const std::exception& error) {
    skid::commands::print_error(error.what());
    return ExitStatus::failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that closes its pipe ends the output, not the program in the middle of its work.
  std::signal(SIGPIPE, SIG_IGN);
  // A file beyond the limit of sizes (ulimit -f) is an error of write() with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  skid::raise_open_file_limit();
  return static_cast<int>(run_and_report_errors(argc, argv));
}
