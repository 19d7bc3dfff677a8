// perf.data in file mode, with compressed records too: what is read, and how damage is reported.
#include "tests/support/recording_test.h"

#include "src/machine/diagnosis.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/sample.h"
#include "src/support/error.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zstd_compressor.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfdata {
namespace {

using test::ips_of;
using test::RecordingBuilder;

using RecordingFile = test::RecordingTest;

std::vector<Sample> samples_of(Recording& recording) {
  std::vector<Sample> samples;
  Record record;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    if (const auto sample = recording.decode(record)) samples.push_back(*sample);
  }
  return samples;
}

RecordingBuilder three_samples() {
  auto builder = RecordingBuilder()
                     .event({})
                     .sample(0x1000, 7, 10)
                     .sample(0x2000, 7, 20)
                     .sample(0x3000, 8, 30);
  return builder;
}

TEST_F(RecordingFile, ReturnsSamplesInFileOrder) {
  auto recording = open(three_samples());
  const auto samples = samples_of(recording);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[1].ip, 0x2000u);
  EXPECT_EQ(samples[1].time, 20u);
  EXPECT_EQ(samples[2].pid, 8);
  EXPECT_EQ(samples[0].mode, CpuMode::user);
  EXPECT_TRUE(recording.faults().empty());
  EXPECT_FALSE(recording.read_in_part());
}

TEST_F(RecordingFile, OfABigEndianMachineIsRead) {
  auto builder = RecordingBuilder(true)
                     .event({.precise_ip = 2})
                     .sample(0xc000'1234, 7, 10, 2 | PERF_RECORD_MISC_EXACT_IP);
  auto recording = open(builder);
  EXPECT_EQ(recording.byte_order(), ByteOrder::big);
  EXPECT_EQ(recording.attributes().front().precise_ip, 2u);
  EXPECT_TRUE(recording.attributes().front().sample_id_all);
  const auto samples = samples_of(recording);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].ip, 0xc000'1234u);
  EXPECT_EQ(samples[0].pid, 7);
  EXPECT_TRUE(samples[0].exact);
}

TEST_F(RecordingFile, ContainsEachPreciseLevel) {
  for (const bool big_endian : {false, true}) {
    for (unsigned level = 0; level <= 3; ++level) {
      auto builder = RecordingBuilder(big_endian).event({.precise_ip = level}).sample(1, 1, 1);
      EXPECT_EQ(open(builder).attributes().front().precise_ip, level);
    }
  }
}

TEST_F(RecordingFile, WithAttributesOfAnySizeIsRead) {
  for (const std::uint32_t size : {112u, 120u, 128u, 136u, 144u, 512u}) {
    auto builder = three_samples();
    builder.attribute_size(size);
    auto recording = open(builder);
    EXPECT_EQ(ips_of(recording).size(), 3u) << size;
  }
}

TEST_F(RecordingFile, WithTheFirstAttributeEverHasZerosForLaterFields) {
  // PERF_ATTR_SIZE_VER0 ends after config1.
  auto builder = three_samples();
  builder.attribute_size(64);
  auto recording = open(builder);
  EXPECT_EQ(recording.attributes().front().branch_sample_type, 0u);
  EXPECT_EQ(ips_of(recording).size(), 3u);
}

TEST_F(RecordingFile, DistinguishesEventsByTheirIds) {
  auto builder = test::two_events();
  builder.record(PERF_RECORD_SAMPLE, 2, builder.writer().u64(99).u64(0x3).bytes());
  auto recording = open(builder);
  const SampleDecoder decoder(recording.attributes(), recording.byte_order());
  Record record;
  ASSERT_TRUE(recording.next(record));
  EXPECT_EQ(decoder.decode(record).sample.attribute, 1u);
  ASSERT_TRUE(recording.next(record));
  EXPECT_EQ(decoder.decode(record).sample.attribute, 0u);
  ASSERT_TRUE(recording.next(record));
  EXPECT_EQ(decoder.decode(record).problem, SampleDecoder::Problem::unknown_id);
}

TEST_F(RecordingFile, HasTheNamesOfItsEvents) {
  auto builder = RecordingBuilder().event({.ids = {5}}).sample(1, 1, 1);
  builder.feature(HEADER_EVENT_DESC, builder.event_description("cycles:ppp", {5}));
  EXPECT_EQ(open(builder).attributes().front().name, "cycles:ppp");
}

TEST_F(RecordingFile, ReadsBuildIdsOfTheirOwnLength) {
  auto builder = three_samples();
  const auto entry = [&](std::uint16_t misc, std::uint8_t size, std::size_t filled = 20) {
    const std::string id = std::string(filled, '\xab') + std::string(20 - filled, '\0');
    return builder.build_id_entry("/bin/x", id, misc, size);
  };
  builder.feature(HEADER_BUILD_ID, entry(2, 0) + entry(PERF_RECORD_MISC_BUILD_ID_SIZE | 2, 16) +
                                       entry(2, 0, 16) + entry(2, 0, 8) + entry(2, 0, 19));
  const auto recording = open(builder);
  ASSERT_EQ(recording.features().build_ids.size(), 5u);
  EXPECT_EQ(recording.features().build_ids[0].build_id.size(), 40u);
  EXPECT_EQ(recording.features().build_ids[1].build_id.size(), 32u);
  EXPECT_EQ(recording.features().build_ids[1].path, "/bin/x");
  // Without their size, as perf before 5.11 writes them.
  EXPECT_EQ(recording.features().build_ids[2].build_id.size(), 32u);
  EXPECT_EQ(recording.features().build_ids[3].build_id.size(), 16u);
  EXPECT_EQ(recording.features().build_ids[4].build_id.size(), 40u) << "ends with a zero";
}

TEST_F(RecordingFile, SkipsTheTraceAfterAnAuxtraceRecord) {
  auto builder = RecordingBuilder().event({}).sample(0x1, 1, 1);
  // The trace holds what looks like a sample; it must not be read as one.
  RecordingBuilder inner;
  const std::string fake =
      inner.writer().u32(PERF_RECORD_SAMPLE).u16(2).u16(32).u64(0x666).u64(1).u64(1).bytes();
  builder.record(
      PERF_RECORD_AUXTRACE, 0,
      builder.writer().u64(fake.size()).u64(0).u64(0).u32(0).u32(0).u32(0).u32(0).bytes());
  const std::string so_far = builder.bytes();
  builder.sample(0x2, 1, 2);
  std::string bytes = builder.bytes();
  bytes.insert(so_far.size(), fake);
  // The header's data size grew with the trace.
  const std::string size = builder.writer().u64(bytes.size() - builder.data_offset()).bytes();
  bytes.replace(48, 8, size);
  auto recording = open(bytes);
  EXPECT_THAT(ips_of(recording), ElementsAre(0x1, 0x2));
}

TEST_F(RecordingFile, OfAnotherFormatIsRefusedWithOffsetAndRemedy) {
  EXPECT_THAT(error_of(""), HasSubstr("a file of 0 bytes"));
  EXPECT_THAT(error_of(std::string(200, 'x')), HasSubstr("no perf.data magic"));
  EXPECT_THAT(error_of("\x1f\x8b\x08" + std::string(200, 'x')), HasSubstr("gzip -d"));
  EXPECT_THAT(error_of("\xfd" + ("7zXZ" + std::string(200, '\0'))), HasSubstr("xz -d"));
  const test::TemporaryDirectory directory;
  EXPECT_THROW(Recording::open(directory / "missing"), InputError);
  EXPECT_THROW(Recording::open(directory.path()), InputError);
}

TEST_F(RecordingFile, OfTheFormatBeforeLinux34IsReadInBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    std::string bytes = RecordingBuilder(big_endian).event({}).sample(0x1000, 7, 10).bytes();
    bytes.replace(0, 8, "PERFFILE");
    auto recording = open(bytes);
    EXPECT_EQ(recording.byte_order(), big_endian ? ByteOrder::big : ByteOrder::little);
    EXPECT_THAT(ips_of(recording), ElementsAre(0x1000));
    EXPECT_TRUE(recording.faults().empty());
  }
}

TEST_F(RecordingFile, WithTracingDataInsideTheirRecordIsReadToItsEnd) {
  auto builder = RecordingBuilder().event({});
  builder.record(PERF_RECORD_HEADER_TRACING_DATA, 0,
                 builder.writer().u32(5).raw("bytes").raw(std::string(7, '\0')).bytes());
  builder.sample(0x1000, 7, 10);
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(0x1000));
  EXPECT_EQ(recording.features().tracing_data.size(), 5u);
  EXPECT_TRUE(recording.faults().empty());
}

TEST_F(RecordingFile, WithAHardwareTraceTellsItsKindAndSize) {
  auto builder = RecordingBuilder().event({});
  builder.record(PERF_RECORD_AUXTRACE_INFO, 0, builder.writer().u32(1).u32(0).bytes());
  builder.record(PERF_RECORD_AUXTRACE, 0, builder.writer().u64(16).bytes());
  builder.raw(std::string(16, 't')).sample(0x1000, 7, 10);
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(0x1000));
  recording.rewind();
  EXPECT_THAT(ips_of(recording), ElementsAre(0x1000));
  EXPECT_EQ(name_of_trace_type(recording.hardware_trace().type), "intel_pt");
  EXPECT_EQ(recording.hardware_trace().bytes, 16u);
}

TEST_F(RecordingFile, OfAPerfThatDidNotEndProperlyIsReadToTheEndOfTheFile) {
  auto builder = three_samples();
  std::string bytes = builder.bytes();
  bytes.replace(48, 8, builder.writer().u64(0).bytes());
  auto recording = open(bytes);
  EXPECT_EQ(ips_of(recording).size(), 3u);
  EXPECT_THAT(describe(recording.faults().at(0)), HasSubstr("never completed"));
}

using test::expect_fault;
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
  auto builder = RecordingBuilder().event({}).sample(100, 7, 1);
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
      auto builder = RecordingBuilder().event({});
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
  auto builder = RecordingBuilder().event({}).record(PERF_RECORD_COMPRESSED, 0,
                                                     compressor.compress(samples(0, 13'000)));
  auto recording = open(builder);
  EXPECT_EQ(ips_of(recording), up_to(13'000));
}

TEST_F(CompressedRecording, SkipsThePaddingOfCompressed2) {
  ZstdCompressor compressor;
  auto builder = RecordingBuilder().event({});
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
  auto builder =
      RecordingBuilder().event({}).record(PERF_RECORD_COMPRESSED2, 0, body).sample(100, 7, 1);
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(100));
  expect_fault(recording, "compressed data of");
}

TEST_F(CompressedRecording, CountsRecordsBeforeDamageAndUncompressedOnes) {
  ZstdCompressor compressor;
  auto builder = RecordingBuilder().event({}).record(PERF_RECORD_COMPRESSED, 0,
                                                     compressor.compress(samples(0, 3)));
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
  auto builder = RecordingBuilder().event({}).record(
      PERF_RECORD_COMPRESSED, 0,
      compressor.compress(std::string_view(all).substr(0, all.size() - 5)));
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(0));
  expect_fault(recording, "27 bytes of another one");
}

TEST_F(CompressedRecording, EndsAtACompressedRecordWithoutASize) {
  // A mebibyte of zeros takes 50 bytes; it is no records, and ends the decompressing at once.
  ZstdCompressor compressor;
  auto builder = RecordingBuilder().event({}).record(PERF_RECORD_COMPRESSED, 0,
                                                     compressor.compress(samples(0, 1)));
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
  auto builder =
      RecordingBuilder().event({}).record(PERF_RECORD_COMPRESSED, 0, frame).sample(100, 7, 1);
  auto recording = open(builder);
  EXPECT_THAT(ips_of(recording), ElementsAre(100));
  expect_fault(recording, "too much memory");
}

}  // namespace
}  // namespace skid::perfdata
