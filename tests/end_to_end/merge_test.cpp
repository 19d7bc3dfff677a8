// Reports as inputs of `skidscan report`, and `skidscan merge`, as a user runs them.
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/recordings.h"
#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using test::kDone;
using test::kFailed;
using test::kGateFailed;
using test::kInPart;
using test::kUsage;

/// Two repetitions of two levels.
constexpr const char* kTwoRepetitions = R"({
  "schema": "skidscan.model/1", "name": "small",
  "target": {"trigger": "store", "nops": 100, "lead_in_nops": 10, "gaps": [40]},
  "events": [{"event": "r2d0", "period": 1009, "levels": [
    {"level": 0, "samples": 800, "offsets": {"kind": "normal_cycles", "mean": 9, "stddev": 4}},
    {"level": 2, "samples": 900, "hits": 0.9, "exact_ip": 0.95,
     "offsets": {"kind": "uniform", "lowest": -20, "highest": 120},
     "elsewhere": {"kernel": 0.1, "foreign": 0.2}}]}]})";

class MergedReports : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
    write("model.json", kTwoRepetitions);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  Completed run(const std::vector<std::string>& arguments) const {
    return test::skidscan(arguments, directory_.path());
  }
  Completed shell(const std::string& script) const {
    return run_program({"sh", "-c", script, test::skidscan_program()}, directory_.path());
  }
  /// A run, and its report as NAME.json.
  std::string make(const std::string& name, const std::string& seed) const {
    const auto made = run({"synth", "model.json", "--all-levels", "--repeat", "2", "--seed", seed,
                           "-o", name + ".run"});
    EXPECT_EQ(made.code.status, kDone) << made.err;
    const auto reported = run({"report", name + ".run", "--format", "json"});
    EXPECT_EQ(reported.code.status, kDone) << reported.err;
    write(name + ".json", reported.out);
    return reported.out;
  }
  json merged(std::vector<std::string> arguments, const std::string& message) const {
    arguments.insert(arguments.begin(), "merge");
    const auto done = run(arguments);
    EXPECT_EQ(done.code.status, kDone) << done.err;
    EXPECT_THAT(done.err, HasSubstr(message));
    return json::parse(done.out)["measurements"];
  }

  test::TemporaryDirectory directory_;
};

TEST_F(MergedReports, ReplaceTheirRecordings) {
  const std::string report = make("a", "1");
  for (const char* format : {"json", "text", "csv"}) {
    const auto of_report = run({"report", "a.json", "--format", format});
    EXPECT_EQ(of_report.code.status, kDone);
    EXPECT_THAT(of_report.err, IsEmpty());
    EXPECT_EQ(of_report.out, run({"report", "a.run", "--format", format}).out);
  }
  EXPECT_EQ(run({"report", "a.json", "--bin", "7", "--format", "csv"}).out,
            run({"report", "a.run", "--bin", "7", "--format", "csv"}).out);
  for (const char* script :
       {"cat a.json | \"$0\" report - --format json", "\"$0\" report - --format json <a.json",
        "mkfifo fifo && (cat a.json >fifo & \"$0\" report fifo --format json)"}) {
    const auto piped = shell(script);
    EXPECT_EQ(piped.code.status, kDone) << script << piped.err;
    EXPECT_EQ(piped.out, report) << script;
  }
  const auto several = run({"report", "a.json", "a.run", "--format", "json"});
  EXPECT_EQ(json::parse(several.out)["measurements"].size(),
            2 * json::parse(report)["measurements"].size());
}

TEST_F(MergedReports, LeavePipesWithRecordingsAsTheyWere) {
  ASSERT_EQ(run({"synth", "model.json", "-o", "file.data"}).code.status, kDone);
  ASSERT_EQ(run({"synth", "model.json", "--pipe", "-o", "pipe.data"}).code.status, kDone);
  const auto samples = [](const Completed& reported) {
    EXPECT_EQ(reported.code.status, kDone) << reported.err;
    return json::parse(reported.out)["measurements"][0]["basis"]["offsets"];
  };
  const json expected = samples(run({"report", "file.data", "--format", "json"}));
  for (const char* script :
       {"cat pipe.data | \"$0\" report - --format json", "\"$0\" report - --format json <pipe.data",
        "\"$0\" report - --format json <file.data",
        "mkfifo fifo && (cat pipe.data >fifo & \"$0\" report fifo --format json)"}) {
    EXPECT_EQ(samples(shell(script)), expected) << script;
  }
}

TEST_F(MergedReports, AreRefusedWhereTheyContradictThemselves) {
  json report = json::parse(make("a", "1"));
  report["measurements"][0]["samples"]["hit"] = 100'000;
  write("wrong.json", report.dump());
  const auto refused = run({"report", "wrong.json"});
  EXPECT_EQ(refused.code.status, kFailed);
  EXPECT_THAT(refused.err, HasSubstr("samples.read\", expected the sum of the classes, "));
  const auto in_part = run({"report", "wrong.json", "a.json"});
  EXPECT_EQ(in_part.code.status, kInPart);
  EXPECT_THAT(in_part.out, HasSubstr("r2d0"));

  report = json::parse(make("b", "2"));
  for (auto& measurement : report["measurements"]) measurement.erase("basis");
  report["tool_version"] = "0.0.1";
  write("old.json", report.dump());
  EXPECT_THAT(run({"report", "old.json"}).err, HasSubstr("skidscan 0.0.1"));
  write("cut.json", make("c", "3").substr(0, 5000));
  EXPECT_THAT(run({"report", "cut.json"}).err, HasSubstr("cut.json: at offset 0x1388: text"));
  EXPECT_THAT(run({"report", "a.json", "--hit", "f", "--runway", "g"}).err,
              HasSubstr("a.json: a report was measured before"));
}

TEST_F(MergedReports, HaveTheirNamesEscaped) {
  json report = json::parse(make("a", "1"));
  auto& measurement = report["measurements"][0];
  for (const char* name : {"label", "recorded", "requested"}) {
    measurement["event"][name] = "evil\x1b[2Jname";
  }
  measurement["cpu"]["model_name"] = measurement["file"] = measurement["run"] = "evil\x1b[2J";
  measurement["warnings"] = {"warning\x1b[2J"};
  measurement["warning_counts"] = {{"event", 1}, {"counts", 0}, {"recording", 0}};
  write("evil.json", report.dump());
  for (const char* format : {"text", "csv", "json"}) {
    const auto shown = run({"report", "evil.json", "--format", format});
    EXPECT_EQ(shown.code.status, kDone) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("evil"));
    EXPECT_THAT(shown.out, Not(HasSubstr("\x1b[2J"))) << format;
  }
}

TEST_F(MergedReports, HoldTheGateOfTheirContracts) {
  ASSERT_EQ(run({"synth", "--like", "vm-broken", "-o", "vm.data"}).code.status, kDone);
  write("vm.json", run({"report", "vm.data", "--format", "json"}).out);
  EXPECT_EQ(run({"report", "vm.json", "--fail-on", "broken"}).code.status, kGateFailed);
}

TEST_F(MergedReports, AddUpRepetitionByRepetition) {
  const json a = json::parse(make("a", "1"))["measurements"];
  const json b = json::parse(make("b", "2"))["measurements"];
  ASSERT_EQ(a.size(), 4u);
  const json sum = merged({"a.json", "b.run"}, "8 measurements of 2 inputs became 4");
  ASSERT_EQ(sum.size(), 4u);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    for (const char* kind : {"read", "hit", "skid", "before", "kernel", "other_user"}) {
      EXPECT_EQ(sum[i]["samples"][kind], a[i]["samples"][kind].get<std::uint64_t>() +
                                             b[i]["samples"][kind].get<std::uint64_t>());
    }
    EXPECT_EQ(sum[i]["repeat"], a[i]["repeat"]);
    EXPECT_EQ(sum[i]["parts"], 2);
    EXPECT_EQ(sum[i]["merged_from"][0]["file"], a[i]["file"]);
    EXPECT_EQ(sum[i]["merged_from"][1]["file"], b[i]["file"]);
    EXPECT_EQ(sum[i]["run"], "a.run and 1 more");
  }
  const json pooled = merged({"a.json", "b.json", "--pool"}, "8 measurements of 2 inputs became 2");
  EXPECT_EQ(pooled.size(), 2u);
  const json alone = merged({"a.run", "b.json", "--as-repeats"}, "became 8");
  ASSERT_EQ(alone.size(), 8u);
  EXPECT_EQ(alone[7]["repeat"], 4);
}

TEST_F(MergedReports, AreWrittenWholeAndReadAgain) {
  make("a", "1");
  make("b", "2");
  make("c", "3");
  const auto written = run({"merge", "a.json", "b.json", "-o", "ab.json"});
  EXPECT_EQ(written.code.status, kDone) << written.err;
  EXPECT_THAT(written.out, IsEmpty());
  const json in_steps = merged({"ab.json", "c.json"}, "became 4");
  json at_once = merged({"a.json", "b.json", "c.json"}, "12 measurements of 3 inputs became 4");
  EXPECT_EQ(in_steps, at_once);
  const auto text = run({"report", "ab.json"});
  EXPECT_EQ(text.code.status, kDone) << text.err;
  EXPECT_THAT(text.out, HasSubstr("a.run and 1 more"));
  const auto piped = shell("\"$0\" merge a.json --pool 2>/dev/null | \"$0\" report -");
  EXPECT_EQ(piped.code.status, kDone) << piped.err;
}

TEST_F(MergedReports, NameDifferencesOfConfiguration) {
  make("a", "1");
  json other = json::parse(make("b", "2"));
  for (auto& measurement : other["measurements"]) measurement["kernel"] = "9.9";
  write("b.json", other.dump());
  const auto done = run({"merge", "a.json", "b.json"});
  EXPECT_EQ(done.code.status, kFailed);
  EXPECT_EQ(json::parse(done.out)["measurements"].size(), 8U);
  EXPECT_THAT(done.err, HasSubstr("nothing was added up: no two measurements have the same "));
  EXPECT_EQ(run({"merge", "a.json", "b.json", "--as-repeats"}).code.status, kDone);
  EXPECT_EQ(run({"merge", "a.json"}).code.status, kDone) << "one input may be rewritten";
  EXPECT_THAT(done.err, HasSubstr("not added up: r2d0:pp: kernel: "));
  EXPECT_THAT(done.err, HasSubstr(" and 9.9\n"));
  EXPECT_THAT(done.err, HasSubstr("8 measurements of 2 inputs became 8"));

  const auto twice = run({"merge", "a.json", "a.run", "-o", "twice.json"});
  EXPECT_EQ(twice.code.status, kFailed);
  EXPECT_THAT(twice.err, HasSubstr("the same recording would count twice"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "twice.json"));
  EXPECT_EQ(run({"merge"}).code.status, kUsage);
  EXPECT_THAT(run({"merge"}).err, HasSubstr("name reports, runs or recordings"));
  EXPECT_EQ(run({"compare"}).code.status, kUsage);
  EXPECT_EQ(run({"merge", "a.json", "--pool", "--as-repeats"}).code.status, kUsage);
  EXPECT_EQ(run({"merge", "nothing.json"}).code.status, kFailed);
  EXPECT_EQ(run({"merge", "a.json", "nothing.json"}).code.status, kInPart);
}

TEST_F(MergedReports, AreRefusedByCommandsThatReadSamples) {
  make("a", "1");
  for (const std::string command : {"audit", "annotate", "samples", "inspect"}) {
    const auto refused = run({command, "a.json"});
    EXPECT_EQ(refused.code.status, kFailed) << command;
    EXPECT_THAT(refused.err, HasSubstr("JSON text, such as a report of skidscan")) << command;
    EXPECT_THAT(refused.err, HasSubstr("name the recording that it was made from")) << command;
  }
}

TEST(PublicRecordings, AreReadAgainFromTheirReports) {
  if (const auto reason = test::why_no_recordings(); !reason.empty()) GTEST_SKIP() << reason;
  const test::TemporaryDirectory directory;
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::recordings_directory())) {
    if (entry.path().extension() != ".data") continue;
    const auto reported = test::skidscan({"report", entry.path().string(), "--format", "json"});
    if (reported.code.status != kDone && reported.code.status != kInPart) continue;
    const auto file = directory / "report.json";
    std::ofstream(file, std::ios::binary) << reported.out;
    const auto again = test::skidscan({"report", file.string(), "--format", "json"});
    EXPECT_EQ(again.code.status, reported.code.status) << entry.path();
    EXPECT_EQ(again.out, reported.out) << entry.path();
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace skid
