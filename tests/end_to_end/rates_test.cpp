// `skidscan rates` on the output of perf stat of this and of other machines.
#include "src/support/process.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

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
using ::testing::IsEmpty;
using ::testing::Not;

class Rates : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return (directory_ / name).string();
  }
  /// `skidscan rates < FILE`.
  static Completed rates_of_input(const std::string& path, const std::string& arguments = "") {
    return run_program(
        {"sh", "-c", "\"$0\" rates " + arguments + " < \"$1\"", test::skidscan_program(), path});
  }
  static json json_of(const std::string& path, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"rates", path, "--format", "json"});
    const auto printed = test::skidscan(arguments);
    EXPECT_EQ(printed.code.status, 0) << printed.err;
    return json::parse(printed.out);
  }

  test::TemporaryDirectory directory_;
};

const json& rate(const json& rates, const std::string& name) {
  for (const auto& rate : rates) {
    if (rate["name"] == name) return rate;
  }
  throw std::out_of_range(name);
}

constexpr const char* kLoads = R"(# started on Thu Jan  1 00:00:00 1970

200,,r40d1,1000,100.00,,
700,,MEM_LOAD_RETIRED:L1_HIT,1000,100.00,,
100,,cpu/event=0xd1,umask=0x8/,1000,100.00,,
60,,mem_load_uops_retired.l2_hit,1000,100.00,,
40,,cpu/mem_load_retired.l2_miss/,1000,100.00,,
25,,r4d1,1000,100.00,,
15,,mem_load_retired.l3_miss,1000,50.00,,
<not counted>,,mem_inst_retired.all_loads,0,0.00,,
30,,r2124,1000,100.00,,
120,,re124,1000,100.00,,
)";

TEST_F(Rates, PrintIntervalsOfLoads) {
  const auto path = write("loads", kLoads);
  const auto printed = rates_of_input(path);
  EXPECT_EQ(printed.code.status, 0);
  EXPECT_THAT(printed.err, IsEmpty());
  EXPECT_THAT(
      printed.out,
      AllOf(HasSubstr("standard input: read as the output of perf stat -x,"),
            HasSubstr("  L1 miss         30.00% "), HasSubstr("  local L3 miss   6.25% to 89.58% "),
            HasSubstr("demand data read miss  25.00% "), HasSubstr("missing ALL_LOADS"),
            HasSubstr("'mem_load_retired.l3_miss' (50.00%)"), HasSubstr("was not counted"),
            HasSubstr("residual 0 (0.00% of the larger)"),
            HasSubstr("not computed; missing of their counts: cycle")));
  const auto pinned = test::skidscan({"rates", path, "--lfb-l2", "0.5", "--lfb-l3", "0.25"});
  EXPECT_THAT(pinned.out, AllOf(HasSubstr("a = 0.5, b = 0.25"), HasSubstr("miss   46.43% ")));
}

TEST_F(Rates, GiveTheSameAsJson) {
  const auto path = write("loads", kLoads);
  const auto report = json_of(path);
  EXPECT_EQ(report["file"], path);
  EXPECT_EQ(report["form"], "separated");
  EXPECT_EQ(report["separator"], ",");
  ASSERT_EQ(report["events"].size(), 10U);
  EXPECT_EQ(report["events"][2]["name"], "cpu/event=0xd1,umask=0x8/");
  EXPECT_EQ(report["events"][2]["quantity"], "L1_MISS");
  EXPECT_EQ(report["events"][2]["value"], 100);
  EXPECT_EQ(report["events"][6]["running_percent"], 50);
  EXPECT_EQ(report["events"][7]["state"], "not counted");
  EXPECT_TRUE(report["events"][7]["value"].is_null());
  EXPECT_EQ(report["events"][8]["l2_rqsts_umask"], "0x21");
  const auto& miss = rate(report["loads"], "local L3 miss");
  EXPECT_DOUBLE_EQ(miss["low"].get<double>(), 15 / 240.0);
  EXPECT_DOUBLE_EQ(miss["high"].get<double>(), 215 / 240.0);
  EXPECT_EQ(report["identities"][0]["missing"], json{"ALL_LOADS"});
  EXPECT_EQ(report["identities"][1]["residual"], 0);
  EXPECT_TRUE(rate(report["backend"], "memory")["low"].is_null());
  EXPECT_EQ(report["warnings"].size(), 2U);
  EXPECT_EQ(json_of(path, {"--lfb-l2", "1"})["lfb_shares"], (json{{"l2", 1.0}, {"l3", nullptr}}));
}

TEST_F(Rates, ReadWhatPerfStatPrintsHere) {
  if (!find_program("perf")) GTEST_SKIP() << "perf is not installed";
  const std::string out = (directory_ / "out").string();
  for (const auto& [options, form] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"-x,"}, "separated"},
           {{"-j"}, "json"},
           {{"-r", "3", "-x,"}, "separated"},
           {{"-r", "3", "-j"}, "json"},
           {{"-I", "10", "-x,"}, "separated"},
           {{"-I", "10", "-j"}, "json"}}) {
    std::vector<std::string> command = {"perf", "stat", "-o",
                                        out,    "-e",   "task-clock,page-faults:u,page-faults"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", "sleep", "0.02"});
    const auto counted = run_program(command);
    if (!counted.code.success()) GTEST_SKIP() << "perf cannot count here: " << counted.err;
    const auto report = json_of(out);
    EXPECT_EQ(report["form"], form);
    ASSERT_EQ(report["events"].size(), 3U) << test::content_of(out);
    EXPECT_EQ(report["events"][0]["name"], "task-clock");
    EXPECT_GT(report["events"][0]["value"], 0);
    EXPECT_EQ(report["events"][2]["name"], "page-faults");
    EXPECT_GT(report["events"][2]["value"], 10);
    EXPECT_TRUE(report["remarks"].empty()) << report["remarks"];
    EXPECT_TRUE(report["warnings"].empty()) << report["warnings"];
    EXPECT_EQ(rates_of_input(out).code.status, 0);
  }
}

TEST_F(Rates, ReportWrongInput) {
  const auto refused = [](const std::vector<std::string>& arguments, int status) {
    const auto printed = test::skidscan(arguments);
    EXPECT_EQ(printed.code.status, status);
    EXPECT_THAT(printed.out, IsEmpty());
    return printed.err;
  };
  const auto nothing = write("nothing", "no counts in here\n");
  EXPECT_THAT(refused({"rates", nothing}, 1), HasSubstr("no count of perf stat"));
  EXPECT_THAT(
      refused({"rates", write("table", " Performance counter stats for 'x':\n\n 7 cycles\n")}, 1),
      HasSubstr("count with -j"));
  EXPECT_THAT(refused({"rates", (directory_ / "gone").string()}, 1), HasSubstr("no such file"));
  const auto loads = write("loads", kLoads);
  EXPECT_THAT(refused({"rates", loads, "--lfb-l2", "0.8", "--lfb-l3", "0.3"}, 64),
              HasSubstr("at most 1"));
  EXPECT_THAT(refused({"rates", loads, "--lfb-l2", "1.5"}, 64), HasSubstr("--lfb-l2"));
  EXPECT_THAT(refused({"rates", loads, "--lfb-l2", "nan"}, 64), HasSubstr("--lfb-l2"));
  EXPECT_THAT(refused({"rates", "/dev/zero"}, 1), HasSubstr("a device"));
  EXPECT_THAT(rates_of_input("/dev/zero").err, HasSubstr("more than"));
}

TEST_F(Rates, ShowHostileNamesEscaped) {
  // Control characters come through JSON alone, bytes that are no UTF-8 through the others.
  const auto named =
      write("json", R"({"counter-value" : "5", "event" : "cycles:u"})"
                    "\n"
                    R"({"counter-value" : "7", "event" : "ev\u001b[2J\u0007\u202eil"})"
                    "\n");
  const auto text = test::skidscan({"rates", named});
  EXPECT_EQ(text.code.status, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("ev\\x1b[2J\\x07"), Not(HasSubstr("\x1b")),
                              Not(HasSubstr("\x07")), Not(HasSubstr("\xe2\x80\xae"))));
  EXPECT_EQ(json_of(named)["events"][1]["name"], "ev\x1b[2J\x07\xe2\x80\xaeil");

  const auto bytes = write("bytes", "5,,cycles:u,1,100.00,,\n7,,ev\xe2\x80\xaeil\xff,1,100.00,,\n");
  const auto shown = test::skidscan({"rates", bytes});
  EXPECT_EQ(shown.code.status, 0);
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("il\\xff"), Not(HasSubstr("\xff")), Not(HasSubstr("\xe2\x80\xae"))));
  EXPECT_EQ(json_of(bytes)["events"][1]["name"], "ev\xe2\x80\xaeil\xef\xbf\xbd");
}

}  // namespace
}  // namespace skid
