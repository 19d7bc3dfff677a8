// Manual pages of the built program, read by the programs that they are for.
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/help.h"
#include "src/commands/commands.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <vector>

namespace skid::commandline {
namespace {

const fs::path kPages = SKIDSCAN_MANUAL;

std::string source_of(const std::string& page) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  return read_file(kPages / page, kMostBytes);
}

TEST(Manual, ListsEveryOptionWithoutRoffWarnings) {
  SKIP_WITHOUT("groff");
  const Program program = commands::program();
  std::vector<std::string> call{"groff", "-man", "-Tascii", "-P-cbou", "-rLL=200n", "-ww"};
  for (const auto& page : fs::directory_iterator(kPages)) call.push_back(page.path());
  EXPECT_EQ(call.size(), 6 + program.commands.size() + 1);
  const auto done = run_program(call);
  EXPECT_THAT(done, Exits(0, ""));
  for (const Command& command : program.commands) {
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
    for (const std::string& example : command.examples) {
      EXPECT_THAT(page, HasSubstr(example.substr(example.find_first_not_of(' '))));
    }
    EXPECT_THAT(page, HasSubstr("\nEXIT STATUS\n       0 "));
  }
}

/// A program with two commands, in whose names one begins with the other.
constexpr const char* kSmallProgram = R"(#!/bin/sh
case "$*" in
  --version) echo "skidscan 1.0" ;;
  "complete "*) printf 'words\nsample\nsamples\n' ;;
  *) printf 'does it\n\nUsage: skidscan %s\n\nSee skidscan samples.\n' "$1" ;;
esac
)";

TEST(ManualPages, ReferToWholeNamesAndAreMadeAgainForAnotherHelp) {
  SKIP_WITHOUT("help2man");
  const test::TemporaryDirectory directory;
  const fs::path program = directory / "skidscan", pages = directory / "pages";
  const auto make = [&](const std::string& text) {
    std::ofstream(program) << text;
    fs::permissions(program, fs::perms{0755});
    const auto done = run_program({SKIDSCAN_TEST_DATA "/../cmake/manual-pages.sh", program.string(),
                                   pages.string(), "help2man"});
    EXPECT_TRUE(done.code.success()) << done.err;
  };
  make(kSmallProgram);
  const std::string made = read_file(pages / "skidscan-sample.1", 10'000);
  EXPECT_THAT(made, HasSubstr("skidscan-samples (1)"));
  EXPECT_THAT(read_file(pages / "skidscan-samples.1", 10'000),
              Not(HasSubstr("BR skidscan-sample (1)")));
  std::ofstream(pages / "skidscan-sample.1", std::ios::app) << "not made again";
  make(kSmallProgram);
  EXPECT_NE(read_file(pages / "skidscan-sample.1", 10'000), made);
  make(std::string(kSmallProgram).replace(std::string(kSmallProgram).find("does it"), 4, "makes"));
  EXPECT_THAT(read_file(pages / "skidscan-sample.1", 10'000),
              AllOf(HasSubstr("makes it"), Not(HasSubstr("not made again"))));
}

TEST(Manual, HasTheVersionAndNoDate) {
  EXPECT_THAT(source_of("skidscan-record.1"),
              HasSubstr(".TH SKIDSCAN-RECORD \"1\" \"\" \"skidscan " SKIDSCAN_VERSION
                        "\" \"User Commands\"\n"));
}

TEST(Manual, HasNotesInTheDescriptionAndExamplesLineByLine) {
  const std::string page = source_of("skidscan-doctor.1");
  EXPECT_THAT(page, HasSubstr(".SH NAME\nskidscan-doctor \\- list what can be sampled"));
  EXPECT_LT(page.find("Each event is opened at each level"), page.find(".SH OPTIONS\n"));
  EXPECT_LT(page.find(".SH OPTIONS\n"), page.find(".SH EXAMPLES\n"));
  EXPECT_THAT(page, HasSubstr("\n\\f(CW$ skidscan doctor --format json > doctor.json\\fR\n"));
  EXPECT_THAT(source_of("skidscan.1"), HasSubstr(".SH COMMANDS\n.TP\ndoctor\n"));
}

TEST(Manual, RefersToTheCommandsThatItMentions) {
  EXPECT_THAT(source_of("skidscan-annotate.1"),
              AllOf(HasSubstr(".BR skidscan (1),\n.BR skidscan-record (1),\n.BR perf-record (1)\n"),
                    Not(HasSubstr("skidscan-annotate (1)"))));
  EXPECT_THAT(source_of("skidscan.1"), HasSubstr(".BR skidscan-target (1),\n"));
}

TEST(Manual, IsShownByMan) {
  SKIP_WITHOUT("man");
  const auto done = run_program({"man", "--warnings", "-l", kPages / "skidscan-record.1"});
  if (done.out.find("minimized") != std::string::npos) {
    GTEST_SKIP() << "this system has no manual pages (minimized)";
  }
  EXPECT_THAT(done, Exits(0, ""));
  EXPECT_THAT(done.out, HasSubstr("SKIDSCAN-RECORD(1)"));
}

}  // namespace
}  // namespace skid::commandline
