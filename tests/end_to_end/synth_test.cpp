// `skidscan synth` as a user runs it, and its recordings in the eyes of perf.
#include "runway/target.h"
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
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
using test::kUsage;

/// Everything that a model can have, at two events of which one was recorded instead of the
/// requested one.
constexpr const char* kSyntheticModel = R"({
  "schema": "skidscan.model/1", "name": "everything", "seed": 99,
  "target": {"trigger": "branch-taken", "nops": 200, "lead_in_nops": 30},
  "buffers": {"cpus": 4, "round_samples": 97},
  "events": [
    {"event": "r20d1:u", "period": 1009, "events_per_iteration": 2, "levels": [
      {"level": 0, "samples": 3000, "hits": 0.1,
       "offsets": {"kind": "empirical", "counts": [[-60, 400, 3], [30, 300, 2], [7, 1]]},
       "elsewhere": {"kernel": 0.1, "foreign": 0.2, "unmapped": 0.05, "loop": 0.05,
                     "other_trigger": 0.1, "iteration": 0.05},
       "exact_ip": 0.3, "throttled": 5},
      {"level": 2, "samples": 2000, "hits": 0.9, "offsets": {"kind": "constant", "offset": 1},
       "other_triggers": 0.25, "shadow": {"lowest": 1, "highest": 500},
       "address": {"cause": 0.25, "elsewhere": 0.5}, "exact_ip": {"hits": 1, "misses": 0.5}},
      {"level": 1, "samples": 500,
       "offsets": {"kind": "normal_cycles", "mean": 40, "stddev": 20, "retire_group": 4}},
      {"level": 3, "refused": "not supported"}]},
    {"event": "cycles", "period": 4000, "recorded": {"event": "cpu-clock"}, "levels": [
      {"level": 3, "offsets": {"kind": "empirical", "counts": [[0, 5], [1, 40, 77], [300, 3]]}}]}
  ]})";

class Synth : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
    std::ofstream(directory_ / "model.json") << kSyntheticModel;
  }
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }

  Completed synth(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "synth");
    return test::skidscan(arguments, directory_.path());
  }
  json report_of(const std::string& input) const {
    const auto reported = test::skidscan({"report", input, "--format", "json"}, directory_.path());
    EXPECT_EQ(reported.code.status, kDone) << reported.err;
    return json::parse(reported.out);
  }
  json json_in(const std::string& name) const {
    return json::parse(test::content_of(directory_ / name));
  }

  test::TemporaryDirectory directory_;
};

// A CPU that is newer than the built-in tables.
TEST_F(Synth, OfACpuThatEventFilesAloneKnowIsJudgedByThem) {
  std::ofstream(directory_ / "rapids.json") << R"({
    "schema": "skidscan.model/1", "name": "rapids", "target": {"trigger": "load-dram"},
    "machine": {"vendor": "GenuineIntel", "family": 6, "model": 254, "stepping": 2},
    "events": [
      {"event": "r412e", "period": 1009, "levels": [
        {"level": 2, "samples": 5000, "hits": 1, "offsets": {"kind": "constant", "offset": 1}}]},
      {"event": "r20d1", "period": 1009, "levels": [
        {"level": 2, "samples": 5000, "hits": 1, "offsets": {"kind": "constant", "offset": 1}}]}]})";
  std::filesystem::create_directories(directory_ / "perfmon/EMR");
  std::ofstream(directory_ / "perfmon/mapfile.csv")
      << "Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name\n"
         "GenuineIntel-6-FE,V1.02,/EMR/emr_core.json,core,,,\n";
  std::ofstream(directory_ / "perfmon/EMR/emr_core.json") << R"({"Header": {}, "Events": [
    {"EventCode": "0x2e", "UMask": "0x41", "EventName": "LONGEST_LAT_CACHE.MISS", "Precise": "0"},
    {"EventCode": "0xd1", "UMask": "0x20", "EventName": "MEM_LOAD_RETIRED.L3_MISS",
     "Precise": "1"}]})";
  ASSERT_EQ(synth({"rapids.json", "-o", "rapids.data"}).code.status, kDone);

  const auto verdicts = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"report", "rapids.data", "--format", "json"});
    const auto reported = test::skidscan(arguments, directory_.path());
    EXPECT_EQ(reported.code.status, kDone) << reported.err;
    std::vector<std::string> found;
    const json report = json::parse(reported.out);
    for (const auto& measurement : report["measurements"]) {
      found.push_back(measurement["contract"]["verdict"]);
    }
    return found;
  };
  EXPECT_EQ(verdicts({}), (std::vector<std::string>{"not judged", "not judged"}));
  EXPECT_EQ(verdicts({"--perfmon", "perfmon"}), (std::vector<std::string>{"not judged", "kept"}));

  const auto nowhere =
      test::skidscan({"report", "rapids.data", "--perfmon", "nowhere"}, directory_.path());
  EXPECT_EQ(nowhere.code.status, kFailed);
  EXPECT_THAT(nowhere.err, HasSubstr("nowhere"));
}

/// What report must say of the measurements of a recording, by the truth beside it.
void expect_found(const json& recording, const json& report) {
  const json& wanted = recording["measurements"];
  const json& found = report["measurements"];
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(found[i]["synthetic"], true);
    EXPECT_EQ(found[i]["samples"], wanted[i]["samples"]);
    EXPECT_EQ(found[i]["precise"]["recorded"], wanted[i]["precise_ip"]);
    EXPECT_EQ(found[i]["precise"]["exact_ip_samples"], wanted[i]["exact_ip_samples"]);
    EXPECT_EQ(found[i]["lost_records"], recording["lost"]);
    EXPECT_EQ(found[i]["throttled"], recording["throttled"]);
    json offsets = json::array();
    for (const json& bin : found[i]["histogram"]["bins"]) {
      offsets.push_back({bin["lo"], bin["count"]});
    }
    EXPECT_EQ(offsets, wanted[i]["offsets"]);
  }
}

TEST_F(Synth, WritesTargetAndTruthBesideARecordingThatReportFindsThem) {
  const auto written = synth({"model.json", "-o", "a.data"});
  ASSERT_EQ(written.code.status, kDone) << written.err;
  EXPECT_THAT(written.out, HasSubstr("5585 synthetic samples of the model everything, seed 99"));
  const json truth = json_in("a.data.truth.json");
  const json report = report_of("a.data");
  expect_found(truth["recordings"][0], report);
  EXPECT_EQ(report["measurements"][3]["event"]["swapped"], true);
  const auto text = test::skidscan({"report", "a.data"}, directory_.path());
  EXPECT_THAT(text.out, HasSubstr("SYNTHETIC"));
  const auto inspected = test::skidscan({"inspect", "a.data"}, directory_.path());
  EXPECT_EQ(inspected.code.status, kDone) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("skidscan synth"));
}

TEST_F(Synth, WritesAPipeToStandardOutput) {
  const auto piped =
      run_program({"sh", "-c", R"("$1" synth model.json -o - | "$1" report - --format json)", "sh",
                   test::skidscan_program()},
                  directory_.path());
  ASSERT_EQ(piped.code.status, kDone) << piped.err;
  expect_found(json_in("synth.data.truth.json")["recordings"][0], json::parse(piped.out));
}

TEST_F(Synth, ReplacesNothingWithoutForce) {
  ASSERT_EQ(synth({"model.json", "-o", "a.data"}).code.status, kDone);
  const std::string before = test::content_of(directory_ / "a.data");
  const auto again = synth({"model.json", "-o", "a.data", "--seed", "5"});
  EXPECT_EQ(again.code.status, kUsage);
  EXPECT_THAT(again.err, HasSubstr("a.data: exists; --force replaces it"));
  EXPECT_EQ(test::content_of(directory_ / "a.data"), before);
  ASSERT_EQ(synth({"model.json", "-o", "a.data", "--force"}).code.status, kDone);
  EXPECT_EQ(test::content_of(directory_ / "a.data"), before);
  ASSERT_EQ(synth({"model.json", "-o", "a.data", "--force", "--seed", "5"}).code.status, kDone);
  EXPECT_NE(test::content_of(directory_ / "a.data"), before);
}

// Links, FIFOs and devices as outputs: File.Written... and File.Staged... of the unit tests.
TEST_F(Synth, WritesThroughALink) {
  std::ofstream(directory_ / "file") << "old";
  std::filesystem::create_symlink("file", directory_ / "link");
  EXPECT_EQ(synth({"model.json", "-o", "link"}).code.status, kUsage);
  EXPECT_EQ(test::content_of(directory_ / "file"), "old");
  ASSERT_EQ(synth({"model.json", "-o", "link", "--force"}).code.status, kDone);
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "link"));
  expect_found(json_in("link.truth.json")["recordings"][0], report_of("file"));
}

TEST_F(Synth, UsesAnExistingTarget) {
  ASSERT_EQ(test::skidscan({"target", "--nops", "100", "-o", "t"}, directory_.path()).code.status,
            kDone);
  const auto written = synth({"--like", "pebs-sound", "--target", "t", "-o", "a.data"});
  ASSERT_EQ(written.code.status, kDone) << written.err;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "a.data.target"));
  expect_found(json_in("a.data.truth.json")["recordings"][0], report_of("a.data"));
  const auto missing = synth({"--like", "pebs-sound", "--target", "u", "-o", "b.data"});
  EXPECT_EQ(missing.code.status, kFailed);
  EXPECT_THAT(missing.err, HasSubstr("u: "));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "b.data"));
}

TEST_F(Synth, WritesARunWithAVerdictForEachLevel) {
  const auto written =
      synth({"--all-levels", "--like", "pebs-sound", "--repeat", "2", "-o", "a.run"});
  ASSERT_EQ(written.code.status, kDone) << written.err;
  const json report = report_of("a.run");
  const json truth = json_in("a.run/truth.json");
  ASSERT_EQ(report["measurements"].size(), 8u);
  ASSERT_EQ(truth["recordings"].size(), 8u);
  const std::vector<std::string> verdicts{"not judged", "kept", "kept", "kept"};
  for (std::size_t i = 0; i < 8; ++i) {
    const json& found = report["measurements"][i];
    EXPECT_EQ(found["contract"]["verdict"], verdicts[i % 4]);
    EXPECT_TRUE(found["contract"]["certified"].is_null());  // the flag follows the request
    EXPECT_EQ(found["repeat"], 1 + i / 4);
    EXPECT_EQ(found["warnings"], json::array());  // the trigger causes the event, once
    expect_found(truth["recordings"][i], {{"measurements", {found}}});
  }
  EXPECT_NE(report["measurements"][0]["histogram"], report["measurements"][4]["histogram"]);
  EXPECT_EQ(json_in("a.run/run.json")["synthetic"], true);
  EXPECT_EQ(synth({"--all-levels", "--like", "pebs-sound", "-o", "a.run"}).code.status, kFailed);
}

TEST_F(Synth, OfABrokenMachineBreaksTheContractAndIsGatedOn) {
  ASSERT_EQ(synth({"--all-levels", "--like", "vm-broken", "-o", "a.run"}).code.status, kDone);
  const auto reported =
      test::skidscan({"report", "a.run", "--fail-on", "broken"}, directory_.path());
  EXPECT_EQ(reported.code.status, kGateFailed);
  EXPECT_THAT(reported.out, AllOf(HasSubstr("≠"), HasSubstr("SYNTHETIC")));
}

TEST_F(Synth, OfSeveralTriggersGivesTheBiasBetweenThem) {
  ASSERT_EQ(synth({"--all-levels", "--like", "pebs-shadow", "-o", "a.run"}).code.status, kDone);
  const json truth = json_in("a.run/truth.json");
  const json report = report_of("a.run");
  for (const std::size_t level : {2U, 3U}) {
    const json& found = report["measurements"][level];
    expect_found(truth["recordings"][level], {{"measurements", {found}}});
    EXPECT_EQ(found["triggers"], truth["recordings"][level]["measurements"][0]["triggers"]);
    EXPECT_NEAR(found["events_per_iteration"]["measured"].get<double>(), 5, 0.001);
  }
  EXPECT_GT(report["measurements"][2]["bias"]["largest_ratio"], 7);
  EXPECT_LT(report["measurements"][3]["bias"]["largest_ratio"], 1.2);
}

TEST_F(Synth, OfAnotherCpuReportsASkidIntoTheNextIteration) {
  ASSERT_EQ(synth({"--all-levels", "--like", "no-pebs", "-o", "a.run"}).code.status, kDone);
  const json truth = json_in("a.run/truth.json");
  const json& measurement = truth["recordings"][0]["measurements"][0];
  EXPECT_GT(measurement["wrapped"], 0);
  EXPECT_GT(measurement["samples"]["before"], 0);
  const json report = report_of("a.run");
  EXPECT_THAT(report["measurements"][0]["warnings"].dump(), HasSubstr("the runway, which may be"));
}

TEST_F(Synth, ReportsWhatIsWrongWithItsArguments) {
  EXPECT_THAT(synth({}).err, AllOf(HasSubstr("no model was named"), HasSubstr("gregg-2017")));
  EXPECT_EQ(synth({}).code.status, kUsage);
  EXPECT_THAT(synth({"model.json", "--like", "no-pebs"}).err, HasSubstr("two models"));
  EXPECT_THAT(synth({"--like", "nothing"}).err, HasSubstr("gregg-2017"));
  EXPECT_THAT(synth({"--like", "no-pebs", "--repeat", "2"}).err, HasSubstr("--all-levels"));
  EXPECT_THAT(synth({"missing.json"}).err, HasSubstr("missing.json"));
  std::ofstream(directory_ / "bad.json") << R"({"schema": "skidscan.model/1", "nam": 1})";
  const auto bad = synth({"bad.json"});
  EXPECT_EQ(bad.code.status, kFailed);
  EXPECT_THAT(bad.err, AllOf(HasSubstr("bad.json"), HasSubstr("the key \"nam\"")));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "synth.data"));
}

TEST_F(Synth, PrintsModelsToStartFrom) {
  const auto printed = synth({"--like", "no-pebs", "--print-model"});
  ASSERT_EQ(printed.code.status, kDone);
  std::ofstream(directory_ / "mine.json") << printed.out;
  EXPECT_EQ(synth({"mine.json"}).code.status, kDone);
}

// ---- perf ----

using Sample = std::tuple<std::string, std::uint64_t, bool>;  // event, address, in the kernel
using SampleCounts = std::map<Sample, std::uint64_t>;

/// Samples by event, address and mode as perf script prints them.
SampleCounts samples_of_perf(const std::string& out) {
  SampleCounts counts;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string misc, event, address;
    fields >> misc >> event >> address;
    event.pop_back();  // a colon
    ++counts[{event, std::stoull(address, nullptr, 16), misc == "K"}];
  }
  return counts;
}

/// How many samples perf sees at an address with PERF_RECORD_MISC_EXACT_IP.
std::map<std::uint64_t, std::uint64_t> exact_samples_of_perf(const std::string& dump) {
  constexpr std::string_view kSample = "PERF_RECORD_SAMPLE(IP, ";
  constexpr unsigned long kExactIp = 0x4000;
  std::map<std::uint64_t, std::uint64_t> counts;
  std::istringstream lines(dump);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t found = line.find(kSample);
    if (found == std::string::npos) continue;
    std::istringstream fields(line.substr(found + kSample.size()));
    std::string misc, pids, address;
    fields >> misc >> pids >> address;
    if ((std::stoul(misc, nullptr, 16) & kExactIp) != 0) {
      ++counts[std::stoull(address, nullptr, 16)];
    }
  }
  return counts;
}

/// How many samples perf sees with a data address.
std::uint64_t data_addresses_of_perf(const std::string& dump) {
  constexpr std::string_view kAddress = " addr: 0x";
  std::uint64_t count = 0;
  std::istringstream lines(dump);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("PERF_RECORD_SAMPLE(IP, ") == std::string::npos) continue;
    if (line.find(kAddress) != std::string::npos) ++count;
  }
  return count;
}

class SynthAndPerf : public Synth, public ::testing::WithParamInterface<std::vector<std::string>> {
 protected:
  void SetUp() override {
    Synth::SetUp();
    if (IsSkipped()) return;
    if (!find_program("perf")) GTEST_SKIP() << "perf is not installed";
    std::vector<std::string> arguments{"model.json", "-o", "a.data"};
    arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
    ASSERT_EQ(synth(arguments).code.status, kDone);
    truth_ = json_in("a.data.truth.json")["recordings"][0]["measurements"];
  }
  Completed perf(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "perf");
    return run_program(arguments, directory_.path());
  }

  json truth_;
};

TEST_P(SynthAndPerf, AgreeOnEverySample) {
  SampleCounts wanted;
  std::map<std::uint64_t, std::uint64_t> wanted_exact;
  for (const json& measurement : truth_) {
    for (const json& place : measurement["places"]) {
      const std::uint64_t address = std::stoull(place["address"].get<std::string>(), nullptr, 16);
      const auto count = place["count"].get<std::uint64_t>();
      wanted[{measurement["recorded"], address, place["mode"] == "kernel"}] += count;
      if (place["exact_ip"] == true) wanted_exact[address] += count;
    }
  }
  const auto script = perf({"script", "-i", "a.data", "-F", "misc,event,ip"});
  EXPECT_EQ(script.code.status, 0) << script.err;
  EXPECT_EQ(script.err, "");
  EXPECT_EQ(samples_of_perf(script.out), wanted);
  const auto dump = perf({"script", "-i", "a.data", "-D"});
  EXPECT_EQ(dump.code.status, 0) << dump.err;
  EXPECT_EQ(exact_samples_of_perf(dump.out), wanted_exact);
  const json& addresses = truth_[1]["data_addresses"];
  EXPECT_GT(addresses["elsewhere"], 900);
  EXPECT_EQ(data_addresses_of_perf(dump.out), addresses["elsewhere"]);  // a branch accesses nothing
  EXPECT_EQ(addresses["cause"], 0);
}

TEST_P(SynthAndPerf, AgreeOnTheFunctions) {
  const auto script = perf({"script", "-i", "a.data", "-F", "event,ip,sym"});
  std::map<std::string, std::uint64_t> by_symbol;
  std::istringstream lines(script.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("r20d1:upp:") == std::string::npos) continue;
    ++by_symbol[line.substr(line.rfind(' ') + 1)];
  }
  const json& samples = truth_[1]["samples"];
  EXPECT_EQ(by_symbol["skid_trigger"], samples["hit"]);
  EXPECT_EQ(by_symbol["skid_runway"], samples["skid"]);
}

TEST_P(SynthAndPerf, AgreeWithoutComplaint) {
  const auto report = perf({"report", "-i", "a.data", "--stdio"});
  EXPECT_EQ(report.code.status, 0) << report.err;
  EXPECT_EQ(report.err, "");
  EXPECT_THAT(report.out + report.err, Not(HasSubstr("arning")));
  EXPECT_THAT(report.out, HasSubstr("r20d1:upp"));
  const auto header = perf({"report", "-i", "a.data", "--header-only"});
  EXPECT_EQ(header.code.status, 0) << header.err;
  if (header.out.find("perf version") != std::string::npos) {  // pipes have it in their records
    EXPECT_THAT(header.out, AllOf(HasSubstr("skidscan synth"), HasSubstr("hostname : synthetic")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    InEveryMode, SynthAndPerf,
    ::testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--pipe"},
                      std::vector<std::string>{"-z"},
                      std::vector<std::string>{"--pipe", "--compression-level", "19"}),
    [](const auto& mode) {
      std::string name = mode.param.empty() ? "File" : "";
      for (const std::string& option : mode.param) {
        for (const char character : option) {
          if (std::isalnum(static_cast<unsigned char>(character)) != 0) name += character;
        }
      }
      return name;
    });

}  // namespace
}  // namespace skid
