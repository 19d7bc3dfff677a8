// The samples that are made of counter values, as perf makes them.
#include "src/perfdata/counted_samples.h"

#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace skid::perfdata {
namespace {

using test::RecordingBuilder;

using CountedSamplesOf = test::RecordingTest;

/// The event and the period of each sample that is made.
std::vector<std::pair<std::uint32_t, std::uint64_t>> counted(Recording recording) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> all;
  CountedSamples counted;
  Record record;
  while (recording.next(record)) {
    const auto sample = recording.decode(record);
    if (!sample) continue;
    for (const Sample& one : counted.of(recording, record, *sample)) {
      EXPECT_EQ(one.ip, sample->ip);
      all.emplace_back(one.attribute, one.period);
    }
  }
  return all;
}

constexpr std::uint64_t kType =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ;

/// {a,b}:S with ids 1 and 2, and samples with the values of both and of an unknown counter.
RecordingBuilder group(bool inherit) {
  const std::uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  auto builder =
      RecordingBuilder()
          .event({.sample_type = kType, .read_format = format, .inherit = inherit, .ids = {1}})
          .event({.period = 0,
                  .sample_type = kType,
                  .read_format = format,
                  .inherit = inherit,
                  .ids = {2}});
  const auto add = [&](std::int32_t tid, std::uint64_t a, std::uint64_t b) {
    auto body = builder.writer().u64(1).u64(0x1000).i32(7).i32(tid).u64(3);
    body.u64(a).u64(1).u64(b).u64(2).u64(9).u64(99);  // values and ids
    builder.record(PERF_RECORD_SAMPLE, 2, body.bytes());
  };
  add(7, 1000, 0);
  add(7, 2000, 3);
  add(8, 3000, 3);
  return builder;
}

TEST_F(CountedSamplesOf, AGroupAreOneForEachEventThatOccurred) {
  EXPECT_THAT(counted(open(group(false))),
              ElementsAre(Pair(0, 1000), Pair(0, 1000), Pair(1, 3), Pair(0, 1000)));
}

TEST_F(CountedSamplesOf, InheritedCountersAreOfEachThread) {
  EXPECT_THAT(counted(open(group(true))),
              ElementsAre(Pair(0, 1000), Pair(0, 1000), Pair(1, 3), Pair(0, 3000), Pair(1, 3)));
}

TEST_F(CountedSamplesOf, ASampleWithoutValuesAreItself) {
  EXPECT_THAT(counted(open(RecordingBuilder().event({.period = 50}).sample(1, 1, 1))),
              ElementsAre(Pair(0, 50)));
}

TEST_F(CountedSamplesOf, AMemberOfAGroupIsOnlyCounted) {
  const auto recording = open(group(false));
  EXPECT_FALSE(recording.attributes()[0].is_only_counted());
  EXPECT_TRUE(recording.attributes()[1].is_only_counted());
}

}  // namespace
}  // namespace skid::perfdata
