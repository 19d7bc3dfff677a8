// Help, manual pages and completions, each read by a program of its own or as text, say the same.
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

using Names = std::set<std::string>;

const fs::path kWords = SKIDSCAN_WORDS;

std::vector<std::string> text_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The lines of a section, from the one behind its heading to the next line that begins at the
/// left.
std::vector<std::string> section_lines(const std::string& text, const std::string& heading) {
  std::vector<std::string> found;
  bool inside = false;
  for (const std::string& line : text_lines(text)) {
    if (line == heading) {
      inside = true;
    } else if (!line.empty() && line.front() != ' ') {
      inside = false;
    } else if (inside && !line.empty()) {
      found.push_back(line);
    }
  }
  return found;
}

/// The options at the front of a line: "  -e, --event EVENT  any" has two.
void add_names(const std::string& line, Names& names) {
  static const std::regex kName("^ *(--?[A-Za-z][a-z0-9-]*)(,|=| |$)(.*)");
  std::smatch match;
  std::string rest = line;
  while (std::regex_match(rest, match, kName)) {
    names.insert(match[1]);
    if (match[2] != ",") return;
    rest = match[3].str();
  }
}

Names options_in(const std::vector<std::string>& lines, std::size_t indent) {
  Names names;
  for (const std::string& line : lines) {
    if (line.find_first_not_of(' ') == indent) add_names(line, names);
  }
  return names;
}

std::string help_of(const std::vector<std::string>& command) {
  auto arguments = command;
  arguments.emplace_back("--help");
  const auto done = test::skidscan(arguments);
  EXPECT_EQ(done.code.status, 0);
  return done.out;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const std::string& line : section_lines(help_of({}), "Commands:")) {
    if (line.find_first_not_of(' ') == 2) names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

Names options_of_help(const std::string& command) {
  return options_in(section_lines(help_of({command}), "Options:"), 2);
}

fs::path page_of(const std::string& command) {
  return kWords / "man" / ("skidscan-" + command + ".1");
}

/// What bash completes where the last of these words ends.
std::vector<std::string> bash_completions(const std::vector<std::string>& words,
                                          const fs::path& directory = {}) {
  std::vector<std::string> argv{
      "bash",
      "-c",
      ". \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _skidscan; "
      "printf '%s\\n' \"${COMPREPLY[@]}\"",
      "bash",
      (kWords / "bash" / "skidscan").string(),
      "skidscan"};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto done = run_program(argv, directory);
  EXPECT_EQ(done.err, "");
  auto lines = text_lines(done.out);
  std::erase(lines, "");
  return lines;
}

Names matches(const std::string& text, const std::regex& pattern, const std::string& before) {
  Names names;
  for (auto match = std::sregex_iterator(text.begin(), text.end(), pattern);
       match != std::sregex_iterator(); ++match) {
    names.insert(before + (*match)[1].str());
  }
  return names;
}

TEST(Words, OfHelpTellEveryCommand) {
  EXPECT_THAT(command_names(), IsSupersetOf({"doctor", "record", "report", "compare", "target"}));
  EXPECT_THAT(options_of_help("record"), IsSupersetOf({"-e", "--event", "--check-ip", "--help"}));
  EXPECT_THAT(options_of_help("synth"), Contains("-z"));
}

TEST(Words, OfManualPagesAreThoseOfHelp) {
  if (!find_program("groff")) GTEST_SKIP() << "groff is not installed";
  for (const std::string& command : command_names()) {
    const auto shown = run_program(
        {"groff", "-man", "-Tascii", "-P-cbou", "-rLL=100n", page_of(command).string()});
    ASSERT_EQ(shown.code.status, 0) << shown.err;
    EXPECT_EQ(options_in(section_lines(shown.out, "OPTIONS"), 7), options_of_help(command))
        << command;
    EXPECT_THAT(section_lines(shown.out, "NAME"), Not(IsEmpty()));
    EXPECT_THAT(section_lines(shown.out, "EXIT STATUS"), Not(IsEmpty())) << command;
    // Examples are not filled: line by line what help has.
    auto examples = section_lines(shown.out, "EXAMPLES");
    for (std::string& line : examples) line.erase(0, 5);
    EXPECT_EQ(examples, section_lines(help_of({command}), "Examples:")) << command;
  }
}

TEST(Words, OfManualPagesRaiseNoWarning) {
  if (!find_program("groff")) GTEST_SKIP() << "groff is not installed";
  std::size_t pages = 0;
  for (const auto& page : fs::directory_iterator(kWords / "man")) {
    const auto done = run_program({"groff", "-man", "-Tutf8", "-ww", "-z", page.path().string()});
    EXPECT_EQ(done.err, "") << page.path();
    EXPECT_EQ(done.code.status, 0);
    ++pages;
  }
  EXPECT_EQ(pages, command_names().size() + 1);
}

TEST(Words, OfManualPagesAreShownByMan) {
  if (!find_program("man")) GTEST_SKIP() << "man is not installed";
  const auto done = run_program({"man", "--warnings", "-l", page_of("record").string()});
  if (done.out.find("minimized") != std::string::npos) {
    GTEST_SKIP() << "man is a placeholder on this minimized system";
  }
  EXPECT_EQ(done.code.status, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_THAT(done.out, ::testing::HasSubstr("SKIDSCAN-RECORD(1)"));
}

TEST(Words, OfBashAreThoseOfHelp) {
  for (const std::string& command : command_names()) {
    const auto words = bash_completions({command, "-"});
    EXPECT_EQ(Names(words.begin(), words.end()), options_of_help(command)) << command;
  }
  EXPECT_EQ(bash_completions({""}), command_names());
}

TEST(Words, OfBashAreWhatFitsThePlace) {
  const test::TemporaryDirectory directory;
  fs::create_directory(directory.path() / "some.run");
  std::ofstream(directory.path() / "some file.data") << "x";
  const auto here = [&](const std::vector<std::string>& words) {
    return bash_completions(words, directory.path());
  };
  EXPECT_THAT(here({"re"}), ElementsAre("record", "report"));
  EXPECT_THAT(here({"report", "--format", ""}), ElementsAre("text", "json", "csv"));
  EXPECT_THAT(here({"report", "--format", "=", "j"}), ElementsAre("json"));
  EXPECT_THAT(here({"report", "--format", "="}), ElementsAre("text", "json", "csv"));
  EXPECT_THAT(here({"report", "--perfmon", ""}), ElementsAre("some.run"));
  EXPECT_THAT(here({"report", "--plot", "some f"}), ElementsAre("some file.data"));
  EXPECT_THAT(here({"report", "a.run", "some"}), ElementsAre("some file.data", "some.run"));
  EXPECT_THAT(here({"report", "--hit", ""}), IsEmpty()) << "names of functions are not files";
  EXPECT_THAT(here({"doctor", ""}), IsEmpty()) << "doctor takes no argument";
  EXPECT_THAT(here({"target", "--trigger", "nt-"}), ElementsAre("nt-load", "nt-store"));
  EXPECT_THAT(here({"nonsense", "--"}), IsEmpty());
}

TEST(Words, OfFishAreThoseOfHelp) {
  const std::string script = test::content_of(kWords / "fish" / "skidscan.fish");
  for (const std::string& command : command_names()) {
    std::string own;
    for (const std::string& line : text_lines(script)) {
      if (line.find("from " + command + "'") != std::string::npos) {
        own += line.substr(0, line.find(" -d ")) + '\n';
      }
    }
    Names names = matches(own, std::regex(" -l ([a-z0-9-]+)"), "--");
    names.merge(matches(own, std::regex(" -s ([A-Za-z])"), "-"));
    EXPECT_EQ(names, options_of_help(command)) << command;
  }
}

TEST(Words, OfZshAreThoseOfHelp) {
  const std::string script = test::content_of(kWords / "zsh" / "_skidscan");
  for (const std::string& command : command_names()) {
    const std::size_t begin = script.find("    " + command + ")\n");
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string own = script.substr(begin, script.find(";;", begin) - begin);
    EXPECT_EQ(matches(own, std::regex("'\\*(-[A-Za-z0-9-]+)\\["), ""), options_of_help(command))
        << command;
  }
}

/// What fish offers behind each of `lines`.
std::vector<Names> fish_completions(const std::vector<std::string>& lines) {
  const test::TemporaryDirectory home;
  std::vector<std::string> call{
      "env",
      "HOME=" + home.path().string(),
      "fish",
      "--no-config",
      "-c",
      "source $argv[1]; for line in $argv[2..]; complete -C $line; echo .; end",
      (kWords / "fish" / "skidscan.fish").string()};
  call.insert(call.end(), lines.begin(), lines.end());
  const auto done = run_program(call, home.path());
  EXPECT_EQ(done.err, "");
  std::vector<Names> offered(1);
  for (const std::string& line : text_lines(done.out)) {
    if (line == ".") {
      offered.emplace_back();
    } else {
      offered.back().insert(line.substr(0, line.find('\t')));
    }
  }
  offered.pop_back();
  return offered;
}

TEST(Words, OfFishAreOfferedByIt) {
  if (!find_program("fish")) GTEST_SKIP() << "fish is not installed";
  std::vector<std::string> lines{"skidscan ", "skidscan report --format ",
                                 "skidscan target --trigger nt-"};
  for (const std::string& command : command_names()) lines.push_back("skidscan " + command + " --");
  const std::vector<Names> offered = fish_completions(lines);
  ASSERT_EQ(offered.size(), lines.size());
  const auto commands = command_names();
  EXPECT_EQ(offered[0], Names(commands.begin(), commands.end()));
  EXPECT_EQ(offered[1], (Names{"text", "json", "csv"}));
  EXPECT_EQ(offered[2], (Names{"nt-load", "nt-store"}));
  std::size_t next = 3;
  for (const std::string& command : command_names()) {
    Names known = options_of_help(command);
    std::erase_if(known, [](const std::string& name) { return !name.starts_with("--"); });
    EXPECT_EQ(offered[next++], known) << command;
  }
}

/// What a zsh on a terminal makes of keys, \t among them, when Enter is pressed.
std::vector<std::string> zsh_command_lines(const std::vector<std::string>& keys) {
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
  const test::TemporaryDirectory here;
  std::vector<std::string> call{"timeout", "60",    "zsh", "-f",
                                "-c",      kScript, "zsh", (kWords / "zsh").string()};
  call.insert(call.end(), keys.begin(), keys.end());
  const auto done = run_program(call, here.path());
  EXPECT_EQ(done.code.status, 0) << done.err;
  return text_lines(done.out);
}

TEST(Words, OfZshAreCompletedByIt) {
  if (!find_program("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_THAT(zsh_command_lines({R"(report --form\tj\t)", R"(tar\t--trigger nt-l\t)",
                                 R"(report --ki\tled\t --plot-sty\tover\t)"}),
              ElementsAre("report --format json", "target --trigger nt-load",
                          "report --kind ledger --plot-style overlaid"));
}

}  // namespace
}  // namespace skid
