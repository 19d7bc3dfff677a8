// `skidscan inspect` against perf on the same recording.
#include "src/support/process.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using RecordsByType = std::map<std::string, std::uint64_t>;

class Inspect : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = test::why_perf_cannot_record(directory_.path()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
  std::string in_directory(const std::string& name) const { return (directory_ / name).string(); }
  void record(const std::string& name, std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"perf", "record", "--no-bpf-event", "-q", "-o", in_directory(name)});
    options.insert(options.end(), {"--", "sh", "-c", "for i in 1 2 3; do ls -R /usr/lib; done"});
    const auto recorded = run_program(options);
    ASSERT_TRUE(recorded.code.success()) << recorded.err;
  }
  json inspect(const std::vector<std::string>& names) const {
    std::vector<std::string> arguments = {"inspect", "--format", "json"};
    for (const auto& name : names) arguments.push_back(in_directory(name));
    const auto inspected = test::skidscan(arguments);
    EXPECT_EQ(inspected.code.status, 0) << inspected.err;
    return json::parse(inspected.out);
  }

  test::TemporaryDirectory directory_;
};

/// `perf report --stats`: blocks of "NAME events: N", the first for all records ("Aggregated"),
/// one for each event after it.
std::vector<RecordsByType> stats_of_perf(const std::string& path) {
  const auto perf = run_program({"perf", "report", "--stats", "-i", path});
  EXPECT_TRUE(perf.code.success()) << perf.err;
  std::vector<RecordsByType> blocks;
  for (const std::string& line : test::lines_of(perf.out)) {
    if (line.ends_with(" stats:")) blocks.emplace_back();
    std::istringstream words(line);
    std::string name, events;
    std::uint64_t count = 0;
    if (!blocks.empty() && words >> name >> events >> count && events == "events:") {
      blocks.back()[name] = count;
    }
  }
  return blocks;
}

TEST_F(Inspect, CountsTheRecordsThatPerfCounts) {
  record("perf.data", {"-F", "2000", "-g", "-e", "cpu-clock,page-faults,context-switches"});
  const auto theirs = stats_of_perf(in_directory("perf.data"));
  const auto inspected = inspect({"perf.data"});
  EXPECT_EQ(inspected["schema"], "skidscan.inspect/1");
  const auto& recording = inspected["recordings"].at(0);
  ASSERT_EQ(theirs.size(), 1 + recording["events"].size());
  RecordsByType ours;
  ours["TOTAL"] = recording["total_records"].get<std::uint64_t>();
  for (const auto& records : recording["records"]) {
    std::string name = records["name"];
    ASSERT_TRUE(name.starts_with("PERF_RECORD_")) << name;
    ours[name.substr(std::string("PERF_RECORD_").size())] = records["count"].get<std::uint64_t>();
  }
  EXPECT_EQ(ours, theirs[0]);
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < recording["events"].size(); ++i) {
    const auto count = recording["events"][i]["samples"].get<std::uint64_t>();
    const auto found = theirs[i + 1].find("SAMPLE");
    EXPECT_EQ(count, found == theirs[i + 1].end() ? 0 : found->second);
    samples += count;
  }
  EXPECT_GT(samples, 0u);
  EXPECT_EQ(recording["total_samples"], samples);
}

TEST_F(Inspect, ListsTheEventsAsRequested) {
  record("perf.data", {"-c", "100000", "-e", "cpu-clock:ppu", "-e", "page-faults:k"});
  const auto recording = inspect({"perf.data"})["recordings"].at(0);
  const auto& clock = recording["events"].at(0);
  EXPECT_EQ(clock["name"], "cpu-clock:ppu");
  EXPECT_EQ(clock["source"], "software");
  EXPECT_EQ(clock["period"], 100000);
  EXPECT_TRUE(clock["frequency"].is_null());
  EXPECT_EQ(clock["precise_ip"], 2);
  EXPECT_EQ(clock["exclude_kernel"], true);
  EXPECT_THAT(clock["sample_type"].dump(), HasSubstr("\"IP\",\"TID\",\"TIME\""));
  EXPECT_EQ(recording["events"].at(1)["exclude_user"], true);
  EXPECT_EQ(recording["features"]["command_line"].back(),
            "for i in 1 2 3; do ls -R /usr/lib; done");
}

TEST_F(Inspect, ShowsSeveralRecordingsAndReportsWhichCannotBeRead) {
  record("one.data", {"-e", "cpu-clock"});
  std::ofstream(in_directory("none.data")) << "no recording";
  const auto inspected = test::skidscan(
      {"inspect", in_directory("none.data"), in_directory("one.data"), "--format", "json"});
  EXPECT_EQ(inspected.code.status, 1);
  EXPECT_THAT(inspected.err, HasSubstr("none.data: at offset 0x0: no perf.data magic"));
  const auto recordings = json::parse(inspected.out)["recordings"];
  ASSERT_EQ(recordings.size(), 1u);
  EXPECT_EQ(recordings[0]["file"], in_directory("one.data"));
  const auto text = test::skidscan({"inspect", in_directory("one.data"), in_directory("one.data")});
  EXPECT_EQ(text.code.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\n\n" + in_directory("one.data") + ": file mode"));
  EXPECT_EQ(recordings[0]["faults"], json::array());
}

}  // namespace
}  // namespace skid
