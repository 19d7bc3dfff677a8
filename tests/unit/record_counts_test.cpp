// What the records of a recording add up to.
#include "src/perfdata/record_counts.h"

#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"
#include "tests/support/recordings.h"
#include "tests/support/text.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

using test::RecordingBuilder;

using RecordCountsTest = test::RecordingTest;

TEST_F(RecordCountsTest, CountsEachTypeIncludingUnknownOnes) {
  auto builder = RecordingBuilder()
                     .event({})
                     .sample(1, 1, 1)
                     .mmap(1, 0x1000, 0x1000, 0, "/bin/x", 1)
                     .sample(2, 1, 2);
  builder.record(99, 0, "").record(99, 0, "12345678").record(0, 0, "");
  auto recording = open(builder);
  const RecordCounts record_counts = count_records(recording);
  EXPECT_THAT(record_counts.records, ElementsAre(Pair(0, 1), Pair(PERF_RECORD_MMAP, 1),
                                                 Pair(PERF_RECORD_SAMPLE, 2), Pair(99, 2)));
  EXPECT_EQ(record_counts.total_records(), 6u);
  EXPECT_EQ(record_counts.total_samples(), 2u);
  EXPECT_TRUE(recording.faults().empty());
}

TEST_F(RecordCountsTest, CountsSamplesByEventAndExactness) {
  const std::uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  auto builder = RecordingBuilder()
                     .event({.sample_type = type, .ids = {11}})
                     .event({.sample_type = type, .ids = {21}});
  const auto add = [&](std::uint64_t id, std::uint16_t misc) {
    builder.record(PERF_RECORD_SAMPLE, misc, builder.writer().u64(id).u64(0x1000).bytes());
  };
  add(21, 2);
  add(21, 2 | PERF_RECORD_MISC_EXACT_IP);
  add(77, 2 | PERF_RECORD_MISC_EXACT_IP);
  builder.record(PERF_RECORD_SAMPLE, 2, builder.writer().u64(11).bytes());
  auto recording = open(builder);
  const RecordCounts record_counts = count_records(recording);
  EXPECT_THAT(test::mapped(record_counts.events,
                           [](const auto& one) { return std::pair(one.samples, one.exact_ip); }),
              ElementsAre(Pair(0, 0), Pair(2, 1)));
  EXPECT_EQ(record_counts.left_out.unknown_ids, 1u);
  EXPECT_EQ(record_counts.left_out.short_samples, 1u);
  EXPECT_EQ(record_counts.total_samples(), 4u);
  EXPECT_EQ(recording.faults().size(), 1u);
}

TEST_F(RecordCountsTest, AddsUpLosses) {
  for (const bool big_endian : {false, true}) {
    auto builder = RecordingBuilder(big_endian).event({});
    builder.record(PERF_RECORD_LOST, 0, builder.writer().u64(1).u64(30).bytes());
    builder.record(PERF_RECORD_LOST, 0, builder.writer().u64(1).u64(12).bytes());
    builder.record(PERF_RECORD_LOST_SAMPLES, 0, builder.writer().u64(5).bytes());
    builder.record(PERF_RECORD_LOST_SAMPLES, PERF_RECORD_MISC_LOST_SAMPLES_BPF,
                   builder.writer().u64(99).bytes());  // that perf record --filter dropped
    builder.record(PERF_RECORD_THROTTLE, 0, builder.writer().u64(0).u64(0).u64(0).bytes());
    builder.record(PERF_RECORD_LOST, 0, builder.writer().u64(1).bytes());
    auto recording = open(builder);
    const RecordCounts record_counts = count_records(recording);
    EXPECT_EQ(record_counts.lost_records, 42u);
    EXPECT_EQ(record_counts.lost_samples, 5u);
    EXPECT_EQ(record_counts.throttled, 1u);
    EXPECT_EQ(record_counts.records.at(PERF_RECORD_LOST), 3u);
    EXPECT_EQ(recording.faults().size(), 1u) << "the third is too short";
  }
}

/// A mapping and four samples, the last three of one time; `at_start` and `at_end`: times.
std::string block(std::uint64_t at_start = 10, std::uint64_t at_end = 12) {
  RecordingBuilder block;
  block.mmap(1, 0x1000, 0x1000, 0, "/bin/x", at_start).sample(1, 1, at_start);
  for (int i = 0; i < 3; ++i) block.sample(2, 1, at_end);
  return block.records();
}

/// Samples, a block, the end of the round, and what follows that.
RecordingBuilder around_round(const std::string& before, const std::string& after) {
  auto builder = RecordingBuilder().event({}).sample(1, 1, 5).sample(2, 1, 9).raw(before);
  return builder.record(PERF_RECORD_FINISHED_ROUND, 0, "").raw(after);
}

TEST_F(RecordCountsTest, FindsBlocksThatPerfWroteTwice) {
  // The samples after the first block look like its last ones.
  auto builder = around_round(block(), block());
  builder.sample(2, 1, 12).sample(2, 1, 12).raw(block(20, 30));
  builder.record(PERF_RECORD_FINISHED_ROUND, 0, "").raw(block(20, 30));
  auto recording = open(builder);
  const RecordCounts counts = count_records(recording);
  EXPECT_EQ(counts.repeated.blocks, 2u);
  EXPECT_EQ(counts.repeated.records, 10u);
  EXPECT_EQ(counts.repeated.samples, 8u);
  EXPECT_EQ(counts.repeated.offset, builder.data_offset() + 2 * 32 + block().size() + 8);
  EXPECT_EQ(counts.total_samples(), 20u) << "with the repeated ones";
  EXPECT_TRUE(recording.faults().empty());
}

TEST_F(RecordCountsTest, DoesNotCallChanceARepetition) {
  const auto blocks = [this](const std::string& before, const std::string& after) {
    auto recording = open(around_round(before, after));
    return count_records(recording).repeated.blocks;
  };
  EXPECT_EQ(blocks(block(), block()), 1u);
  EXPECT_EQ(blocks(block(10, 10), block(10, 10)), 0u) << "equal times";
  const std::string one = RecordingBuilder().sample(1, 1, 10).records();
  EXPECT_EQ(blocks(one, one), 0u) << "one record";
  for (std::size_t at = 0; at < block().size(); ++at) {
    std::string other = block();
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_EQ(blocks(block(), other), 0u) << at;
  }
}

TEST_F(RecordCountsTest, FindsNoPartOfABlockAtTheEndOfATruncatedFile) {
  const std::string bytes = around_round(block(), block()).bytes();
  for (std::size_t size = bytes.size() - block().size() - 8; size < bytes.size(); ++size) {
    auto recording = open(bytes.substr(0, size));
    EXPECT_EQ(count_records(recording).repeated.blocks, 0u) << size;
  }
}

TEST_F(RecordCountsTest, AgreesWithASecondReader) {
  SKIP_WITHOUT("recordings");
  std::ifstream table(test::recordings_directory() / "EXPECTED.tsv");
  std::string line;
  std::getline(table, line);  // file, mode, samples, exact_ip, lost, samples_per_attr, …
  std::size_t compared = 0;
  while (std::getline(table, line)) {
    const auto expected = test::fields_of(line, '\t');
    ASSERT_GE(expected.size(), 6u) << line;
    auto recording = Recording::open(test::recordings_directory() / expected[0]);
    const RecordCounts record_counts = count_records(recording);
    std::uint64_t exact = 0;
    std::string per_event;
    for (std::size_t i = 0; i < record_counts.events.size(); ++i) {
      exact += record_counts.events[i].exact_ip;
      if (record_counts.events[i].samples == 0) continue;
      per_event +=
          fmt::format("{}{}={}", per_event.empty() ? "" : ",", i, record_counts.events[i].samples);
    }
    EXPECT_EQ(std::to_string(record_counts.total_samples()), expected[2]) << expected[0];
    EXPECT_EQ(std::to_string(exact), expected[3]) << expected[0];
    EXPECT_EQ(std::to_string(record_counts.lost_records + record_counts.lost_samples), expected[4])
        << expected[0];
    EXPECT_EQ(per_event, expected[5]) << expected[0];
    ++compared;
  }
  EXPECT_GE(compared, 15u);
}

}  // namespace
}  // namespace skid::perfdata
