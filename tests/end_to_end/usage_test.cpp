// Usage errors of the program, and output files that would replace others.
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The error message of a wrong command line, without "skidscan: " and the end of the line.
std::string error_of(const std::vector<std::string>& arguments) {
  const test::TemporaryDirectory directory;
  const auto done = test::skidscan(arguments, directory.path());
  EXPECT_EQ(done.code.status, 64);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, StartsWith("skidscan: "));
  EXPECT_EQ(done.err.find('\n') + 1, done.err.size()) << done.err;
  return done.err.substr(10, done.err.size() - 11);
}

TEST(UsageErrors, AreOneLineOnStandardErrorWithStatus64) {
  EXPECT_EQ(error_of({"report", "--format", "xml"}),
            "--format xml: expected text, json, csv; try 'skidscan report --help'");
}

TEST(UsageErrors, NameWhatIsNear) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> near{
      {{"target", "--trigger", "mfense", "-o", "t"},
       "trigger kind 'mfense' does not exist; did you mean mfence?"},
      {{"events", "--list", "--cpu", "skylke"}, "have it; did you mean skylake, skylakex?"},
      {{"events", "INST_RETIRED.ANYP", "--cpu", "skl"},
       "; did you mean INST_RETIRED.ANY, INST_RETIRED.ANY_P, "},
      {{"synth", "--like", "pebs-sond", "-o", "s"}, "; did you mean pebs-sound?"},
      {{"samples", "--columns", "tiem"}, "column 'tiem' does not exist; did you mean time?"},
      {{"correct", "--by", "lines"}, "; did you mean line? try 'skidscan correct --help'"}};
  for (const auto& [arguments, part] : near) {
    EXPECT_THAT(error_of(arguments), HasSubstr(part));
  }
  EXPECT_THAT(error_of({"samples", "--columns", "qqq"}), HasSubstr("; expected time, pid, "));
}

TEST(OutputFiles, BeyondTheLimitOfSizesAreReported) {
  const test::TemporaryDirectory directory;
  const auto done =
      run_program({"sh", "-c", "ulimit -f 8; exec \"$0\" events --cpu skl --list >events.txt",
                   test::skidscan_program()},
                  directory.path());
  EXPECT_EQ(done.code.signal, 0);
  EXPECT_EQ(done.code.status, test::kFailed);
  EXPECT_EQ(done.err, "skidscan: standard output: file too large\n");
}

TEST(OutputFiles, DoNotReplaceOtherFiles) {
  EXPECT_EQ(error_of({"report", "a.run", "--html", "-"}),
            "--html -: standard output is in use; name a file");
  EXPECT_EQ(error_of({"report", "a.run", "--html", "."}),
            "--html .: is a directory; name a file in it");
  EXPECT_EQ(error_of({"report", "a.html", "--html", "./a.html"}),
            "--html ./a.html: is an input; name another file");
  EXPECT_EQ(error_of({"compare", "a.run", "b.run", "--html", "x.svg", "--plot", "x.svg"}),
            "--plot x.svg: is also the file of --html; name two files");
}

TEST(OutputFiles, DoNotReplaceInputs) {
  const test::TemporaryDirectory directory;
  const auto skidscan = [&](const std::vector<std::string>& arguments) {
    return test::skidscan(arguments, directory.path());
  };
  ASSERT_EQ(
      skidscan({"synth", "--like", "pebs-sound", "--all-levels", "-o", "a.run", "-q"}).code.status,
      0);
  for (const std::string name : {"run.json", "truth.json", "r81d0.none.data", "target.load"}) {
    const std::string file = "a.run/" + name;
    const std::string before = test::content_of(directory / file);
    const auto done = skidscan({"report", "a.run", "--html", file});
    EXPECT_EQ(done.code.status, 64) << name;
    EXPECT_EQ(done.err,
              "skidscan: --html " + file + ": is part of the run a.run; name another file\n");
    EXPECT_EQ(test::content_of(directory / file), before);
  }
  const std::string recording = "a.run/r81d0.p.data";
  EXPECT_THAT(skidscan({"merge", recording, "-o", recording}).err, HasSubstr("is an input"));
  const auto sum = skidscan({"merge", recording, "-q", "-o", "sum.json"});
  EXPECT_EQ(sum.code.status, 0) << sum.err;
  const auto grown = skidscan({"merge", "sum.json", "a.run/r81d0.pp.data", "-q", "-o", "sum.json"});
  EXPECT_EQ(grown.code.status, 0) << "a report among the inputs may be replaced: " << grown.err;
  EXPECT_EQ(skidscan({"report", "a.run", "--html", "a.run/page.html", "-q"}).code.status, 0);
}

}  // namespace
}  // namespace skid
