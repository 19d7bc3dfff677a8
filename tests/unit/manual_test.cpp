// Manual pages and completions of skidscan, each read by the program that it is for.
#include "src/commandline/help.h"
#include "src/commands/commands.h"
#include "src/support/process.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::commandline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Names = std::set<std::string>;

class Manual : public ::testing::Test {
 protected:
  /// Skips the test without a program that it requires.
  static bool lacks(const char* program) { return !find_program(program); }

  std::string written(const std::string& name, const std::string& text) const {
    const fs::path path = directory_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  static Names flags_of(const Command& command) {
    Names names;
    for (const Option& option : command.options) {
      for (const std::string& name : option.flags()) names.insert(name);
    }
    return names;
  }
  std::vector<std::string> command_names() const {
    std::vector<std::string> names;
    for (const Command& command : program_.commands) names.push_back(command.name);
    return names;
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
};

TEST_F(Manual, ListsEveryOptionWithoutRoffWarnings) {
  if (lacks("groff")) GTEST_SKIP() << "groff is not installed";
  std::vector<std::string> call{"groff", "-man", "-Tascii", "-P-cbou", "-rLL=100n", "-ww"};
  for (const auto& [name, page] : manual_pages(program_)) call.push_back(written(name, page));
  EXPECT_EQ(call.size(), 6 + program_.commands.size() + 1);
  const auto done = run_program(call);
  EXPECT_EQ(done.code.status, 0);
  EXPECT_EQ(done.err, "");
  for (const Command& command : program_.commands) {
    std::string title = "SKIDSCAN-" + command.name + "(1)";
    for (char& c : title) c = static_cast<char>(std::toupper(c));
    const std::size_t begin = done.out.find(title);
    ASSERT_NE(begin, std::string::npos) << title;
    const std::size_t end = done.out.find("\nSKIDSCAN", begin);
    const std::string page = done.out.substr(begin, end - begin);
    for (const Option& option : command.options) {
      const std::string spelling =
          option.flags().empty() ? spelling_of(option.value) : spelling_of(option);
      EXPECT_THAT(page, HasSubstr("\n       " + spelling)) << title;
    }
    for (const std::string& example : command.examples) EXPECT_THAT(page, HasSubstr(example));
    EXPECT_THAT(page, HasSubstr("\nEXIT STATUS\n       0 "));
  }
}

TEST_F(Manual, IsShownByMan) {
  if (lacks("man")) GTEST_SKIP() << "man is not installed";
  const std::string page = written("record.1", manual_pages(program_).at("skidscan-record.1"));
  const auto done = run_program({"man", "--warnings", "-l", page});
  if (done.out.find("minimized") != std::string::npos) {
    GTEST_SKIP() << "man is a placeholder on this minimized system";
  }
  EXPECT_EQ(done.code.status, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_THAT(done.out, HasSubstr("SKIDSCAN-RECORD(1)"));
}

TEST_F(Manual, CompletesInBash) {
  const std::string script = written("completion.bash", bash_completion(program_));
  const fs::path here = directory_ / "here";
  fs::create_directories(here / "some.run");
  std::ofstream(here / "some file.data") << "x";
  // A line is words with commas between them, the last one to be completed.
  const auto complete = [&](std::vector<std::string> lines) {
    lines.insert(
        lines.begin(),
        {"bash", "-c",
         ". \"$1\"; shift; for line; do IFS=, read -ra COMP_WORDS <<<\"skidscan,$line,.\"; "
         "unset 'COMP_WORDS[-1]'; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _skidscan; "
         "printf '%s\\n' \"${COMPREPLY[@]}\" .; done",
         "bash", script});
    const auto done = run_program(lines, here);
    EXPECT_EQ(done.err, "");
    return blocks(done.out);
  };
  std::vector<std::string> lines;
  for (const std::string& name : command_names()) lines.push_back(name + ",-");
  const auto offered = complete(lines);
  ASSERT_EQ(offered.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(Names(offered[i].begin(), offered[i].end()), flags_of(program_.commands[i]));
  }
  const auto one = [&](const std::string& line) { return complete({line}).front(); };
  EXPECT_EQ(one(""), command_names());
  EXPECT_THAT(one("re"), ElementsAre("record", "report"));
  EXPECT_THAT(one("report,--format,"), ElementsAre("text", "json", "csv"));
  EXPECT_THAT(one("report,--format,=,j"), ElementsAre("json"));
  EXPECT_THAT(one("report,--format,="), ElementsAre("text", "json", "csv"));
  EXPECT_THAT(one("report,--perfmon,"), ElementsAre("some.run"));
  EXPECT_THAT(one("report,--plot,some f"), ElementsAre("some file.data"));
  EXPECT_THAT(one("report,a.run,some"), ElementsAre("some file.data", "some.run"));
  EXPECT_THAT(one("report,--hit,"), IsEmpty()) << "functions are not files";
  EXPECT_THAT(one("doctor,"), IsEmpty()) << "doctor has no arguments";
  EXPECT_THAT(one("target,--trigger,nt-"), ElementsAre("nt-load", "nt-store"));
  EXPECT_THAT(one("nonsense,--"), IsEmpty());
}

TEST_F(Manual, CompletesInFish) {
  if (lacks("fish")) GTEST_SKIP() << "fish is not installed";
  std::vector<std::string> call{
      "env",
      "HOME=" + directory_.path().string(),
      "fish",
      "--no-config",
      "-c",
      "source $argv[1]; for line in $argv[2..]; complete -C $line; echo .; end",
      written("skidscan.fish", fish_completion(program_)),
      "skidscan ",
      "skidscan report --format ",
      "skidscan target --trigger nt-"};
  for (const std::string& name : command_names()) call.push_back("skidscan " + name + " --");
  const auto done = run_program(call, directory_.path());
  EXPECT_EQ(done.err, "");
  std::vector<Names> offered;
  for (const auto& block : blocks(done.out)) offered.emplace_back(block.begin(), block.end());
  ASSERT_EQ(offered.size(), 3 + program_.commands.size());
  const auto names = command_names();
  EXPECT_EQ(offered[0], Names(names.begin(), names.end()));
  EXPECT_EQ(offered[1], (Names{"text", "json", "csv"}));
  EXPECT_EQ(offered[2], (Names{"nt-load", "nt-store"}));
  for (std::size_t i = 0; i < program_.commands.size(); ++i) {
    Names known = flags_of(program_.commands[i]);
    std::erase_if(known, [](const std::string& name) { return !name.starts_with("--"); });
    EXPECT_EQ(offered[3 + i], known) << names[i];
  }
}

TEST_F(Manual, ListsEveryOptionForZsh) {
  const std::string script = zsh_completion(program_);
  for (const Command& command : program_.commands) {
    const std::size_t begin = script.find("    " + command.name + ")\n");
    ASSERT_NE(begin, std::string::npos) << command.name;
    const std::string own = script.substr(begin, script.find(";;", begin) - begin);
    for (const std::string& name : flags_of(command)) {
      EXPECT_THAT(own, HasSubstr("'*" + name + "[")) << command.name;
    }
  }
}

TEST_F(Manual, CompletesInZsh) {
  if (lacks("zsh")) GTEST_SKIP() << "zsh is not installed";
  // A zsh on a terminal receives keys, \t among them, and runs a function that prints its
  // arguments.
  constexpr const char* kScript = R"(
zmodload zsh/zpty
zpty -b inner zsh -f -i
zpty -w inner "fpath=($1 \$fpath); autoload -U compinit; compinit -D -u
skidscan() { print \"<\$*>\" }; print '<'ready'>'"
zpty -r inner out '*<ready>*'
for keys in ${@[2,-1]}; do
  zpty -n -w inner "skidscan ${(g::)keys}"$'\n'
  zpty -r inner out '*<*>*'
  print -r -- "${${out##*<}%%>*}"
done
)";
  written("_skidscan", zsh_completion(program_));
  const auto done =
      run_program({"timeout", "60", "zsh", "-f", "-c", kScript, "zsh", directory_.path().string(),
                   R"(report --form\tj\t)", R"(tar\t--trigger nt-l\t)",
                   R"(report --ki\tled\t --plot-sty\tover\t)"},
                  directory_.path());
  EXPECT_EQ(done.code.status, 0) << done.err;
  EXPECT_EQ(done.out,
            "report --format json\ntarget --trigger nt-load\n"
            "report --kind breakdown --plot-style overlaid\n");
}

}  // namespace
}  // namespace skid::commandline
