// How an inspected recording is shown.
#include "src/output/inspection/inspection.h"

#include "src/perfdata/record_counts.h"
#include "src/support/json_text.h"
#include "tests/support/golden.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"

#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using nlohmann::ordered_json;
using test::RecordingBuilder;

class InspectionTest : public test::RecordingTest {
 protected:
  ordered_json json_of(const RecordingBuilder& builder) {
    const auto parts = read(builder);
    return inspection_json({parts.recording, parts.record_counts});
  }
  std::string text_of(const RecordingBuilder& builder, bool details = true) {
    const auto parts = read(builder);
    return inspection_text({parts.recording, parts.record_counts}, details);
  }
  /// A text with the name of the recording alone.
  std::string shown(std::string text) const {
    const std::string path = this->path();
    return text.replace(text.find(path), path.size(), "perf.data");
  }

 private:
  struct Parts {
    perfdata::Recording recording;
    perfdata::RecordCounts record_counts;
  };
  Parts read(const RecordingBuilder& builder) const {
    auto recording = open(builder);
    auto record_counts = perfdata::count_records(recording);
    return {std::move(recording), std::move(record_counts)};
  }
};

/// Two events, one of a PMU of its own; an unknown id, an unknown record, a lying name.
RecordingBuilder odd_one() {
  const std::uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  auto builder = RecordingBuilder().event(
      {.type = 8, .config = 0x1cd, .sample_type = type, .precise_ip = 2, .ids = {1, 2}});
  builder.event({.sample_type = type, .ids = {3}});
  const auto sample = [&](std::uint64_t id, std::uint16_t misc) {
    builder.record(PERF_RECORD_SAMPLE, misc, builder.writer().u64(id).u64(0x1000).bytes());
  };
  sample(2, 2 | PERF_RECORD_MISC_EXACT_IP);
  sample(1, 2);
  sample(3, 2);
  sample(9, 2);
  builder.record(99, 0, "");
  builder.record(PERF_RECORD_LOST, 0, builder.writer().u64(1).u64(30).bytes());
  const auto text = [&](const char* value) { return builder.writer().counted_text(value).bytes(); };
  builder.feature(perfdata::HEADER_HOSTNAME, text("ho\x1b[2Jst"));
  builder.feature(perfdata::HEADER_NRCPUS, builder.writer().u32(4).u32(2).bytes());
  builder.feature(perfdata::HEADER_CMDLINE,
                  builder.writer().u32(2).counted_text("perf").counted_text("a b").bytes());
  builder.feature(perfdata::HEADER_PMU_MAPPINGS,
                  builder.writer().u32(1).u32(8).counted_text("ibs_op").bytes());
  builder.feature(perfdata::HEADER_STAT, "");
  return builder;
}

TEST_F(InspectionTest, IsThatOfItsTexts) {
  test::expect_golden("inspection.json", shown(json_text(json_of(odd_one()), 2) + "\n"));
  test::expect_golden("inspection_details.txt", shown(text_of(odd_one())));
  test::expect_golden("inspection.txt", shown(text_of(odd_one(), false)));
}

TEST_F(InspectionTest, NamesRecordsThatPerfWroteTwice) {
  auto builder = RecordingBuilder().event({}).sample(1, 1, 1).sample(2, 1, 2);
  EXPECT_TRUE(json_of(builder)["repeated"].is_null());
  EXPECT_THAT(text_of(builder), Not(HasSubstr("warning")));
  builder.record(perfdata::PERF_RECORD_FINISHED_ROUND, 0, "").sample(1, 1, 1).sample(2, 1, 2);
  const auto offset = builder.data_offset() + 2 * 32 + 8;
  EXPECT_EQ(json_of(builder)["repeated"],
            (ordered_json{{"blocks", 1}, {"records", 2}, {"samples", 2}, {"offset", offset}}));
  EXPECT_THAT(text_of(builder), HasSubstr("perf record wrote 2 samples twice"));
}

TEST_F(InspectionTest, PrintsTheMetaInfoOfSimpleperf) {
  auto builder = RecordingBuilder().event({});
  builder.sample(0x1000, 1, 1);
  builder.feature(perfdata::HEADER_SIMPLEPERF_META_INFO,
                  std::string("simpleperf_version\0001.7\0clock\0\x1b[2J\n\0", 35));
  EXPECT_EQ(json_of(builder)["features"]["meta_info"], ordered_json::parse(R"([
    {"name": "simpleperf_version", "value": "1.7"}, {"name": "clock", "value": "\u001b[2J\n"}])"));
  EXPECT_THAT(text_of(builder), HasSubstr("  meta info          simpleperf_version=1.7\n"
                                          "                     clock=\\x1b[2J\\x0a\n"));
}

TEST_F(InspectionTest, DoesNotCallRecordsOfBpfOutputSamples) {
  const auto builder = RecordingBuilder::with_off_cpu_times();
  EXPECT_EQ(json_of(builder)["events"].at(0)["measured"], true);
  EXPECT_EQ(json_of(builder)["events"].at(1)["measured"], false);
  const auto text = text_of(builder);
  EXPECT_THAT(text, HasSubstr("; 2 samples, none with EXACT_IP\n"));
  EXPECT_THAT(text, HasSubstr("; 3 records, no samples of an event\n"));
}

TEST_F(InspectionTest, PrintsWhatDiffersFromTheDefaultsOfPerfRecord) {
  auto builder = RecordingBuilder().event(
      {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC});
  EXPECT_THAT(text_of(builder, false),
              EndsWith("cpu-clock:HG: software 0x0, with ADDR|DATA_SRC, period 1000, precise_ip 0; "
                       "0 samples, none with EXACT_IP\n"))
      << "no heading without lines below it";
}

TEST_F(InspectionTest, ListsItsFaults) {
  auto builder = odd_one();
  builder.record(PERF_RECORD_SAMPLE, 2, "", 4);
  const auto json = json_of(builder);
  EXPECT_EQ(json["read_in_part"], true);
  ASSERT_EQ(json["faults"].size(), 1u);
  EXPECT_EQ(json["faults"][0]["found"], "a record of 4 bytes");
  EXPECT_EQ(json["faults"][0]["allowed"], "at least 8");
  EXPECT_GT(json["faults"][0]["offset"], 104);
  EXPECT_EQ(json["total_samples"], 4);
  EXPECT_THAT(text_of(builder, false),
              HasSubstr("\nFaults\n  " + path().string() + ": at offset 0x"));
}

TEST_F(InspectionTest, ReportsBigEndian) {
  auto builder = RecordingBuilder(true).event({}).sample(1, 1, 1);
  EXPECT_EQ(json_of(builder)["byte_order"], "big");
  EXPECT_THAT(text_of(builder), HasSubstr("file mode, big endian"));
}

}  // namespace
}  // namespace skid::output
