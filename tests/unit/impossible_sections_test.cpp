// Recordings that announce what cannot be: sections larger than the file, on top of each other or
// past its end, tables that no machine has the memory for, records that run over the end.
#include "src/locate/digest.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/file_header.h"
#include "src/perfdata/metadata.h"
#include "src/perfdata/record_counts.h"
#include "src/support/error.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

using test::expect_fault;
using test::ips_of;
using test::RecordingBuilder;

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;

// Offsets in struct perf_file_header.
constexpr std::size_t kAttributes = 24, kData = 40, kFeatureBits = 72;

/// A header with a hole after it that reads as zeros and takes no room on the disk.
constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;

class ImpossibleSections : public test::RecordingTest {
 protected:
  ImpossibleSections() {
    builder_.event({.ids = {5}}).sample(0x1000, 7, 10).sample(0x2000, 7, 20);
    builder_.feature(HEADER_OSRELEASE, builder_.writer().counted_text("6.1.0").bytes());
    builder_.feature(HEADER_ARCH, builder_.writer().counted_text("x86_64").bytes());
  }
  static std::string number(std::uint64_t value) { return test::ByteWriter().u64(value).bytes(); }
  static std::string section(std::uint64_t offset, std::uint64_t size) {
    return number(offset) + number(size);
  }
  /// Opens the two samples with other bytes from `at` on.
  Recording with(std::size_t at, const std::string& bytes) const {
    return with(at, bytes, kLargest);
  }
  /// The same without what follows `end`, in a file of `file_size` bytes where that is more.
  Recording with(std::size_t at, const std::string& bytes, std::uint64_t end,
                 std::uint64_t file_size = 0) const {
    auto all = builder_.bytes().substr(0, end);
    file_.set(all.replace(at, bytes.size(), bytes));
    if (file_size > all.size()) std::filesystem::resize_file(path(), file_size);
    return Recording::open(path());
  }
  static std::string faults_of(const Recording& recording) {
    std::string all;
    for (const auto& fault : recording.faults()) all += describe(fault) + '\n';
    return all;
  }
  /// That both samples are read and something is missing, with such a fault.
  static void expect_two_samples(Recording recording, const std::string& fault) {
    EXPECT_THAT(ips_of(recording), ElementsAre(0x1000, 0x2000)) << fault;
    EXPECT_THAT(faults_of(recording), HasSubstr(fault));
    EXPECT_TRUE(recording.read_in_part());
  }
  std::size_t ids() const { return builder_.data_offset() - 16; }  ///< the section of the id table
  /// Where the section of the first feature is described.
  std::size_t feature_table() const { return builder_.data_offset() + builder_.records().size(); }

  RecordingBuilder builder_;
};

/// That `work` ends in less than this time.
template <typename Work>
void expect_within(std::chrono::seconds limit, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  EXPECT_LT(std::chrono::steady_clock::now() - start, limit);
}

TEST_F(ImpossibleSections, AnIdTableOfATeraOfEntriesIsRefused) {
  for (const std::uint64_t size : {kTerabyte * 8, kLargest, kLargest - 7, kHalf}) {
    expect_two_samples(with(ids() + 8, number(size)), "an id table of " + std::to_string(size));
  }
}

TEST_F(ImpossibleSections, AnIdTableInAHoleOfTheFileIsRefused) {
  // The table is within the file, which is large without taking room on the disk.
  expect_two_samples(
      with(ids(), section(builder_.bytes().size(), kTerabyte / 2), kLargest, kTerabyte),
      "an id table of 549755813888 bytes");
}

TEST_F(ImpossibleSections, AnAttributeSectionOfAnExabyteIsReadToTheEndOfTheFile) {
  for (const std::uint64_t size : {std::uint64_t{1} << 60, kLargest, kHalf}) {
    auto recording = with(kAttributes + 8, number(size));
    EXPECT_THAT(faults_of(recording), HasSubstr("event attributes"));
    EXPECT_TRUE(recording.read_in_part());
    EXPECT_EQ(recording.attributes().front().name, "cpu-clock:HG");
    ips_of(recording);
  }
}

TEST_F(ImpossibleSections, AnAttributeSectionInAHoleOfTheFileIsReadInASecond) {
  expect_within(std::chrono::seconds(10), [&] {
    auto recording = with(kAttributes + 8, number(std::uint64_t{1} << 39), kLargest, kTerabyte);
    EXPECT_LE(recording.attributes().size(), kMostAttributes);
    ips_of(recording);
  });
}

TEST_F(ImpossibleSections, AnAttributeSectionPastTheEndIsRefused) {
  for (const std::uint64_t offset : {std::uint64_t{1} << 30, kHalf, kLargest}) {
    try {
      with(kAttributes, number(offset));
      FAIL() << offset;
    } catch (const InputError& error) {
      EXPECT_EQ(error.fault().offset, offset);
      EXPECT_THAT(error.what(), HasSubstr("no readable event attribute"));
    }
  }
}

TEST_F(ImpossibleSections, AFeatureSectionPastTheEndIsReportedAndTheOthersAreRead) {
  for (const std::uint64_t size : {std::uint64_t{8}, kHalf, kLargest}) {
    for (const std::uint64_t offset : {std::uint64_t{1} << 30, kHalf, kLargest}) {
      auto recording = with(feature_table(), section(offset, size));
      EXPECT_EQ(recording.features().os_release, "");
      EXPECT_EQ(recording.features().arch, "x86_64");
      EXPECT_EQ(recording.faults().at(0).offset, offset);
      expect_two_samples(std::move(recording), "feature section 4 of");
    }
  }
}

TEST_F(ImpossibleSections, FeaturesThatAllAreTheWholeFileAreReadInASecond) {
  // All 256 features, each pointing to everything: the same bytes are not read again and again.
  auto builder = RecordingBuilder().event({});
  for (std::uint64_t ip = 0; ip < 100'000; ++ip) builder.sample(ip, 7, ip);
  auto bytes = builder.bytes();
  bytes.replace(kFeatureBits, 32, std::string(32, '\xff'));
  const std::uint64_t whole = bytes.size() + std::size_t{HEADER_FEATURES} * 16;
  for (unsigned bit = 0; bit < HEADER_FEATURES; ++bit) bytes += section(0, whole);
  expect_within(std::chrono::seconds(10), [&] {
    auto recording = open(bytes);
    EXPECT_EQ(ips_of(recording).size(), 100'000u);
    EXPECT_TRUE(recording.read_in_part());
    EXPECT_THAT(faults_of(recording), HasSubstr("feature section 4 of"));
  });
}

TEST_F(ImpossibleSections, AttributesThatOverlapTheDataAreRead) {
  // Nothing forbids it; it must only not lead anywhere else.
  auto recording = with(kData, section(104, builder_.bytes().size() - 104));
  EXPECT_TRUE(ips_of(recording).empty());
  EXPECT_TRUE(recording.read_in_part());
  try {
    auto other = with(kAttributes, number(builder_.data_offset()));
    ips_of(other);
  } catch (const InputError& error) {
    EXPECT_FALSE(error.fault().found.empty());
  }
}

TEST_F(ImpossibleSections, ADataSectionWhoseEndOverflowsEndsWithTheFile) {
  const auto begin = builder_.data_offset();
  for (const std::uint64_t size :
       {kLargest, kLargest - begin, kLargest - begin + 1, kHalf, std::uint64_t{1000}}) {
    auto recording = with(kData + 8, number(size), feature_table());
    EXPECT_EQ(recording.faults().at(0).offset, begin);
    expect_two_samples(std::move(recording),
                       fmt::format("records, expected {} by its header", size));
  }
  for (const std::uint64_t offset : {kLargest, kHalf, kLargest - 63}) {
    auto recording = with(kData, number(offset));
    EXPECT_TRUE(ips_of(recording).empty());
    EXPECT_THAT(faults_of(recording), HasSubstr("past the end of the file"));
  }
}

TEST_F(ImpossibleSections, ADataSectionInAHoleOfTheFileEndsAtOnce) {
  expect_two_samples(with(kData + 8, number(kTerabyte / 2), feature_table(), kTerabyte),
                     "a record of 0 bytes");
}

TEST_F(ImpossibleSections, ARecordThatIsTooShortOrRunsOverTheEndIsTheLast) {
  for (const int size : {0, 1, 2, 3, 4, 5, 6, 7, 9, 0xffff}) {
    auto builder =
        RecordingBuilder().event({}).sample(0x1000, 7, 10).record(PERF_RECORD_SAMPLE, 2, "", size);
    for (const auto& bytes : {builder.bytes(), builder.pipe_bytes()}) {
      auto recording = open(bytes);
      EXPECT_THAT(ips_of(recording), ElementsAre(0x1000)) << size;
      expect_fault(recording, "a record of " + std::to_string(size) + " bytes" +
                                  (size < 8 ? ", expected at least 8" : ""));
      EXPECT_EQ(recording.faults().at(0).offset, bytes.size() - 8) << size;
    }
  }
}

TEST_F(ImpossibleSections, ATraceBeyondTheEndEndsTheReading) {
  for (const std::uint64_t size : {std::uint64_t{1} << 30, kHalf, kLargest, kLargest - 7}) {
    auto builder = RecordingBuilder().event({}).sample(0x1000, 7, 10);
    builder.record(PERF_RECORD_AUXTRACE, 0,
                   builder.writer().u64(size).u64(0).u64(0).u64(0).u64(0).bytes());
    builder.sample(0x2000, 7, 20);
    auto file = open(builder.bytes());
    EXPECT_THAT(ips_of(file), ElementsAre(0x1000));
    EXPECT_THAT(faults_of(file), HasSubstr("an AUX trace of " + std::to_string(size)));
    EXPECT_EQ(file.faults().at(0).offset, builder.data_offset() + 32);

    const auto bytes = builder.pipe_bytes();
    const test::FilledPipe pipe(bytes);
    auto piped = Recording::open(pipe.path());
    EXPECT_THAT(ips_of(piped), ElementsAre(0x1000));
    EXPECT_THAT(faults_of(piped), HasSubstr(std::to_string(size)));
    EXPECT_EQ(piped.faults().at(0).offset, bytes.size() - 32 - 48);
  }
}

TEST_F(ImpossibleSections, TracingDataOfFourGigabytesEndTheReading) {
  auto builder = RecordingBuilder().event({}).sample(0x1000, 7, 10);
  builder.record(PERF_RECORD_HEADER_TRACING_DATA, 0, builder.writer().u32(0xffff'ffff).bytes());
  builder.sample(0x2000, 7, 20);
  auto file = open(builder.pipe_bytes());
  EXPECT_THAT(ips_of(file), ElementsAre(0x1000));
  EXPECT_THAT(faults_of(file), HasSubstr("tracing data of 4294967295 bytes"));

  const test::FilledPipe pipe(builder.pipe_bytes());
  auto piped = Recording::open(pipe.path());
  EXPECT_THAT(ips_of(piped), ElementsAre(0x1000));
  EXPECT_THAT(faults_of(piped), HasSubstr("4294967295 bytes announced after a record"));
}

TEST_F(ImpossibleSections, RepeatedMetadataIsReadInASecond) {
  // Records that change nothing about how samples are decoded must not make that be set up again:
  // with thousands of events that takes long.
  RecordingBuilder builder;
  constexpr unsigned kEvents = 4000;
  builder.attribute_size(64);
  for (unsigned i = 0; i < kEvents; ++i) {
    builder.event({.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, .ids = {i + 1}});
  }
  const auto text = builder.writer().u64(HEADER_OSRELEASE).counted_text("6.1.0").bytes();
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    builder.record(PERF_RECORD_HEADER_FEATURE, 0, text);
    builder.record(PERF_RECORD_SAMPLE, 2, builder.writer().u64(1 + i % kEvents).u64(i).bytes());
  }
  auto recording = open(builder.pipe_bytes());
  expect_within(std::chrono::seconds(5), [&] { EXPECT_EQ(ips_of(recording).size(), 20'000u); });
}

using test::EventToBuild;

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
  builder.event({.sample_type = kType, .ids = {5}});
  for (int i = 0; i <= 100; ++i) {
    const char* name = i == 0 ? "first" : "second";
    builder.feature(HEADER_EVENT_DESC, builder.event_description(name, {5}));
  }
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
