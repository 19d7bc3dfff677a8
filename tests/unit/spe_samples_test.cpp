// AUX data of SPE read as samples: their fields, threads and times, and what is left out.
#include "src/perfdata/spe_samples.h"

#include "src/locate/digest.h"
#include "src/output/inspection/inspection.h"
#include "src/perfdata/record_counts.h"
#include "tests/support/recording_test.h"
#include "tests/support/spe_to_build.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/writing_thread.h"
#include "tests/support/zstd_compressor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

namespace skid::perfdata {
namespace {

using test::RecordingBuilder;
using test::SpePackets;
using test::SpeRecording;
using test::SpeRecordingToBuild;

/// A sample in short: "7/8 401000 at 100".
std::vector<std::string> samples_of(Recording& recording) {
  std::vector<std::string> samples;
  Record record;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    const auto sample = recording.decode(record);
    if (!sample) continue;
    samples.push_back(
        fmt::format("{}/{} {:x} at {}", sample->pid, sample->tid, sample->ip, sample->time));
  }
  return samples;
}

class SamplesOfSpe : public test::RecordingTest {
 protected:
  std::vector<std::string> samples(const RecordingBuilder& builder) {
    auto recording = open(builder);
    const auto first = samples_of(recording);
    EXPECT_TRUE(recording.faults().empty());
    recording.rewind();
    EXPECT_EQ(samples_of(recording), first) << "read again";
    return first;
  }
  std::vector<std::string> samples(const SpeRecording& built) { return samples(built.finished()); }
  /// What was counted in the AUX data of a recording.
  Recording::HardwareTrace trace(const SpeRecording& built) {
    auto recording = open(built.finished());
    samples_of(recording);
    return recording.hardware_trace();
  }
};

SpePackets load_at(std::uint64_t pc, std::uint64_t time) {
  return SpePackets().pc(pc).load().events(0x16).data(0x7f00'0000).latency(0, 30).timestamp(time);
}

TEST_F(SamplesOfSpe, HaveTheFieldsOfTheirRecords) {
  SpeRecording built;
  built.comm(7, 7, 1).trace(load_at(0x401000, 100).pc(0xffff'8000'0000'0000, 1).end(), 3);
  auto recording = open(built.finished());
  Record record;
  std::vector<std::pair<Sample, SampleDetails>> found;
  std::vector<std::optional<SpeRecord>> records;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    EXPECT_TRUE(recording.is_in_trace());
    const Sample sample = recording.decode(record).value();
    found.emplace_back(sample, recording.decoder().details(record, sample).value());
    records.push_back(parse_spe_record(found.back().second.raw));
  }
  EXPECT_FALSE(recording.is_in_trace());
  ASSERT_EQ(found.size(), 2u);
  const auto& [sample, details] = found[0];
  EXPECT_EQ(sample.attribute, 0u);
  EXPECT_EQ(sample.mode, CpuMode::user);
  EXPECT_FALSE(sample.exact);
  EXPECT_EQ(sample.ip, 0x401000u);
  EXPECT_EQ(sample.addr, 0x7f00'0000u);
  EXPECT_EQ(sample.time, 100u);
  EXPECT_EQ(sample.cpu, 3u);
  EXPECT_EQ(sample.period, 1024u);
  EXPECT_EQ(details.weight, 30u);
  EXPECT_EQ(details.data_source & 0x1f, std::uint64_t{PERF_MEM_OP_LOAD});
  EXPECT_EQ(found[1].first.mode, CpuMode::kernel);
  ASSERT_TRUE(records[0] && records[1]);
  EXPECT_EQ(records[0]->events, 0x16u);
  EXPECT_EQ(records[1]->pc, 0xffff'8000'0000'0000);
  EXPECT_EQ(recording.hardware_trace().spe.records, 2u);
}

TEST_F(SamplesOfSpe, TakeThreadsFromContextPackets) {
  SpeRecording built;
  const auto at = [](std::uint32_t tid, std::uint64_t time) {
    return SpePackets().pc(0x1000).context(tid).timestamp(time).bytes();
  };
  // The data precede the record of the fork.
  built.comm(7, 7, 1).trace(
      SpePackets().raw(at(7, 50)).raw(at(8, 60)).raw(at(0, 70)).raw(at(99, 80)));
  built.fork(7, 8, 55).fork(6, 99, 90);
  EXPECT_THAT(samples(built), ElementsAre("7/7 1000 at 50", "7/8 1000 at 60", "0/0 1000 at 70",
                                          "-1/99 1000 at 80"));
}

TEST_F(SamplesOfSpe, TakeThreadsFromSwitchesWithoutContextPackets) {
  SpeRecording built;
  built.switch_in(7, 8, 100, 0).switch_in(9, 9, 200, 0).switch_in(5, 5, 100, 1);
  built.trace(SpePackets()
                  .raw(load_at(1, 50).bytes())
                  .raw(load_at(2, 150).bytes())
                  .raw(load_at(3, 250).bytes()));
  built.trace(load_at(4, 150), 1);
  EXPECT_THAT(samples(built),
              ElementsAre("-1/-1 1 at 50", "7/8 2 at 150", "9/9 3 at 250", "5/5 4 at 150"));
}

TEST_F(SamplesOfSpe, OfABufferPerThreadAreOfItsThread) {
  SpeRecording built({.has_times = false});
  built.comm(7, 7, 0).fork(7, 8, 0);
  built.trace(SpePackets().pc(0x1000).end(), 0, 8).trace(SpePackets().pc(0x2000).end(), 0, 7);
  EXPECT_THAT(samples(built), ElementsAre("7/8 1000 at 0", "7/7 2000 at 0"));
}

TEST_F(SamplesOfSpe, HaveTimesOfTheKernelsClock) {
  SpeRecording built({.shift = 2, .multiplier = 5, .zero = 1000});
  built.trace(load_at(1, 403));
  EXPECT_THAT(samples(built), ElementsAre("-1/-1 1 at 1503")) << "1000 + 403 * 5 / 4";
  const TimeConversion cut{
      .multiplier = 1, .cycles = 0x1'0000'0010, .mask = 0xffff'ffff, .is_short = true};
  EXPECT_EQ(cut.time_of(0x20), 0x1'0000'0020u) << "a counter of 32 bits";
  EXPECT_EQ(cut.time_of(0x5), 0x2'0000'0005u);
  EXPECT_EQ((TimeConversion{.shift = 200, .multiplier = 3}).time_of(7), 0u);
}

TEST_F(SamplesOfSpe, WithoutATimeHaveThatOfTheLastRecordBefore) {
  SpeRecording built;
  built.aux(0, 16, 0, 400).trace(SpePackets().pc(0x1000).end());
  EXPECT_THAT(samples(built), ElementsAre("-1/-1 1000 at 400"));
}

TEST_F(SamplesOfSpe, AreEqualInBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    SpeRecording built({.big_endian = big_endian});
    built.comm(7, 7, 1).trace(SpePackets().pc(0x401000).context(7).timestamp(100));
    EXPECT_THAT(samples(built), ElementsAre("7/7 401000 at 100"));
  }
}

TEST_F(SamplesOfSpe, AreOfTheCpusPmuInVersionTwo) {
  SpeRecording built({.version = 2});
  built.trace(load_at(1, 100), 0).trace(load_at(2, 100), 1);
  EXPECT_THAT(samples(built), ElementsAre("-1/-1 1 at 100")) << "CPU 1 has no SPE";
}

TEST_F(SamplesOfSpe, FromAPipeAreThoseOfTheFile) {
  SpeRecording built;
  built.comm(7, 7, 1).trace(load_at(0x401000, 100)).comm(7, 7, 110);
  built.trace(SpePackets().pc(0x402000).context(7).timestamp(120));
  const auto expected = samples(built);
  ASSERT_EQ(expected.size(), 2u);
  test::TemporaryDirectory directory;
  const auto fifo = directory / "fifo";
  for (const bool spools : {false, true}) {
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    test::WritingThread writer(fifo, built.finished().pipe_bytes());
    auto recording = Recording::open(fifo);
    if (spools) recording.spool();
    EXPECT_EQ(samples_of(recording), expected);
    EXPECT_TRUE(recording.faults().empty());
    fs::remove(fifo);
  }
}

TEST_F(SamplesOfSpe, OfCompressedRecordingsKnowTheirThreads) {
  SpeRecording names;
  names.comm(7, 7, 1).fork(7, 8, 2);
  const std::string records =
      names.builder().records().substr(SpeRecording().builder().records().size());
  test::ZstdCompressor compressor;
  SpeRecording built;
  built.trace(SpePackets().pc(0x1000).context(8).timestamp(50));
  built.builder().record(PERF_RECORD_COMPRESSED, 0, compressor.compress(records));
  EXPECT_THAT(samples(built), ElementsAre("7/8 1000 at 50"));
}

TEST_F(SamplesOfSpe, OfADirectoryKnowTheThreadsOfEachFile) {
  SpeRecording names;
  names.comm(7, 7, 1).fork(7, 8, 2);
  const test::TemporaryDirectory directory;
  SpeRecording built;
  built.trace(SpePackets().pc(0x1000).context(8).timestamp(50));
  built.finished().write(directory / "data");
  std::ofstream(directory / "data.0", std::ios::binary)
      << names.builder().records().substr(SpeRecording().builder().records().size());
  auto recording = Recording::open(directory.path());
  EXPECT_THAT(samples_of(recording), ElementsAre("7/8 1000 at 50"));
  EXPECT_TRUE(recording.faults().empty());
}

TEST_F(SamplesOfSpe, FollowThoseOfOtherEvents) {
  SpeRecording built;
  built.trace(load_at(0x1000, 100));
  const auto body = built.writer().u64(22).u64(0x5000).i32(7).i32(7).u64(200).u32(0).u32(0);
  built.builder().record(PERF_RECORD_SAMPLE, 2, body.bytes());
  EXPECT_THAT(samples(built), ElementsAre("7/7 5000 at 200", "-1/-1 1000 at 100"));
}

TEST_F(SamplesOfSpe, LeaveOutCutRecords) {
  const std::string whole = load_at(0x1000, 100).bytes();
  // A buffer of a snapshot begins inside of a record, and any buffer can end inside of one.
  SpeRecording built;
  built.trace(SpePackets().raw(whole.substr(9)).raw(whole).raw(whole.substr(0, 20)));
  EXPECT_THAT(samples(built), ElementsAre("-1/-1 1000 at 100"));
  const auto found = trace(built);
  EXPECT_EQ(found.spe.records, 1u);
  EXPECT_EQ(found.spe.incomplete, 2u);
  EXPECT_EQ(found.spe.malformed, 0u);
}

TEST_F(SamplesOfSpe, OfEachPrefixAreThoseOfItsWholeRecords) {
  const std::string one = load_at(0x1000, 100).bytes();
  for (std::size_t size = 0; size <= 2 * one.size(); ++size) {
    SpeRecording built;
    auto body = built.writer().u64(size).u64(0).u64(1).u32(0).i32(-1).u32(0).u32(0);
    built.builder().record(PERF_RECORD_AUXTRACE, 0, body.bytes()).raw((one + one).substr(0, size));
    EXPECT_EQ(samples(built).size(), size / one.size()) << size;
    EXPECT_EQ(trace(built).spe.incomplete, size % one.size() == 0 ? 0u : 1u) << size;
  }
}

TEST_F(SamplesOfSpe, ReportMalformedPacketsAsAFault) {
  SpeRecording built;
  const std::string whole = load_at(0x1000, 100).bytes();
  built.trace(SpePackets().raw(whole).pc(0x2000).raw("\xff\xfe").load().timestamp(5).raw(whole));
  const auto builder = built.finished();
  auto recording = open(builder);
  EXPECT_THAT(samples_of(recording), ElementsAre("-1/-1 1000 at 100", "-1/-1 1000 at 100"));
  const auto at = builder.bytes().find("\xff\xfe");
  EXPECT_EQ(recording.faults().at(0).offset, at);
  test::expect_fault(recording, "malformed packets of SPE, 2");
  EXPECT_EQ(recording.hardware_trace().spe.malformed, 2u);
  EXPECT_EQ(recording.hardware_trace().spe.incomplete, 1u);
  recording.rewind();
  samples_of(recording);
  EXPECT_EQ(recording.faults().size(), 1u) << "listed once";
}

TEST_F(SamplesOfSpe, LeaveOutARecordOfTooManyPackets) {
  SpePackets endless = SpePackets().pc(0x1000);
  for (int i = 0; i < 300; ++i) endless.events(2, 8);
  SpeRecording built;
  built.trace(endless.end().raw(load_at(0x2000, 7).bytes()));
  EXPECT_THAT(samples(built), ElementsAre("-1/-1 2000 at 7"));
}

TEST_F(SamplesOfSpe, StepOverAlignments) {
  SpePackets packets;
  packets.pc(0x1000).end().raw({"\x25\x00", 2});  // up to 64 bytes
  packets.padding(64 - packets.bytes().size()).pc(0x2000).end();
  SpeRecording built;
  built.trace(packets);
  EXPECT_THAT(samples(built), ElementsAre("-1/-1 1000 at 0", "-1/-1 2000 at 0"));
}

TEST_F(SamplesOfSpe, CountFlagsOfAuxRecords) {
  SpeRecording built;
  built.aux(0, 8, 0, 10).aux(8, 8, PERF_AUX_FLAG_TRUNCATED, 20);
  built.aux(16, 8, PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL, 30);
  built.aux(24, 8, PERF_AUX_FLAG_COLLISION, 40).trace(load_at(0x1000, 5));
  auto recording = open(built.finished());
  const auto counts = count_records(recording);
  EXPECT_EQ(counts.aux_records, 4u);
  EXPECT_EQ(counts.aux_truncated, 2u);
  EXPECT_EQ(counts.aux_partial, 1u);
  EXPECT_EQ(counts.aux_collisions, 1u);
  EXPECT_EQ(counts.total_samples(), 1u);
  EXPECT_EQ(counts.records.count(PERF_RECORD_SAMPLE), 0u);
  EXPECT_THAT(output::inspection_text({recording, counts}, false),
              HasSubstr("arm_spe, 40 bytes, 1 records; of 4 PERF_RECORD_AUX, 2 TRUNCATED, 1 "
                        "PARTIAL, 1 COLLISION"));
  EXPECT_THAT(output::inspection_text({recording, counts}, false),
              HasSubstr("AUX data were lost 2 times, because the buffer was full"));
}

TEST_F(SamplesOfSpe, KnowABoundedNumberOfThreads) {
  constexpr std::int32_t kMost = 1 << 19;
  SpeRecording built;
  for (std::int32_t tid = 1; tid <= kMost + 2; ++tid) built.fork(7, tid, 1);
  built.trace(SpePackets().pc(4).context(kMost).timestamp(9).pc(4).context(kMost + 1).timestamp(9));
  auto recording = open(built.finished());
  EXPECT_THAT(samples_of(recording), ElementsAre(fmt::format("7/{} 4 at 9", kMost),
                                                 fmt::format("-1/{} 4 at 9", kMost + 1)));
  test::expect_fault(recording, "more threads or context switches than are kept");
}

TEST_F(SamplesOfSpe, TakeSwitchesInTheOrderOfTime) {
  SpeRecording built;
  // Those of other CPUs, and buffers that perf emptied later, are in between.
  built.switch_in(9, 9, 200, 0).switch_in(5, 5, 50, 1).switch_in(7, 8, 100, 0);
  built.trace(SpePackets().raw(load_at(2, 150).bytes()).raw(load_at(3, 250).bytes()));
  EXPECT_THAT(samples(built), ElementsAre("7/8 2 at 150", "9/9 3 at 250"));
}

TEST_F(SamplesOfSpe, AreNoneWithoutTheEvent) {
  SpeRecording built({.pmu = 11});
  RecordingBuilder other;
  other.event({.type = 12, .ids = {21}});
  other.raw(built.trace(load_at(1, 1)).builder().records());
  auto recording = open(other);
  EXPECT_THAT(samples_of(recording), IsEmpty());
  EXPECT_FALSE(recording.hardware_trace().is_decoded);
  EXPECT_EQ(recording.hardware_trace().bytes, 40u);
}

TEST_F(SamplesOfSpe, AreLocatedAtTheirTimes) {
  SpeRecording built;
  SpePackets packets;
  for (int i = 0; i < 1000; ++i) {
    packets.pc(i % 2 == 0 ? 0x401000 : 0x401004)
        .context(7)
        .timestamp(100 + static_cast<std::uint64_t>(i));
  }
  built.trace(packets).comm(7, 7, 1).map(7, 0x400000, 0x10000, "/bin/x", 50);
  // The mapping is replaced while the samples are taken.
  built.map(7, 0x400000, 0x10000, "/bin/y", 600);
  auto recording = open(built.finished());
  const auto digest = locate::digest(recording);
  EXPECT_EQ(digest.totals.at(0).samples, 1000u);
  std::map<std::string, std::uint64_t> found;
  digest.located.for_each([&](const locate::LocatedSamples& located) {
    ASSERT_TRUE(located.location);
    found[fmt::format("{} {:x}", digest.spaces.file(located.location->file).path,
                      located.location->offset)] += located.samples;
  });
  EXPECT_THAT(found, ElementsAre(Pair("/bin/x 1000", 250u), Pair("/bin/x 1004", 250u),
                                 Pair("/bin/y 1000", 250u), Pair("/bin/y 1004", 250u)));
}

}  // namespace
}  // namespace skid::perfdata
