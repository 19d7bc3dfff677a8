// Recordings of aarch64 in the hands of every command, on any host. They are synthetic, of a target
// that is built for the test, so that what must be found is known.
#include "src/support/process.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
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

class Aarch64 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("aarch64-linux-gnu-gcc")) {
      GTEST_SKIP() << "no aarch64-linux-gnu-gcc in PATH";
    }
    const auto written = run({"synth", "--like", "arm-pmu", "-o", "a.data"});
    ASSERT_TRUE(written.code.success()) << written.err;
    truth_ = json::parse(
        test::content_of(directory_ / "a.data.truth.json"))["recordings"][0]["measurements"];
  }

  Completed run(const std::vector<std::string>& arguments) const {
    return test::skidscan(arguments, directory_.path());
  }
  json json_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto done = run(arguments);
    EXPECT_EQ(done.code.status, 0) << done.err;
    return json::parse(done.out);
  }

  test::TemporaryDirectory directory_;
  json truth_;
};

TEST_F(Aarch64, ReportsFindTheTruthAndJudgeBreakpointsOnly) {
  const json found = json_of({"report", "a.data"})["measurements"];
  ASSERT_EQ(found.size(), truth_.size());
  std::map<std::string, std::set<std::string>> verdicts;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const json& contract = found[i]["contract"];
    EXPECT_EQ(found[i]["cpu"]["arch"], "aarch64");
    EXPECT_EQ(found[i]["cpu"]["vendor"], "0x41");
    EXPECT_EQ(found[i]["cpu"]["model"], 0xd0c);
    EXPECT_EQ(found[i]["samples"], truth_[i]["samples"]);
    const std::string event = truth_[i]["event"];
    const std::string evidence = contract["evidence"];
    if (event == "access" && truth_[i]["precise_ip"] > 0) {
      EXPECT_THAT(evidence, HasSubstr("at its known offset 0, the trigger: "));
    }
    if (truth_[i]["precise_ip"] == 2) verdicts[event].insert(contract["verdict"]);
    if (event == "r3") {
      EXPECT_THAT(evidence, HasSubstr("Arm have no precise levels"));
    }
    if (event == "cycles" && truth_[i]["precise_ip"] == 2) {
      EXPECT_THAT(evidence, AllOf(HasSubstr("any instruction can cause this event"),
                                  HasSubstr("Arm have no precise levels")));
    }
  }
  EXPECT_EQ(verdicts, (std::map<std::string, std::set<std::string>>{{"access", {"not judged"}},
                                                                    {"cycles", {"not judged"}},
                                                                    {"execute", {"not judged"}},
                                                                    {"r3", {"not judged"}}}));
  const auto text = run({"report", "a.data", "--details"});
  EXPECT_THAT(text.out, Not(HasSubstr("TSC")));
}

TEST_F(Aarch64, RunsHaveTheTicksOfTheirOwnCounter) {
  ASSERT_TRUE(run({"synth", "--all-levels", "--like", "arm-pmu", "-o", "a.run"}).code.success());
  const auto text = run({"report", "a.run", "--details"});
  EXPECT_EQ(text.code.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("CNTVCT ticks"), Not(HasSubstr("TSC"))));
}

TEST_F(Aarch64, AuditsCompareWatchpointsWithTheSampledInstruction) {
  const json audit = json_of({"audit", "a.data", "--all"})["recordings"][0];
  for (const json& event : audit["events"]) {
    const std::string name = event["event"];
    EXPECT_EQ(event["impossible"], 0) << name;
    if (name == "r3" || name == "cycles") {
      EXPECT_EQ(event["rule"], "none");
      EXPECT_EQ(event["not_judged"]["no_precise_levels"], event["samples"]);
    } else {
      EXPECT_EQ(event["rule"], name.ends_with(":rw") ? "data_watchpoint" : "execute_breakpoint");
      EXPECT_EQ(event["judged"], event["samples"]);
    }
  }
}

TEST_F(Aarch64, AnnotatedCodeIsThatOfTheTarget) {
  const json annotated = json_of({"annotate", "a.data", "-e", "mem:0x420000/8:rw"});
  const json& code = annotated["codes"].at(0);
  EXPECT_EQ(code["arch"], "aarch64");
  bool has_trigger = false, has_branch = false;
  for (const json& row : code["rows"]) {
    EXPECT_TRUE(row["counts"][0]["verdict"].is_null());
    has_branch = has_branch || row["destination"] == "skid_loop";
    if (row["first_offset"] != 0) continue;
    has_trigger = true;
    EXPECT_EQ(row["text"], "ldr x1, [x10]");
    EXPECT_EQ(row["counts"][0]["samples"], 6000);
  }
  EXPECT_TRUE(has_trigger);
  EXPECT_TRUE(has_branch);
}

TEST_F(Aarch64, SamplesHaveTheTargetsSymbols) {
  const auto done = run({"samples", "a.data", "--columns", "event,sym,symoff"});
  ASSERT_EQ(done.code.status, 0) << done.err;
  std::istringstream lines(done.out);
  std::uint64_t on_trigger = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("mem:") != std::string::npos &&
        line.find("skid_trigger\t0") != std::string::npos) {
      ++on_trigger;
    }
    EXPECT_THAT(line, AllOf(Not(HasSubstr("$x")), Not(HasSubstr("$d"))));
  }
  EXPECT_EQ(on_trigger, 18'000u);
}

TEST_F(Aarch64, RefusesAModelAndATargetOfDifferentArchitectures) {
  ASSERT_TRUE(run({"target", "--arch", "aarch64", "-o", "t"}).code.success());
  const auto intel = run({"synth", "--like", "pebs-sound", "--target", "t", "-o", "b.data"});
  EXPECT_EQ(intel.code.status, 1);
  EXPECT_THAT(intel.err, HasSubstr("aarch64, which no CPU of the model's vendor GenuineIntel"));
  // A model that names no vendor is of the architecture of its target.
  ASSERT_TRUE(run({"synth", "--like", "no-pebs", "--target", "t", "-o", "c.data"}).code.success());
  EXPECT_EQ(json_of({"report", "c.data"})["measurements"][0]["cpu"]["arch"], "aarch64");
}

TEST_F(Aarch64, PlacesSamplesInAnyBinary) {
  std::ofstream(directory_ / "p.c") << "int main(int c, char **v) { return v[c - 1][0]; }\n";
  ASSERT_TRUE(run_program({"aarch64-linux-gnu-gcc", "-O1", "-shared", "-fPIC", "-nostdlib",
                           "-Wl,--build-id=sha1", "-o", "p.so", "p.c"},
                          directory_.path())
                  .code.success());
  std::ofstream(directory_ / "places.json") << R"({
    "binary": "p.so",
    "machine": {"vendor": "0x41", "model": 3340, "stepping": 1},
    "events": [{"event": "write", "breakpoint": {"address": 4325376, "access": "w"}, "period": 7,
      "levels": [{"level": 0, "places": [
        {"category": "load", "function": "main", "samples": 30}]}]}]})";
  const auto placed =
      run_program({SKIDSCAN_PLACE_SAMPLES, "places.json", "b.data"}, directory_.path());
  ASSERT_EQ(placed.code.status, 0) << placed.err;
  const json truth = json::parse(test::content_of(directory_ / "b.data.truth.json"));
  const json& place = truth["events"][0]["places"][0];
  EXPECT_EQ(place["symbol"], "main");
  EXPECT_EQ(place["categories"], json::array({"LOAD"}));
  EXPECT_TRUE(place["verdict"].is_null());
  EXPECT_THAT(place["ip"].get<std::string>(), ::testing::StartsWith("0xaaaaaaaa"));
  const json event = json_of({"audit", "b.data"})["recordings"][0]["events"][0];
  EXPECT_EQ(event["rule"], "write_watchpoint");
  EXPECT_EQ(event["impossible"], 30) << "a load writes nothing";
  EXPECT_EQ(event["instructions"][0]["function"], "main");
}

/// What an emulated machine recorded: tests/data/aarch64/README.md.
class RecordedAarch64 : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory_symlink(data_, directory_ / "targets");
  }

  json json_of(const std::string& command, const std::string& file,
               std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{command,           data_ / file, "--symfs",
                                       directory_.path(), "--format",   "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = test::skidscan(arguments, directory_.path());
    EXPECT_EQ(done.code.status, 0) << done.err;
    return json::parse(done.out);
  }

  std::filesystem::path data_ = std::filesystem::path(SKIDSCAN_TEST_DATA) / "data/aarch64";
  test::TemporaryDirectory directory_;
};

TEST_F(RecordedAarch64, WatchpointsStopAtTheTriggerItself) {
  const json annotated = json_of("annotate", "access.data");
  const json& code = annotated["codes"].at(0);
  EXPECT_EQ(code["arch"], "aarch64");
  std::uint64_t elsewhere = 0;
  for (const json& row : code["rows"]) {
    for (const json& count : row["counts"]) {
      if (row["part"] == "trigger") {
        EXPECT_EQ(count["samples"], 323);
        EXPECT_EQ(row["text"], "ldr x1, [x10]");
        EXPECT_EQ(row["begin"], "0x4010d0");
      } else {
        elsewhere += count["samples"].get<std::uint64_t>();
      }
    }
  }
  EXPECT_EQ(elsewhere, 0u);
  const json audit = json_of("audit", "access.data")["recordings"][0];
  ASSERT_EQ(audit["events"].size(), 2u);
  for (const json& event : audit["events"]) {
    EXPECT_EQ(event["rule"], "data_watchpoint");
    EXPECT_EQ(event["verdicts"]["conditional"], 323);
    EXPECT_EQ(event["judged"], 323);
  }
}

TEST_F(RecordedAarch64, FaultsAreAtTheLoadThatTouchesThePage) {
  const json event = json_of("audit", "faults.data")["recordings"][0]["events"].at(0);
  EXPECT_EQ(event["rule"], "page_fault");
  EXPECT_EQ(event["verdicts"]["conditional"], event["samples"]);
  EXPECT_EQ(event["samples"], 445);
}

TEST_F(RecordedAarch64, TheCoresEventsAreNotJudgedAtAnyLevel) {
  const json audit = json_of("audit", "cycles.data")["recordings"][0];
  ASSERT_EQ(audit["events"].size(), 3u);
  for (const json& event : audit["events"]) {
    const json reasons = event["not_judged"];
    const json wanted =
        event["samples"] == 0 ? json::object() : json{{"no_precise_levels", event["samples"]}};
    EXPECT_EQ(reasons, wanted);
    EXPECT_EQ(event["rule"], "none");
  }
}

TEST_F(RecordedAarch64, HasNoSkidThatCouldBeTakenOut) {
  const json accesses = json_of("correct", "access.data")["recordings"][0]["events"];
  ASSERT_EQ(accesses.size(), 2u);
  for (const json& event : accesses) {
    EXPECT_EQ(event["verdict"], "nothing_to_correct");
    ASSERT_EQ(event["places"].size(), 1u);
    EXPECT_EQ(event["places"][0]["address"], "0x4010d0");
    EXPECT_EQ(event["places"][0]["recorded"], 323);
    EXPECT_EQ(event["places"][0]["corrected"], 323);
  }
  const json counted = json_of("correct", "cycles.data")["recordings"][0]["events"];
  ASSERT_EQ(counted.size(), 3u);
  for (const json& event : counted) {
    EXPECT_EQ(event["verdict"], "refused");
    EXPECT_THAT(event["reason"].get<std::string>(),
                HasSubstr(event["event"] == "cycles" ? "every instruction takes cycles"
                                                     : "ignores the precise level"));
    EXPECT_THAT(event["advice"].get<std::string>(), HasSubstr("SPE"));
  }
}

TEST_F(RecordedAarch64, DistinguishesAddressesOfTheKernelAndOfProcesses) {
  const auto done = test::skidscan({"samples", data_ / "system.data", "--columns", "mode,ip,dso"},
                                   directory_.path());
  EXPECT_EQ(done.code.status, 0) << done.err;
  std::istringstream lines(done.out);
  std::string line;
  std::getline(lines, line);  // the names of the columns
  std::map<std::string, std::uint64_t> modes;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string mode, ip;
    fields >> mode >> ip;
    ++modes[mode];
    const std::uint64_t address = std::stoull(ip, nullptr, 16);
    // 48 bits: the lower half of the addresses is a process's, the upper the kernel's.
    EXPECT_EQ(address >> 48, mode == "kernel" ? 0xffffU : 0U) << line;
  }
  EXPECT_GT(modes["kernel"], 0u);
}

}  // namespace
}  // namespace skid
