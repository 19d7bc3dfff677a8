// `skidscan report` on recordings that these tests make, and on what is none.
#include "src/machine/machine.h"
#include "src/support/process.h"
#include "tests/support/breakpoints.h"
#include "tests/support/program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Report : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = test::why_perf_cannot_record(directory_.path()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }
  static json parse(const Completed& reported) {
    EXPECT_EQ(reported.code.status, 0) << reported.err;
    return json::parse(reported.out);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Report, WithFiveHundredSamplesDecidesNothing) {
  SKIP_WITHOUT_BREAKPOINTS();
  const auto recorded = test::skidscan({"record", "--samples", "500", "-o", in_directory("run"),
                                        "-e", "access,execute,faults,cpu-clock"});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  const auto result = parse(test::skidscan({"report", in_directory("run"), "--format", "json"}));
  ASSERT_EQ(result["measurements"].size(), 16u);
  for (const auto& found : result["measurements"]) {
    EXPECT_GE(found["samples"]["read"], 500);
    const std::string verdict = found["contract"]["verdict"];
    EXPECT_TRUE(verdict == "undecided" || verdict == "not judged") << verdict;
  }
  const auto gated =
      test::skidscan({"report", in_directory("run"), "--fail-on", "broken", "--format", "csv"});
  EXPECT_EQ(gated.code.status, machine::inspect().has_core_pmu() ? 0 : 5) << gated.err;
}

TEST_F(Report, WarnsThatAClockReplacedCycles) {
  if (machine::inspect().has_core_pmu()) GTEST_SKIP() << "this machine has a PMU";
  const auto recorded = test::skidscan(
      {"record", "-e", "cycles", "-p", "pp", "--samples", "500", "-o", in_directory("run")});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  const auto result = parse(test::skidscan({"report", in_directory("run"), "--format", "json"}));
  const auto& found = result["measurements"].at(0);
  EXPECT_EQ(found["event"]["requested"], "cycles:pp");
  EXPECT_THAT(found["event"]["recorded"].get<std::string>(), HasSubstr("cpu-clock"));
  EXPECT_EQ(found["event"]["swapped"], true);
  EXPECT_EQ(found["event"]["type"], 1);
  EXPECT_EQ(found["contract"]["verdict"], "not judged");
  EXPECT_THAT(found["warnings"].dump(), HasSubstr("instead of cycles:pp"));
  const auto text = test::skidscan({"report", in_directory("run")});
  EXPECT_THAT(text.out, HasSubstr("cpu-clock"));
  EXPECT_THAT(text.out, HasSubstr("instead of cycles:pp"));
}

TEST_F(Report, WarnsForAPlainRecordingToo) {
  if (machine::inspect().has_core_pmu()) GTEST_SKIP() << "this machine has a PMU";
  const auto recorded =
      run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cycles:pp", "-c", "100003",
                   "-o", in_directory("perf.data"), "--", "true"});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  const auto result =
      parse(test::skidscan({"report", in_directory("perf.data"), "--format", "json"}));
  const auto& found = result["measurements"].at(0);
  EXPECT_EQ(found["event"]["requested"], "cycles:pp");
  EXPECT_EQ(found["event"]["swapped"], true);
  EXPECT_TRUE(found["trigger"]["kind"].is_null());
}

TEST_F(Report, CountsFunctionsAsPerfScriptAndAwkDo) {
  if (!find_program("cc")) GTEST_SKIP() << "there is no C compiler";
  for (const std::string option : {"-no-pie", "-pie"}) {
    const auto built =
        run_program({"cc", "-O1", option, "-o", in_directory("classic"), test::kClassicProgram});
    ASSERT_TRUE(built.code.success()) << built.err;
    const auto recorded =
        run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cpu-clock", "-c", "100003",
                     "-o", in_directory("perf.data"), "--", in_directory("classic")});
    ASSERT_TRUE(recorded.code.success()) << recorded.err;
    const auto counted = run_program(
        {"sh", "-c",
         "perf script -F comm,pid,tid,time,event,ip,sym,symoff,dso -i \"$1\" | awk '/noprunway/ { "
         "skid++ } /memreader/ { hit++ } END { printf \"%d %d\", hit, skid }'",
         "sh", in_directory("perf.data")});
    const auto result =
        parse(test::skidscan({"report", in_directory("perf.data"), "--hit", "memreader", "--runway",
                              "noprunway", "--format", "json"}));
    const auto& samples = result["measurements"].at(0)["samples"];
    EXPECT_EQ(std::to_string(samples["hit"].get<int>()) + " " +
                  std::to_string(samples["skid"].get<int>()),
              counted.out)
        << option;
    EXPECT_GT(samples["skid"], 100) << option;
    EXPECT_GT(samples["hit"], 10) << option;
    EXPECT_EQ(samples["before"], 0);
    EXPECT_EQ(samples["censored"], 0);
  }
}

TEST_F(Report, RefusesAProgramThatWasRebuilt) {
  if (!find_program("cc")) GTEST_SKIP() << "there is no C compiler";
  const auto build = [&](const char* level) {
    return run_program({"cc", level, "-o", in_directory("classic"), test::kClassicProgram});
  };
  ASSERT_TRUE(build("-O1").code.success());
  const auto recorded =
      run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cpu-clock", "-c", "100003",
                   "-o", in_directory("perf.data"), "--", in_directory("classic"), "50000"});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  ASSERT_TRUE(build("-O2").code.success());
  const auto reported = test::skidscan(
      {"report", in_directory("perf.data"), "--hit", "memreader", "--runway", "noprunway"});
  EXPECT_EQ(reported.code.status, 1);
  EXPECT_THAT(reported.err, HasSubstr("rebuilt"));
  EXPECT_EQ(reported.out, "");
}

TEST_F(Report, NamesTheFunctionThatIsMissing) {
  const auto recorded =
      run_program({"perf", "record", "--no-bpf-event", "-q", "-e", "cpu-clock", "-c", "100003",
                   "-o", in_directory("perf.data"), "--", "ls", "/"});
  ASSERT_TRUE(recorded.code.success()) << recorded.err;
  const auto reported = test::skidscan(
      {"report", in_directory("perf.data"), "--hit", "no_such_function", "--runway", "nor_this"});
  EXPECT_EQ(reported.code.status, 1);
  EXPECT_THAT(reported.err, HasSubstr("no_such_function"));
}

TEST(ReportOfSeveralInputs, ShowsReadableInputsAndReportsTheOthers) {
  const test::TemporaryDirectory directory;
  const std::string good = directory / "good", other = directory / "other";
  const std::string text = directory / "text", missing = directory / "missing";
  const std::string run = directory / "run";
  test::RecordingBuilder builder;
  builder.event({}).sample(0x1000, 7, 10);
  builder.write(good);
  builder.write(other);
  std::ofstream(text) << "this is no recording";
  std::filesystem::create_directory(run);
  std::ofstream(run + "/run.json") << "{";

  const auto reported =
      test::skidscan({"report", good, missing, text, run, other, "--format", "json"});
  EXPECT_EQ(reported.code.status, 2) << reported.err;
  const auto measurements = json::parse(reported.out)["measurements"];
  ASSERT_EQ(measurements.size(), 2u);
  EXPECT_EQ(measurements[0]["file"], good);
  EXPECT_EQ(measurements[1]["file"], other);
  EXPECT_EQ(std::count(reported.err.begin(), reported.err.end(), '\n'), 3) << reported.err;
  for (const auto& name : {missing, text, run}) EXPECT_THAT(reported.err, HasSubstr(name));

  const auto none = test::skidscan({"report", missing, text});
  EXPECT_EQ(none.code.status, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(std::count(none.err.begin(), none.err.end(), '\n'), 2) << none.err;

  const auto from_nothing =
      run_program({"sh", "-c", "\"$1\" report - </dev/null", "sh", test::skidscan_program()});
  EXPECT_EQ(from_nothing.code.status, 1);
  EXPECT_EQ(from_nothing.out, "");
  EXPECT_EQ(std::count(from_nothing.err.begin(), from_nothing.err.end(), '\n'), 1);
}

TEST_F(Report, RefusesWrongUsageWithStatus64) {
  EXPECT_EQ(test::skidscan({"report", "--hit", "x"}).code.status, 64);
  const auto drawn = test::skidscan({"report", "--plot", "figure.bmp"});
  EXPECT_EQ(drawn.code.status, 64);
  EXPECT_EQ(drawn.out, "") << "nothing is read before the arguments are right";
  EXPECT_EQ(test::skidscan({"report", "--help"}).code.status, 0);
  const auto nothing = test::skidscan({"report"}, directory_.path());
  EXPECT_EQ(nothing.code.status, 1);
  EXPECT_THAT(nothing.err, HasSubstr("skidscan record"));
}

}  // namespace
}  // namespace skid
