// Completion by each shell, with its script and the built program.
#include "src/commands/commandline/command.h"
#include "src/commands/commands.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::commandline {
namespace {

using Names = std::set<std::string>;

const fs::path kScripts =
    fs::path(SKIDSCAN_TEST_DATA).parent_path() / "src/commands/commandline/completion";

class Completing : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(directory_ / "bin");
    fs::create_symlink(test::skidscan_program(), directory_ / "bin/skidscan");
    fs::create_directories(here_ / "some.run");
    std::ofstream(here_ / "some file.data") << "x";
  }

  std::string written(const std::string& name, const std::string& text) const {
    const fs::path path = directory_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  /// Runs a shell that finds the program.
  Completed run(std::vector<std::string> call) const {
    const std::string home = directory_.path().string();
    call.insert(call.begin(),
                {"env", "HOME=" + home, fmt::format("PATH={}/bin:{}", home, std::getenv("PATH"))});
    auto done = run_program(call, here_);
    EXPECT_EQ(done.err, "");
    return done;
  }
  static Names flags_of(const Command& command) {
    Names names;
    for (const Option& option : command.options) {
      for (const std::string& name : option.flags()) names.insert(name);
    }
    return names;
  }
  std::vector<std::string> command_names() const {
    return test::mapped(program_.commands, &Command::name);
  }
  /// Blocks of lines that end in a line with a dot.
  static std::vector<std::vector<std::string>> blocks(const std::string& text) {
    std::vector<std::vector<std::string>> found(1);
    for (const std::string& line : test::lines_of(text)) {
      if (line == ".") {
        found.emplace_back();
      } else if (!line.empty()) {
        found.back().push_back(line.substr(0, line.find('\t')));
      }
    }
    found.pop_back();
    return found;
  }

  const Program program_ = commands::program();
  const test::TemporaryDirectory directory_;
  const fs::path here_ = directory_ / "here";
};

TEST_F(Completing, InBash) {
  const std::string script = kScripts / "skidscan.bash";
  const auto complete = [&](std::vector<std::string> lines) {
    lines.insert(lines.begin(),
                 {"bash", "-c",
                  ". \"$1\"; shift; for line; do COMP_LINE=\"skidscan $line\"; "
                  "COMP_POINT=${#COMP_LINE}; _skidscan; printf '%s\\n' \"${COMPREPLY[@]}\" .; done",
                  "bash", script});
    return blocks(run(lines).out);
  };
  const auto lines = test::mapped(command_names(), [](const auto& name) { return name + " -"; });
  const auto offered = complete(lines);
  ASSERT_EQ(offered.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(Names(offered[i].begin(), offered[i].end()), flags_of(program_.commands[i]));
  }
  const auto one = [&](const std::string& line) { return complete({line}).front(); };
  EXPECT_EQ(one(""), command_names());
  EXPECT_THAT(one("re"), ElementsAre("record", "report"));
  EXPECT_THAT(one("report --format "), ElementsAre("text", "json", "csv"));
  EXPECT_THAT(one("report --format=j"), ElementsAre("json"));
  EXPECT_THAT(one("report --format="), ElementsAre("text", "json", "csv"));
  EXPECT_THAT(one("report --perfmon "), ElementsAre("some.run"));
  EXPECT_THAT(one("report --plot some\\ f"), ElementsAre("some file.data"));
  EXPECT_THAT(one("report a.run some"), ElementsAre("some file.data", "some.run"));
  EXPECT_THAT(one("report --hit "), IsEmpty()) << "functions are not files";
  EXPECT_THAT(one("doctor "), IsEmpty()) << "doctor has no arguments";
  EXPECT_THAT(one("target --trigger nt-"), ElementsAre("nt-load", "nt-store"));
  EXPECT_THAT(one("nonsense --"), IsEmpty());
  EXPECT_THAT(one("events --cpu sk"), ElementsAre("skl", "skx"));
  EXPECT_THAT(one("record -p none,pp"), ElementsAre("none,pp", "none,ppp"));
  EXPECT_THAT(one("record -e access,execu"), ElementsAre("access,execute"));
  EXPECT_THAT(one("events --cpu skl mem_load_retired.l3_m"),
              ElementsAre("mem_load_retired.l3_miss"));
}

TEST_F(Completing, OfSampledFunctionsInBash) {
  SKIP_WITHOUT("samples", "c++");
  const std::string script = kScripts / "skidscan.bash";
  const std::string source = written("a.cpp", R"(
namespace app {
template <typename T>
__attribute__((noinline)) void spin(int n) { for (volatile int i = 0; i < n; i = i + 1) {} }
}
int main() { app::spin<int>(300000000); })");
  const std::string program = directory_ / "a", data = here_ / "a.data";
  ASSERT_TRUE(run_program({"c++", "-O1", "-o", program, source}).code.success());
  ASSERT_TRUE(run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cpu-clock:u", "-o",
                           data, program})
                  .code.success());
  const auto done = run({"bash", "-c",
                         ". \"$1\"; COMP_LINE='skidscan annotate a.data --function app::s'; "
                         "COMP_POINT=${#COMP_LINE}; _skidscan; printf '%s\\n' \"${COMPREPLY[@]}\"",
                         "bash", script});
  EXPECT_EQ(done.out, "spin\\<int\\>\n") << "bash replaces what follows the colons";
}

TEST_F(Completing, InFish) {
  SKIP_WITHOUT("fish");
  std::vector<std::string> call{
      "fish",
      "--no-config",
      "-c",
      "source $argv[1]; for line in $argv[2..]; complete -C $line; echo .; end",
      kScripts / "skidscan.fish",
      "skidscan ",
      "skidscan report --format ",
      "skidscan target --trigger nt-",
      "skidscan record -e access,execu"};
  for (const std::string& name : command_names()) call.push_back("skidscan " + name + " --");
  const auto done = run(call);
  const auto offered = test::mapped(
      blocks(done.out), [](const auto& block) { return Names(block.begin(), block.end()); });
  ASSERT_EQ(offered.size(), 4 + program_.commands.size());
  const auto names = command_names();
  EXPECT_EQ(offered[0], Names(names.begin(), names.end()));
  EXPECT_EQ(offered[1], (Names{"text", "json", "csv"}));
  EXPECT_EQ(offered[2], (Names{"nt-load", "nt-store"}));
  EXPECT_EQ(offered[3], Names{"access,execute"});
  for (std::size_t i = 0; i < program_.commands.size(); ++i) {
    Names known = flags_of(program_.commands[i]);
    std::erase_if(known, [](const std::string& name) { return !name.starts_with("--"); });
    EXPECT_EQ(offered[4 + i], known) << names[i];
  }
}

TEST_F(Completing, InZsh) {
  SKIP_WITHOUT("zsh");
  // A zsh on a terminal receives keys, \t among them, and runs a function that prints its
  // arguments.
  constexpr const char* kScript = R"(
zmodload zsh/zpty
zpty -b inner zsh -f -i
zpty -w inner "fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -D -u
skidscan() { print \"<\$*>\" }; print '<'ready'>'"
zpty -r inner out '*<ready>*'
for keys in ${@[2,-1]}; do
  zpty -n -w inner "skidscan ${(g::)keys}"$'\n'
  zpty -r inner out '*<*>*'
  print -r -- "${${out##*<}%%>*}"
done
)";
  EXPECT_THAT(run({"timeout", "60", "zsh", "-f", "-c", kScript, "zsh", kScripts.string(),
                   R"(report --form\tj\t)", R"(tar\t--trigger nt-l\t)",
                   R"(report --ki\tbre\t --plot-sty\tover\t)", R"(record -e access,execu\t)"}),
              Exits(0, ::testing::_,
                    "report --format json\ntarget --trigger nt-load\n"
                    "report --kind breakdown --plot-style overlaid\nrecord -e access,execute\n"));
}

}  // namespace
}  // namespace skid::commandline
