// Command lines with a mistake: one line that says what was found, what is allowed, and where to
// read on.
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What is said of a wrong command line, without "skidscan: " and the line's end.
std::string complaint_about(const std::vector<std::string>& arguments) {
  const test::TemporaryDirectory directory;
  const auto done = test::skidscan(arguments, directory.path());
  EXPECT_EQ(done.code.status, 64);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, StartsWith("skidscan: "));
  EXPECT_EQ(done.err.find('\n') + 1, done.err.size()) << done.err;
  return done.err.substr(10, done.err.size() - 11);
}

TEST(Usage, NamesTheCommandThatMayBeMeant) {
  EXPECT_EQ(complaint_about({"recrod"}),
            "'recrod' is no command; did you mean record? try 'skidscan --help'");
  EXPECT_EQ(complaint_about({"zzzz"}), "'zzzz' is no command; try 'skidscan --help'");
  EXPECT_THAT(complaint_about({}), StartsWith("no command is named, allowed doctor, record, "));
}

TEST(Usage, NamesTheOptionThatMayBeMeant) {
  EXPECT_EQ(complaint_about({"report", "--formta", "json"}),
            "--formta: no such option; did you mean --format? try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"report", "--formta=json", "x"}),
            "--formta: no such option; did you mean --format? try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"doctor", "-Q"}), "-Q: no such option; try 'skidscan doctor --help'");
  EXPECT_EQ(complaint_about({"-q", "report"}),
            "-q: found in front of the command, allowed behind 'skidscan report'; "
            "try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"--nonsense"}), "--nonsense: no such option; try 'skidscan --help'");
  EXPECT_EQ(complaint_about({"--nonsense", "report"}),
            "--nonsense: no such option; try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"recrod", "report"}),
            "'recrod' is no command; did you mean record? try 'skidscan report --help'");
}

TEST(Usage, SaysWhatAValueMayBe) {
  EXPECT_EQ(complaint_about({"report", "--format", "xml"}),
            "--format: found xml, allowed text, json, csv; try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"report", "--bin", "0"}),
            "--bin: found 0, allowed 1 to 1000000; try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"report", "--bin", "wide"}),
            "--bin: found wide, allowed 1 to 1000000; try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"target", "--triggers", "many"}),
            "--triggers: found many, allowed a number; try 'skidscan target --help'");
  EXPECT_EQ(complaint_about({"report", "--format"}),
            "--format: found no value, allowed text, json, csv; try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"record", "--cpu", "-1"}),
            "--cpu: found -1, allowed 0 or more; try 'skidscan record --help'");
}

TEST(Usage, TakesNoValueOfNoCharacters) {
  EXPECT_EQ(complaint_about({"report", "--html", ""}),
            "--html: found no value, allowed FILE; try 'skidscan report --help'");
  EXPECT_EQ(complaint_about({"compare", "--plot", ""}),
            "--plot: found no value, allowed FILE; try 'skidscan compare --help'");
  EXPECT_EQ(complaint_about({"record", "-o", ""}),
            "--output: found no value, allowed DIR; try 'skidscan record --help'");
  EXPECT_EQ(complaint_about({"report", "--bin", "1", "--bin"}),
            "--bin: found no value, allowed 1 to 1000000; try 'skidscan report --help'");
}

TEST(Usage, QuotesNumbersAsTheyWereGiven) {
  EXPECT_EQ(complaint_about({"target", "--working-set", "5XB"}),
            "--working-set: found 5XB, allowed with a unit: KiB, MiB, GiB; try 'skidscan target "
            "--help'");
  EXPECT_EQ(complaint_about({"record", "--duration", "nan"}),
            "--duration: found nan, allowed 0.001 to 86400; try 'skidscan record --help'");
  EXPECT_EQ(complaint_about({"audit", "--min-share", "nan"}),
            "--min-share: found nan, allowed 0 to 1; try 'skidscan audit --help'");
}

TEST(Usage, WritesNoFileOverAnother) {
  EXPECT_EQ(complaint_about({"report", "a.run", "--html", "-"}),
            "--html -: what is printed goes to standard output; name a file");
  EXPECT_EQ(complaint_about({"report", "a.run", "--html", "."}),
            "--html .: is a directory; name a file in it");
  EXPECT_EQ(complaint_about({"report", "a.html", "--html", "./a.html"}),
            "--html ./a.html: is an input; name another file");
  EXPECT_EQ(complaint_about({"compare", "a.run", "b.run", "--html", "x.svg", "--plot", "x.svg"}),
            "--plot x.svg: is the file of --html, too; name two files");
}

TEST(Usage, KeepsWhatIsRead) {
  const test::TemporaryDirectory directory;
  const auto skidscan = [&](const std::vector<std::string>& arguments) {
    return test::skidscan(arguments, directory.path());
  };
  ASSERT_EQ(
      skidscan({"synth", "--like", "pebs-sound", "--ladder", "-o", "a.run", "-q"}).code.status, 0);
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
  EXPECT_EQ(grown.code.status, 0) << "a sum may grow: " << grown.err;
  EXPECT_EQ(skidscan({"report", "a.run", "--html", "a.run/page.html", "-q"}).code.status, 0);
}

TEST(Usage, SaysWhatDoesNotGoTogether) {
  EXPECT_THAT(complaint_about({"record", "--resume", "x", "-e", "access"}),
              HasSubstr("not together with "));
  EXPECT_EQ(complaint_about({"doctor", "here"}),
            "'here': skidscan doctor takes no argument; try 'skidscan doctor --help'");
  EXPECT_EQ(complaint_about({"samples", "a.data", "b.data"}),
            "'b.data': skidscan samples takes one argument; try 'skidscan samples --help'");
  EXPECT_EQ(complaint_about({"report", "--format", "text", "--format", "json"}),
            "--format: given 2 times, allowed once; try 'skidscan report --help'");
}

}  // namespace
}  // namespace skid
