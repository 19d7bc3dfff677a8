// `skidscan compare` as a user runs it, on runs whose skid is known.
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
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
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using test::kDone;
using test::kFailed;
using test::kGateFailed;
using test::kInPart;
using test::kUsage;

/// A model of one event, `levels` of it as JSON.
std::string model_of(const std::string& event, const std::string& levels,
                     const std::string& kernel = "6.1") {
  return R"({"schema": "skidscan.model/1", "name": "test", "seed": 3,
    "target": {"trigger": "load", "nops": 300}, "machine": {"kernel": ")" +
         kernel + R"("}, "events": [{"event": ")" + event + R"(", "period": 7, "levels": [)" +
         levels + "]}]}";
}

class Compare : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
  }
  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  /// A run of that name made from a model.
  void make_run(const std::string& name, const std::string& model,
                std::vector<std::string> arguments = {}) const {
    std::ofstream(at("model.json")) << model;
    arguments.insert(arguments.begin(), {"synth", "model.json", "--all-levels", "-o", name});
    const auto made = test::skidscan(arguments, directory_.path());
    ASSERT_EQ(made.code.status, kDone) << made.err;
  }
  Completed compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "compare");
    return test::skidscan(arguments, directory_.path());
  }
  json comparison_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto compared = compare(arguments);
    EXPECT_EQ(compared.code.status, kDone) << compared.err;
    return json::parse(compared.out);
  }

  test::TemporaryDirectory directory_;
};

constexpr const char* kOnTheSpot =
    R"({"level": 2, "samples": 5000, "hits": 1, "offsets": {"kind": "constant", "offset": 0}})";
constexpr const char* kOneLate =
    R"({"level": 2, "samples": 5000, "offsets": {"kind": "constant", "offset": 1}})";

TEST_F(Compare, DetectsAKnownDifferenceOfSkid) {
  // As an execute breakpoint traps, and as a data breakpoint does on x86.
  make_run("before.run", model_of("access:u", kOnTheSpot));
  make_run("after.run", model_of("access:u", kOneLate));
  make_run("again.run", model_of("access:u", kOnTheSpot), {"--seed", "8"});
  const json compared = comparison_of({"before.run", "after.run", "again.run"});
  ASSERT_EQ(compared["rows"].size(), 1u);
  const auto& cells = compared["rows"][0]["cells"];
  EXPECT_EQ(cells[1]["outcome"], "worse");
  EXPECT_EQ(cells[1]["differences"]["mean"]["difference"], 1.0);
  EXPECT_EQ(cells[1]["differences"]["hit_ratio"]["difference"], -1.0);
  EXPECT_EQ(cells[1]["differences"]["distribution"]["wasserstein"], 1.0);
  EXPECT_EQ(cells[2]["outcome"], "no difference shown");
  const json turned = comparison_of({"before.run", "after.run", "--baseline", "after.run"});
  EXPECT_EQ(turned["baseline"], "b");
  EXPECT_EQ(turned["rows"][0]["cells"][0]["outcome"], "better");
}

TEST_F(Compare, TheGatePassesForEqualAndFailsForWorseAndMissing) {
  make_run("good.run", model_of("access:u", kOnTheSpot));
  make_run("same.run", model_of("access:u", kOnTheSpot), {"--seed", "8"});
  make_run("worse.run", model_of("access:u", kOneLate));
  make_run("other.run", model_of("faults:u", kOnTheSpot));
  const auto gate = [&](const std::string& input) {
    return compare({input, "--baseline", "good.run", "--fail-on", "worse"});
  };
  EXPECT_EQ(gate("same.run").code.status, kDone);
  EXPECT_EQ(gate("worse.run").code.status, kGateFailed);
  EXPECT_THAT(gate("worse.run").err, HasSubstr("1 worse than the baseline, 0 missing"));
  EXPECT_EQ(gate("other.run").code.status, kGateFailed);
  EXPECT_THAT(gate("other.run").err, HasSubstr("0 worse than the baseline, 1 missing"));
  EXPECT_EQ(compare({"good.run", "worse.run"}).code.status, kDone);
}

TEST_F(Compare, RunsOfTwoModelsDifferWhereTheModelsDo) {
  for (const std::string model : {"pebs-sound", "vm-broken"}) {
    const auto made =
        test::skidscan({"synth", "--like", model, "--all-levels", "-o", model}, directory_.path());
    ASSERT_EQ(made.code.status, kDone) << made.err;
  }
  const auto text = compare({"pebs-sound", "vm-broken", "--details"});
  EXPECT_EQ(text.code.status, kDone);
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("SYNTHETIC"), HasSubstr("r81d0, pp: b against a: worse"),
                    HasSubstr("kept -> broken"), HasSubstr("cycles:u"), HasSubstr("only in b")));
  const auto csv = compare({"pebs-sound", "vm-broken", "--format", "csv"});
  EXPECT_THAT(csv.out, AllOf(HasSubstr("side,inputs,cpu"), HasSubstr("not in the baseline")));
}

TEST_F(Compare, RepeatsAreComparedOverRuns) {
  const std::string levels =
      R"({"level": 2, "samples": 3000, "hits": 0.7,
          "offsets": {"kind": "uniform", "lowest": 20, "highest": 60}})";
  make_run("a.run", model_of("r81d0:u", levels), {"--repeat", "3"});
  make_run("b.run", model_of("r81d0:u", levels), {"--repeat", "3", "--seed", "4"});
  const json over_runs = comparison_of({"a.run", "b.run"});
  const auto& cell = over_runs["rows"][0]["cells"][1];
  EXPECT_EQ(cell["over"], "runs");
  EXPECT_EQ(cell["measurements"].size(), 3u);
  EXPECT_THAT(cell["outcome"].get<std::string>(),
              ::testing::AnyOf("no difference shown", "too few to tell"));
  // Runs of one machine by machine: all six are repeats, and there is nothing else.
  const auto machine = compare({"a.run", "b.run", "--by", "machine"});
  EXPECT_EQ(machine.code.status, kUsage);
  EXPECT_THAT(machine.err, HasSubstr("of one machine"));
  make_run("c.run", model_of("r81d0:u", levels, "6.12"), {"--repeat", "2"});
  const json by_machine = comparison_of({"a.run", "c.run", "b.run", "--by", "machine"});
  ASSERT_EQ(by_machine["sides"].size(), 2u);
  EXPECT_EQ(by_machine["sides"][0]["inputs"], json({"a.run", "b.run"}));
  EXPECT_EQ(by_machine["rows"][0]["cells"][0]["measurements"].size(), 6u);
}

TEST_F(Compare, AcceptsReportsInPlaceOfRuns) {
  make_run("a.run", model_of("access:u", kOnTheSpot), {"--repeat", "3"});
  make_run("b.run", model_of("access:u", kOneLate), {"--repeat", "2"});
  for (const std::string name : {"a", "b"}) {
    const auto report =
        test::skidscan({"report", name + ".run", "--format", "json"}, directory_.path());
    ASSERT_EQ(report.code.status, kDone) << report.err;
    std::ofstream(at(name + ".json")) << report.out;
  }
  json of_runs = comparison_of({"a.run", "b.run"});
  json of_reports = comparison_of({"a.json", "b.json"});
  EXPECT_EQ(of_reports["sides"][1]["inputs"], json({"b.json"}));
  for (json* comparison : {&of_runs, &of_reports}) {
    for (auto& side : (*comparison)["sides"]) side.erase("inputs");
  }
  EXPECT_EQ(of_reports, of_runs);
  EXPECT_EQ(of_runs["rows"][0]["cells"][1]["measurements"].size(), 2u);
  EXPECT_EQ(comparison_of({"a.run", "b.json"})["rows"], of_runs["rows"]);
}

TEST_F(Compare, ReportsUnreadableInputsAndComparesTheRest) {
  make_run("a.run", model_of("access:u", kOnTheSpot));
  make_run("b.run", model_of("access:u", kOnTheSpot));
  const auto three = compare({"a.run", "nowhere", "b.run"});
  EXPECT_EQ(three.code.status, kInPart);
  EXPECT_THAT(three.err, HasSubstr("nowhere"));
  EXPECT_THAT(three.out, HasSubstr("none shown"));
  EXPECT_EQ(compare({"a.run", "nowhere"}).code.status, kFailed);
  EXPECT_EQ(compare({"nowhere", "a.run", "b.run"}).code.status, kFailed);
}

TEST_F(Compare, RefusesWrongUsage) {
  make_run("a.run", model_of("access:u", kOnTheSpot));
  EXPECT_EQ(compare({}).code.status, kUsage);
  const auto one = compare({"a.run"});
  EXPECT_EQ(one.code.status, kUsage);
  EXPECT_THAT(one.err, HasSubstr("name at least two inputs"));
  for (const std::string effect : {"2", "-1", "0.1,", "0.1,x", ",1", "nan", "0.1,-3"}) {
    const auto compared = compare({"a.run", "a.run", "--min-effect=" + effect});
    EXPECT_EQ(compared.code.status, kUsage) << effect;
    EXPECT_THAT(compared.err, HasSubstr("--min-effect " + effect + ": expected a share"));
  }
  EXPECT_EQ(compare({"a.run", "a.run", "--min-effect", "0.01,2"}).code.status, kDone);
  EXPECT_EQ(compare({"a.run", "a.run", "--plot", "f.bmp"}).code.status, kUsage);
}

TEST_F(Compare, HostileNamesDoNotReachTheTerminal) {
  const std::string name = "a\x1b[2J\n$(touch owned)'.run";
  make_run(name, model_of("access:u", kOnTheSpot, "6.1\u202e evil"));
  make_run("b.run", model_of("access:u", kOneLate));
  std::vector<std::string> arguments{name, "b.run"};
  if (find_program("gnuplot")) arguments.insert(arguments.end(), {"--plot", "f.svg"});
  const auto compared = compare(arguments);
  EXPECT_EQ(compared.code.status, kDone) << compared.err;
  EXPECT_THAT(compared.out,
              AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e")), HasSubstr("worse")));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "owned"));
}

}  // namespace
}  // namespace skid
