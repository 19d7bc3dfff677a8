// Recordings that another program cuts, lengthens or replaces while they are read.
#include "src/locate/digest.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zstd_compressor.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>

namespace skid::perfdata {
namespace {

using test::RecordingBuilder;

constexpr std::size_t kSampleSize = 32;
/// Long enough to be read ahead, with more than what is buffered.
constexpr std::size_t kLong = 200'000;
/// All of it is in memory after the first record.
constexpr std::size_t kShort = 1'000;

class ChangingRecording : public ::testing::Test {
 protected:
  static RecordingBuilder samples(std::size_t count) {
    auto builder = RecordingBuilder().event({});
    for (std::size_t ip = 0; ip < count; ++ip) builder.sample(ip, 7, ip);
    return builder;
  }
  Recording open(const RecordingBuilder& builder) const {
    builder.write(path());
    return Recording::open(path());
  }
  /// The same with its first record read.
  Recording begun(const RecordingBuilder& builder) const {
    auto recording = open(builder);
    Record record;
    EXPECT_TRUE(recording.next(record));
    return recording;
  }
  /// Reads the rest of a recording whose samples are numbered; they must come in order.
  static std::size_t read_on(Recording& recording, std::size_t next) {
    Record record;
    while (recording.next(record)) {
      EXPECT_EQ(record.type, PERF_RECORD_SAMPLE);
      EXPECT_EQ(recording.decoder().decode(record).sample.ip, next);
      if (::testing::Test::HasFailure()) break;
      ++next;
    }
    return next;
  }
  void expect_said(const Recording& recording, const std::string& message) const {
    EXPECT_TRUE(recording.read_in_part());
    ASSERT_EQ(recording.faults().size(), 1u);
    EXPECT_EQ(recording.faults()[0].file, path().string());
    EXPECT_TRUE(recording.faults()[0].offset);
    EXPECT_THAT(describe(recording.faults()[0]), HasSubstr(message));
  }
  fs::path path() const { return directory_ / "perf.data"; }

  test::TemporaryDirectory directory_;
};

TEST_F(ChangingRecording, CutKeepsTheRecordsBeforeIt) {
  constexpr std::size_t kLeft = 150'000;  // beyond what is read ahead
  const auto builder = samples(kLong);
  for (const std::size_t more : {0u, 4u, 20u}) {  // between records, inside a header, in a body
    auto recording = begun(builder);
    fs::resize_file(path(), builder.data_offset() + kLeft * kSampleSize + more);
    EXPECT_EQ(read_on(recording, 1), kLeft);
    expect_said(recording, "became shorter while it was read");
    EXPECT_EQ(recording.faults()[0].offset, builder.data_offset() + kLeft * kSampleSize);
  }
}

TEST_F(ChangingRecording, CutToNothingKeepsTheBufferedRecords) {
  auto recording = begun(samples(kLong));
  fs::resize_file(path(), 0);
  const std::size_t read = read_on(recording, 1);
  EXPECT_GT(read, 1u);
  EXPECT_LT(read, kLong);
  expect_said(recording, "became shorter while it was read");
}

TEST_F(ChangingRecording, ThatIsShortAndCutIsInMemoryAlready) {
  auto recording = begun(samples(kShort));
  fs::resize_file(path(), 0);
  EXPECT_EQ(read_on(recording, 1), kShort);
  EXPECT_FALSE(recording.read_in_part());
}

TEST_F(ChangingRecording, CutBeforeTheFirstRecordReportsTheCut) {
  for (const std::size_t count : {kShort, kLong}) {
    const auto builder = samples(count);
    auto recording = open(builder);
    const std::size_t left = count == kShort ? 10 : 190'000;
    fs::resize_file(path(), builder.data_offset() + left * kSampleSize);
    EXPECT_EQ(read_on(recording, 0), left);
    expect_said(recording, "became shorter while it was read");
  }
}

TEST_F(ChangingRecording, CutBeforeItIsReadAgainStillEnds) {
  auto recording = open(samples(kLong));
  EXPECT_EQ(read_on(recording, 0), kLong);
  EXPECT_FALSE(recording.read_in_part());
  fs::resize_file(path(), 4096);
  recording.rewind();
  EXPECT_LT(read_on(recording, 0), kLong);
  EXPECT_TRUE(recording.read_in_part()) << "the second reading met less than the first";
}

TEST_F(ChangingRecording, ThatGrowsIsReadToWhereItEnded) {
  const auto builder = samples(kLong);
  auto recording = open(builder);
  std::ofstream(path(), std::ios::binary | std::ios::app) << samples(100).records();
  EXPECT_EQ(read_on(recording, 0), kLong);
  EXPECT_FALSE(recording.read_in_part());
}

TEST_F(ChangingRecording, ThatIsReplacedIsReadAsItWas) {
  for (const std::size_t count : {kShort, kLong}) {
    auto recording = begun(samples(count));
    auto other = RecordingBuilder().event({}).sample(0x666, 7, 1);
    other.write(directory_ / "other");
    fs::rename(directory_ / "other", path());
    EXPECT_EQ(read_on(recording, 1), count);
    recording.rewind();
    EXPECT_EQ(read_on(recording, 0), count);
    EXPECT_FALSE(recording.read_in_part());
  }
}

TEST_F(ChangingRecording, ThatIsOverwrittenWithNoiseEndsAtTheNoise) {
  const auto builder = samples(kLong);
  auto recording = begun(builder);
  {
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(builder.data_offset() + 150'000 * kSampleSize));
    file << std::string(1000, '\0');
  }
  EXPECT_EQ(read_on(recording, 1), 150'000u);
  expect_said(recording, "a record of 0 bytes");
}

TEST_F(ChangingRecording, KeepsRecordsDecompressedBeforeACut) {
  test::ZstdCompressor compressor;
  auto builder = RecordingBuilder().event({});
  std::size_t ip = 0;
  for (int packet = 0; packet < 500; ++packet) {
    RecordingBuilder inner;
    // Times that do not repeat keep the packets large.
    for (int i = 0; i < 1000; ++i, ++ip) {
      inner.sample(ip, 7, ip * 0x9e37'79b9'7f4a'7c15ULL);
    }
    builder.record(PERF_RECORD_COMPRESSED, 0, compressor.compress(inner.records()));
  }
  ASSERT_GT(builder.records().size(), std::size_t{4} << 20);
  auto recording = begun(builder);
  fs::resize_file(path(), fs::file_size(path()) / 2);
  std::size_t samples = 0;
  Record record;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    EXPECT_EQ(recording.decoder().decode(record).sample.ip, samples);
    ++samples;
  }
  EXPECT_GT(samples, 100'000u);
  EXPECT_LT(samples, 450'000u) << "half of the file, and what was read ahead";
  expect_said(recording, "became shorter while it was read");
}

TEST_F(ChangingRecording, IsDigestedUpToTheCut) {
  const auto builder = samples(kLong);
  auto recording = open(builder);
  fs::resize_file(path(), builder.data_offset() + 150'000 * kSampleSize + 7);
  const auto digest = locate::digest(recording);
  EXPECT_EQ(digest.totals.at(0).samples, 150'000u);
  expect_said(recording, "became shorter while it was read");
}

}  // namespace
}  // namespace skid::perfdata
