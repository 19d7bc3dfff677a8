// The examples of every command's help run in their order in an empty directory, except those that
// this machine cannot run.
#include "src/commands/commandline/command.h"
#include "src/commands/commands.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid {
namespace {

/// Examples that are only parsed, by their beginning, and the reason; empty if they run here.
struct NotRun {
  std::string_view line;
  std::string reason;
};

std::vector<NotRun> not_run() {
  const std::string not_here = test::why_without({"x86-64"});
  return {{"skidscan record -e cycles:u", test::why_without({"core-pmu"})},
          {"skidscan record -e MEM_LOAD_RETIRED", "requires a PMU of an Intel CPU from Skylake on"},
          {"skidscan audit perf.data --plot",
           "requires an event of a PMU, with several causes in a block"},
          {"skidscan events", not_here}};
}

const NotRun* why_not_run(const std::vector<NotRun>& entries, const std::string& line) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&line](const NotRun& entry) {
    return !entry.reason.empty() && line.starts_with(entry.line);
  });
  return found == entries.end() ? nullptr : &*found;
}

/// The example with few samples of each event of the default set, which DefaultRun records whole,
/// and with events that this machine samples: where no breakpoint fires, with the other two
/// built-in events in their place.
std::string as_run_here(std::string line) {
  constexpr std::string_view kRecord = "skidscan record";
  if (line == kRecord || line.starts_with("skidscan record &&") ||
      line.starts_with("skidscan record --pack")) {
    line.insert(kRecord.size(), " --samples 200");
  }
  if (test::why_without({"breakpoints"}).empty()) return line;
  const auto replace = [&line](std::string_view event, std::string_view other) {
    for (auto at = line.find(event); at != std::string::npos; at = line.find(event, at)) {
      line.replace(at, event.size(), other);
    }
  };
  replace("access", line.find("faults") == std::string::npos ? "faults" : "cpu-clock");
  replace("execute", "cpu-clock");
  return line;
}

/// Files that an example requires: a script that makes them, with the directory of programs as $1
/// and that of the tests as $2, by the beginning of the example.
struct Preparation {
  std::string_view line, script;
};
constexpr std::array kPreparations{Preparation{"skidscan report perf.data --hit memreader", R"(
cc -O1 -o memreader "$2/support/classic.c"
perf record -q --no-bpf-event -e cpu-clock:u -c 100003 -o perf.data -- ./memreader)"},
                                   Preparation{"perf record -o perf.data -e cpu-clock -- gzip", R"(
echo '#include <time.h>
void deflate(void) { for (volatile long i = 0; i < 1000000; ++i); }
int main(void) { while (clock() < CLOCKS_PER_SEC / 4) deflate(); }' >gzip.c
cc -O1 -o "$1/gzip" gzip.c)"}};

std::string preparation_for(const std::string& line) {
  const auto* found = std::find_if(
      kPreparations.begin(), kPreparations.end(),
      [&line](const Preparation& preparation) { return line.starts_with(preparation.line); });
  return found == kPreparations.end() ? std::string() : std::string(found->script);
}

/// Lines joined with their continuation after a backslash.
std::vector<std::string> whole_lines(const std::vector<std::string>& lines) {
  std::vector<std::string> whole;
  bool goes_on = false;
  for (const std::string& line : lines) {
    if (goes_on) {
      whole.back() += '\n' + line;
    } else if (!line.starts_with('#')) {
      whole.push_back(line);
    }
    goes_on = line.ends_with('\\');
  }
  return whole;
}

std::vector<commands::Command> all_commands() {
  commandline::Program program = commands::program();
  program.commands.push_back(program.itself);
  return program.commands;
}

std::vector<std::string> names_of_commands() {
  return test::mapped(all_commands(), &commands::Command::name);
}

class Examples : public testing::TestWithParam<std::string> {};

TEST_P(Examples, RunInOrder) {
  const test::TemporaryDirectory directory;
  SKIP_WITHOUT("samples", "cc", "gnuplot");
  const fs::path programs = directory.path() / "bin", here = directory.path() / "here";
  fs::create_directory(programs);
  fs::create_directory(here);
  fs::create_symlink(test::skidscan_program(), programs / "skidscan");
  const std::vector<commands::Command> commands = all_commands();
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [](const auto& each) { return each.name == GetParam(); });
  ASSERT_NE(command, commands.end());
  const std::vector<NotRun> left_out = not_run();
  std::size_t run = 0;
  for (const std::string& example : whole_lines(command->examples)) {
    if (why_not_run(left_out, example) != nullptr) continue;
    const std::string line = as_run_here(example);
    const auto prepared = run_program(
        {"sh", "-ec", preparation_for(example), "sh", programs.string(), SKIDSCAN_TEST_DATA}, here);
    ASSERT_EQ(prepared.code.status, 0) << example << '\n' << prepared.err;
    const auto done = run_program({"bash", "-c", "set -o pipefail; PATH=$1:$PATH; eval \"$2\"",
                                   "bash", programs.string(), line},
                                  here);
    ++run;
    // "| head" ends what writes to it.
    if (line.find("skidscan ") == std::string::npos || line.ends_with("| head")) continue;
    const auto status = static_cast<ExitStatus>(done.code.status);
    const bool is_documented = status != ExitStatus::failed && status != ExitStatus::usage &&
                               commandline::all_exit_statuses(*command).contains(status);
    EXPECT_TRUE(is_documented) << line << "\nexit status " << done.code.status << '\n' << done.err;
  }
  EXPECT_GT(run, 0U);
}

INSTANTIATE_TEST_SUITE_P(Of, Examples, testing::ValuesIn(names_of_commands()),
                         [](const auto& name) { return name.param; });

TEST(ExamplesOfHelp, ExistForEveryExceptionAndPreparation) {
  std::vector<std::string> lines;
  for (const commands::Command& command : all_commands()) {
    for (std::string& line : whole_lines(command.examples)) lines.push_back(std::move(line));
  }
  std::vector<std::string_view> beginnings;
  for (const NotRun& entry : not_run()) beginnings.push_back(entry.line);
  for (const Preparation& preparation : kPreparations) beginnings.push_back(preparation.line);
  for (const std::string_view beginning : beginnings) {
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.starts_with(beginning);
    })) << beginning;
  }
}

}  // namespace
}  // namespace skid
