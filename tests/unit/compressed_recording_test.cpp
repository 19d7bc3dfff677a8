// PERF_RECORD_COMPRESSED and COMPRESSED2: the records compressed in them, and damage to the
// compression.
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"
#include "tests/support/zstd_compressor.h"

namespace skid::perfdata {
namespace {

using test::expect_fault;
using test::ips_of;
using test::RecordingBuilder;
using test::ZstdCompressor;

class CompressedRecording : public test::RecordingTest {
 protected:
  /// Samples at 0, 1, 2, … in the bytes of their records.
  static std::string samples(std::uint64_t first, std::uint64_t count) {
    RecordingBuilder builder;
    for (std::uint64_t ip = first; ip < first + count; ++ip) builder.sample(ip, 7, ip);
    return builder.records();
  }
  static std::string compressed2_body(const std::string& compressed) {
    std::string body = RecordingBuilder().writer().u64(compressed.size()).bytes() + compressed;
    body.resize((body.size() + 7) / 8 * 8, '\xff');
    return body;
  }
  static std::vector<std::uint64_t> up_to(std::uint64_t count) {
    std::vector<std::uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0u);
    return numbers;
  }
};

TEST_F(CompressedRecording, ReturnsTheRecordsAfterTheirPacket) {
  ZstdCompressor compressor;
  RecordingBuilder builder;
  builder.event({}).sample(100, 7, 1);
  builder.record(PERF_RECORD_COMPRESSED, 0, compressor.compress(samples(0, 2)));
  builder.sample(200, 7, 2);
  builder.record(PERF_RECORD_COMPRESSED, 0, compressor.compress(samples(2, 1)));
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(100, 0, 1, 200, 2));
  EXPECT_TRUE(recording.faults().empty());
  recording.rewind();
  EXPECT_THAT(ips_of(recording), ElementsAre(100, 0, 1, 200, 2)) << "after rewinding";
}

TEST_F(CompressedRecording, JoinsRecordsAndFramesThatRunAcrossPackets) {
  const std::string all = samples(0, 5000);
  for (const std::size_t piece : {1000u, 1001u, 40'000u}) {
    for (const bool new_frames : {false, true}) {
      ZstdCompressor compressor;
      RecordingBuilder builder;
      builder.event({});
      for (std::size_t at = 0; at < all.size(); at += piece) {
        builder.record(PERF_RECORD_COMPRESSED, 0,
                       compressor.compress(std::string_view(all).substr(at, piece), new_frames));
        builder.record(PERF_RECORD_FINISHED_ROUND, 0, "");
      }
      auto recording = open(builder);
      EXPECT_EQ(ips_of(recording), up_to(5000)) << piece << (new_frames ? " in frames" : "");
      EXPECT_TRUE(recording.faults().empty());
    }
  }
}

TEST_F(CompressedRecording, DecompressesMoreThanItsBufferFromOnePacket) {
  ZstdCompressor compressor;
  RecordingBuilder builder;
  builder.event({}).record(PERF_RECORD_COMPRESSED, 0, compressor.compress(samples(0, 13'000)));
  auto recording = open(builder);
  EXPECT_EQ(ips_of(recording), up_to(13'000));
}

TEST_F(CompressedRecording, SkipsThePaddingOfCompressed2) {
  ZstdCompressor compressor;
  RecordingBuilder builder;
  builder.event({});
  for (std::uint64_t ip = 0; ip < 50; ++ip) {
    builder.record(PERF_RECORD_COMPRESSED2, 0,
                   compressed2_body(compressor.compress(samples(ip, 1))));
  }
  auto recording = open(builder);
  EXPECT_EQ(ips_of(recording), up_to(50));
  EXPECT_TRUE(recording.faults().empty());
}

TEST_F(CompressedRecording, RefusesACompressed2ThatIsLargerThanItsRecord) {
  ZstdCompressor compressor;
  auto body = compressed2_body(compressor.compress(samples(0, 1)));
  body[1] = '\x7f';
  RecordingBuilder builder;
  builder.event({}).record(PERF_RECORD_COMPRESSED2, 0, body).sample(100, 7, 1);
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(100));
  expect_fault(recording, "compressed data of");
}

TEST_F(CompressedRecording, CountsRecordsBeforeDamageAndUncompressedOnes) {
  ZstdCompressor compressor;
  RecordingBuilder builder;
  builder.event({}).record(PERF_RECORD_COMPRESSED, 0, compressor.compress(samples(0, 3)));
  builder.record(PERF_RECORD_COMPRESSED, 0, "no zstd at all, whatever it says");
  builder.record(PERF_RECORD_COMPRESSED, 0, compressor.compress(samples(3, 3)));
  builder.sample(100, 7, 1);
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(0, 1, 2, 100));
  expect_fault(recording, "cannot be decompressed");  // reported once
}

TEST_F(CompressedRecording, ReportsATruncatedLastRecord) {
  ZstdCompressor compressor;
  const auto all = samples(0, 2);
  RecordingBuilder builder;
  builder.event({}).record(PERF_RECORD_COMPRESSED, 0,
                           compressor.compress(std::string_view(all).substr(0, all.size() - 5)));
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(0));
  expect_fault(recording, "27 bytes of another one");
}

TEST_F(CompressedRecording, EndsAtACompressedRecordWithoutASize) {
  // A mebibyte of zeros takes 50 bytes; it is no records, and ends the decompressing at once.
  ZstdCompressor compressor;
  RecordingBuilder builder;
  builder.event({}).record(PERF_RECORD_COMPRESSED, 0, compressor.compress(samples(0, 1)));
  builder.record(PERF_RECORD_COMPRESSED, 0, compressor.compress(std::string(1u << 20, '\0')));
  builder.sample(100, 7, 1);
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(0, 100));
  expect_fault(recording, "a compressed record of 0 bytes");
}

TEST_F(CompressedRecording, RefusesAWindowAboveThatOfZstdsHighestLevel) {
  // A frame header that asks for a window of 2 GiB (RFC 8878, 3.1.1.1.2: exponent 21, mantissa 0).
  std::string frame("\x28\xb5\x2f\xfd\x00\xa8", 6);
  frame.append(64, '\0');
  RecordingBuilder builder;
  builder.event({}).record(PERF_RECORD_COMPRESSED, 0, frame).sample(100, 7, 1);
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(100));
  expect_fault(recording, "too much memory");
}

}  // namespace
}  // namespace skid::perfdata
