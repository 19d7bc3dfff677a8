// What docs/merge.md promises: merged reports equal the report of the merged samples.
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid {
namespace {

using nlohmann::json;

using test::kDone;

/// All classes of the breakdown, exact and inexact samples, several triggers, censored skids.
constexpr const char* kSplitModel = R"({
  "schema": "skidscan.model/1", "name": "split",
  "target": {"trigger": "load", "nops": 300, "lead_in_nops": 30, "triggers": 2, "gaps": [40]},
  "events": [
    {"event": "r20d1:u", "period": 1009, "levels": [
      {"level": 0, "samples": 3000,
       "offsets": {"kind": "normal_cycles", "mean": 30, "stddev": 20, "retire_group": 4}},
      {"level": 2, "samples": 4000, "hits": 0.9, "exact_ip": {"hits": 0.99, "misses": 0.2},
       "triggers": [0.7, 0.3],
       "offsets": {"kind": "uniform", "lowest": -20, "highest": 400},
       "elsewhere": {"kernel": 0.05, "foreign": 0.05, "unmapped": 0.02, "loop": 0.03}}]},
    {"event": "access", "period": 7, "levels": [
      {"level": 1, "samples": 2000, "offsets": {"kind": "constant", "offset": 1}}]}]})";

/// A recording in pipe mode as its records.
std::vector<std::string> records_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  constexpr std::size_t kFileHeader = 16, kRecordHeader = 8;
  std::vector<std::string> records{bytes.substr(0, kFileHeader)};
  for (std::size_t at = kFileHeader; at + kRecordHeader <= bytes.size();) {
    std::uint16_t size = 0;
    std::memcpy(&size, &bytes[at + 6], sizeof(size));
    records.push_back(bytes.substr(at, size));
    at += size;
  }
  return records;
}

bool is_sample(const std::string& record) {
  std::uint32_t type = 0;
  std::memcpy(&type, record.data(), sizeof(type));
  constexpr std::uint32_t kSample = 9;
  return record.size() > 16 && type == kSample;
}

class SplitRecordings : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
    std::ofstream(directory_ / "model.json") << kSplitModel;
  }
  json report(std::vector<std::string> arguments) const {
    const auto done = test::skidscan(arguments, directory_.path());
    EXPECT_EQ(done.code.status, kDone) << done.err;
    return json::parse(done.out)["measurements"];
  }
  /// Without the keys about parts.
  static json of_samples(json measurements) {
    for (json& measurement : measurements) {
      for (const char* key : {"run", "file", "parts", "merged_from"}) measurement.erase(key);
      measurement["basis"].erase("parts");
      measurement["basis"].erase("merged_from");
    }
    return measurements;
  }
  /// Deals the samples of NAME into `count` recordings, each otherwise the same as NAME.
  std::vector<std::string> split(const std::string& name, std::size_t count,
                                 std::mt19937& random) const {
    std::vector<std::string> names;
    std::vector<std::ofstream> files;
    for (std::size_t i = 0; i < count; ++i) {
      names.push_back("part" + std::to_string(count) + "." + std::to_string(i) + ".data");
      files.emplace_back(directory_ / names.back(), std::ios::binary);
    }
    for (const std::string& record : records_of(directory_ / name)) {
      if (is_sample(record)) {
        files[random() % count] << record;
      } else {
        for (auto& file : files) file << record;
      }
    }
    return names;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(SplitRecordings, MergedAreTheRecordingThatTheyWereSplitFrom) {
  ASSERT_EQ(test::skidscan({"synth", "model.json", "--pipe", "-o", "whole.data"}, directory_.path())
                .code.status,
            kDone);
  const json whole = of_samples(report({"report", "whole.data", "--format", "json"}));
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_EQ(whole[1]["samples"]["read"], 4000);
  EXPECT_GT(whole[1]["samples"]["censored"], 0);
  std::mt19937 random(7);
  for (const std::size_t count : {2U, 3U, 10U}) {
    const auto parts = split("whole.data", count, random);
    std::vector<std::string> merge{"merge"}, merge_reports{"merge"};
    for (const std::string& part : parts) {
      merge.push_back(part);
      const auto reported = test::skidscan({"report", part, "--format", "json"}, directory_.path());
      ASSERT_EQ(reported.code.status, kDone) << reported.err;
      std::ofstream(directory_ / (part + ".json")) << reported.out;
      merge_reports.push_back(part + ".json");
    }
    EXPECT_EQ(of_samples(report(merge)), whole) << count << " recordings";
    EXPECT_EQ(of_samples(report(merge_reports)), whole) << count << " reports";
  }
}

TEST_F(SplitRecordings, OfRunsAddUpWithTheirIterations) {
  ASSERT_EQ(test::skidscan({"synth", "model.json", "--all-levels", "--pipe", "-o", "whole.run"},
                           directory_.path())
                .code.status,
            kDone);
  const json whole = of_samples(report({"report", "whole.run", "--format", "json"}));
  ASSERT_EQ(whole.size(), 3U);
  ASSERT_TRUE(whole[0]["events_per_iteration"]["measured"].is_number());
  const json run = json::parse(std::ifstream(directory_ / "whole.run/run.json"));
  constexpr std::size_t kParts = 3;
  std::mt19937 random(8);
  std::vector<std::string> merge{"merge"};
  std::vector<json> runs(kParts, run);
  for (std::size_t i = 0; i < kParts; ++i) {
    merge.push_back("part" + std::to_string(i) + ".run");
    std::filesystem::copy(directory_ / "whole.run", directory_ / merge.back(),
                          std::filesystem::copy_options::recursive);
  }
  for (std::size_t m = 0; m < run["measurements"].size(); ++m) {
    const std::string file = run["measurements"][m]["file"];
    const auto parts = split("whole.run/" + file, kParts, random);
    std::uint64_t left = run["measurements"][m]["target_report"]["iterations"];
    for (std::size_t i = 0; i < kParts; ++i) {
      std::filesystem::rename(directory_ / parts[i], directory_ / merge[i + 1] / file);
      const std::uint64_t share = i + 1 == kParts ? left : left / 3;
      left -= share;
      runs[i]["measurements"][m]["target_report"]["iterations"] = share;
    }
  }
  for (std::size_t i = 0; i < kParts; ++i) {
    std::ofstream(directory_ / merge[i + 1] / "run.json") << runs[i];
  }
  EXPECT_EQ(of_samples(report(merge)), whole);
}

}  // namespace
}  // namespace skid
