// Recordings made of little else than what they say of themselves. These took many seconds, or
// gigabytes, where work was done per record and event instead of once.
#include "src/locate/digest.h"
#include "src/perfdata/record_counts.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"

namespace skid::perfdata {
namespace {

using test::EventToBuild;
using test::RecordingBuilder;

constexpr std::uint64_t kType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;

using MetadataFlood = test::RecordingTest;

/// What announces one event in pipe mode, without the header of the recording.
std::string announcement(const EventToBuild& event) {
  RecordingBuilder builder;
  builder.attribute_size(kSmallestAttribute).event(event);
  return builder.pipe_bytes().substr(FileHeader::kPipeSize);
}

std::string pipe_header() {
  return RecordingBuilder().pipe_bytes();
}

TEST_F(MetadataFlood, OfEventsThatAreAnnouncedBetweenTheSamplesCountsEachSampleForItsEvent) {
  constexpr std::uint64_t kEvents = 16'000;
  std::string bytes = pipe_header();
  for (std::uint64_t event = 1; event <= kEvents; ++event) {
    bytes += announcement({.sample_type = kType, .ids = {event}});
    RecordingBuilder builder;
    builder.record(PERF_RECORD_EVENT_UPDATE, 0,
                   builder.writer().u64(2).u64(event).text("e" + std::to_string(event)).bytes());
    builder.record(PERF_RECORD_SAMPLE, 2,
                   builder.writer().u64(event).u64(0x1000).i32(7).i32(7).bytes());
    bytes += builder.records();
  }
  auto recording = open(bytes);
  const auto digest = locate::digest(recording);
  EXPECT_TRUE(recording.faults().empty());
  ASSERT_EQ(digest.totals.size(), kEvents);
  for (const auto& totals : digest.totals) ASSERT_EQ(totals.samples, 1u);
  EXPECT_EQ(recording.attributes().front().name, "e1");
  EXPECT_EQ(recording.attributes().back().name, "e16000");
}

TEST_F(MetadataFlood, OfIdsEndsWhereNoProcessCouldHaveOpenedThem) {
  std::vector<std::uint64_t> ids(8000);
  std::string bytes = pipe_header();
  for (std::uint64_t event = 0; event < 140; ++event) {
    for (auto& id : ids) id = event << 32 | static_cast<std::uint64_t>(&id - ids.data());
    bytes += announcement({.sample_type = kType, .ids = ids});
  }
  auto recording = open(bytes);
  count_records(recording);
  EXPECT_EQ(recording.attributes().size(), kMostIds / ids.size());
  ASSERT_FALSE(recording.faults().empty());
  EXPECT_THAT(describe(recording.faults()[0]), AllOf(HasSubstr("8000 ids"), HasSubstr("1048576")));
}

TEST_F(MetadataFlood, OfDescriptionsIsTakenOnce) {
  RecordingBuilder builder;
  builder.attribute_size(kSmallestAttribute);
  std::string attribute = announcement({}).substr(8, kSmallestAttribute);
  auto content = builder.writer();
  content.u32(1).u32(kSmallestAttribute).raw(attribute).u32(1).counted_text("first").u64(5);
  auto other = builder.writer();
  other.u32(1).u32(kSmallestAttribute).raw(attribute).u32(1).counted_text("second").u64(5);
  builder.event({.sample_type = kType, .ids = {5}});
  builder.feature(HEADER_EVENT_DESC, content.bytes());
  for (int i = 0; i < 100; ++i) builder.feature(HEADER_EVENT_DESC, other.bytes());
  auto recording = open(builder.pipe_bytes());
  count_records(recording);
  EXPECT_EQ(recording.attributes()[0].name, "first");
  EXPECT_EQ(recording.features().events.size(), 1u);
}

TEST_F(MetadataFlood, OfBuildIdsIsBounded) {
  std::string bytes = pipe_header() + announcement({});
  RecordingBuilder builder;
  const std::string path(60'000, 'x');
  for (int i = 0; i < 300; ++i) {
    builder.record(PERF_RECORD_HEADER_BUILD_ID, 2,
                   builder.writer().i32(-1).raw(std::string(24, '\1')).text(path).bytes());
  }
  auto recording = open(bytes + builder.records());
  count_records(recording);
  EXPECT_LE(recording.features().build_ids.size() * path.size(), kMostBuildIdBytes);
  EXPECT_GT(recording.features().build_ids.size(), 250u);
  ASSERT_FALSE(recording.faults().empty());
  EXPECT_THAT(describe(recording.faults()[0]), HasSubstr("build-ids of more than 16777216 bytes"));
}

}  // namespace
}  // namespace skid::perfdata
