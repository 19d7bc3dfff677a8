// Recordings in pipe mode: from a file, from a real pipe, and what only records contain.
#include "src/perfdata/file_header.h"
#include "src/perfdata/metadata.h"
#include "src/perfdata/recording.h"
#include "src/support/error.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/variable.h"
#include "tests/support/writing_thread.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>

#include <sys/stat.h>

namespace skid::perfdata {
namespace {

using test::expect_fault;
using test::ips_of;
using test::RecordingBuilder;
using test::TemporaryDirectory;
using test::WritingThread;

class PipeRecording : public test::RecordingTest {
 protected:
  std::filesystem::path path_of_fifo() const { return directory_ / "fifo"; }

  TemporaryDirectory directory_;
};

TEST_F(PipeRecording, InAFileIsReadAndReadAgain) {
  auto recording = open(test::two_events().pipe_bytes());
  EXPECT_EQ(recording.mode(), StorageMode::pipe);
  EXPECT_TRUE(recording.rewindable());
  EXPECT_THAT(ips_of(recording), ElementsAre(0x1, 0x2));
  EXPECT_EQ(recording.attributes().size(), 2u);
  recording.rewind();
  EXPECT_THAT(ips_of(recording), ElementsAre(0x1, 0x2));
  EXPECT_EQ(recording.attributes().size(), 2u) << "and its attributes only once";
  EXPECT_TRUE(recording.faults().empty());
}

TEST_F(PipeRecording, HasNoFeatureOfTheMarkAtTheirEnd) {
  auto builder = test::two_events();
  builder.feature(HEADER_HOSTNAME, builder.writer().counted_text("host").bytes());
  builder.feature(HEADER_CPU_DOMAIN_INFO, "");  // HEADER_LAST_FEATURE of perf 6.1
  auto recording = open(builder.pipe_bytes());
  EXPECT_THAT(ips_of(recording), ElementsAre(0x1, 0x2));
  EXPECT_THAT(recording.features().section_bytes, ElementsAre(Pair(HEADER_HOSTNAME, ::testing::_)));
}

TEST_F(PipeRecording, IsReadFromAPipeOnceOrSpooledAndReadTwice) {
  ASSERT_EQ(::mkfifo(path_of_fifo().c_str(), 0600), 0);
  auto builder = RecordingBuilder().event({});
  for (std::uint64_t ip = 0; ip < 50'000; ++ip) builder.sample(ip, 7, ip);
  for (const bool is_spooled : {false, true}) {
    const WritingThread writer(path_of_fifo(), builder.pipe_bytes());
    auto recording = Recording::open(path_of_fifo());
    EXPECT_FALSE(recording.rewindable());
    if (is_spooled) recording.spool();
    EXPECT_EQ(recording.rewindable(), is_spooled);
    EXPECT_EQ(recording.mode(), StorageMode::pipe);
    const auto ips = ips_of(recording);
    ASSERT_EQ(ips.size(), 50'000u);
    EXPECT_EQ(ips.back(), 49'999u);
    if (is_spooled) {
      recording.rewind();
      EXPECT_EQ(ips_of(recording), ips);
    }
    EXPECT_TRUE(recording.faults().empty());
  }
}

TEST_F(PipeRecording, IsSpooledWhereThereIsRoom) {
  auto builder = RecordingBuilder().event({});
  for (std::uint64_t ip = 0; ip < 1'500; ++ip) builder.sample(ip, 7, ip);
  const auto spool = [&](const std::string& directory) {
    const test::FilledPipe pipe(builder.pipe_bytes());
    const test::Variable place("TMPDIR", directory);
    auto recording = Recording::open(pipe.path());
    recording.spool();
    return ips_of(recording).size();
  };
  EXPECT_EQ(spool(directory_ / "missing"), 1'500u) << "in another directory";
  SKIP_WITHOUT("mount");
  const test::SmallDisk disk(directory_ / "small", "16k");
  if (disk.mounted()) {
    const auto refused = test::message_of([&] { spool(directory_ / "small"); });
    EXPECT_THAT(refused, HasSubstr("small: cannot be written: no space left on device; "));
    EXPECT_THAT(refused, HasSubstr("set TMPDIR"));
  }
}

TEST_F(PipeRecording, DistinguishesEventsWhoseAttributesComeLate) {
  RecordingBuilder builder = test::two_events();
  RecordingBuilder late;
  const std::uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  late.event({.sample_type = type, .ids = {31}});
  // A recording whose third event is announced between the samples.
  std::string bytes = builder.pipe_bytes();
  const auto announcement = late.pipe_bytes().substr(FileHeader::kPipeSize);
  bytes += announcement;
  RecordingBuilder more;
  more.record(PERF_RECORD_SAMPLE, 2, more.writer().u64(31).u64(0x3).bytes());
  bytes += more.records();
  auto recording = open(bytes);
  EXPECT_THAT(ips_of(recording), ElementsAre(0x1, 0x2, 0x3));
  EXPECT_EQ(recording.attributes().size(), 3u);
}

TEST_F(PipeRecording, ReadsNamesFeaturesAndBuildIdsFromRecords) {
  RecordingBuilder builder = test::two_events();
  builder.feature(HEADER_HOSTNAME, builder.writer().counted_text("host").bytes());
  builder.record(PERF_RECORD_EVENT_UPDATE, 0,
                 builder.writer().u64(2).u64(21).text("my-event").bytes());
  builder.record(PERF_RECORD_HEADER_BUILD_ID, 2,
                 builder.build_id_entry("/bin/x", std::string(20, '\xab')).substr(8));
  auto recording = open(builder.pipe_bytes());
  ips_of(recording);
  EXPECT_EQ(recording.features().hostname, "host");
  EXPECT_EQ(recording.attributes()[1].name, "my-event");
  ASSERT_EQ(recording.features().build_ids.size(), 1u);
  EXPECT_EQ(recording.features().build_ids[0].path, "/bin/x");
  EXPECT_TRUE(recording.faults().empty());
}

TEST_F(PipeRecording, KeepsTheTracingDataAfterItsRecord) {
  auto builder = RecordingBuilder().event({});
  builder.record(PERF_RECORD_HEADER_TRACING_DATA, 0, builder.writer().u32(16).u32(0).bytes());
  std::string bytes = builder.pipe_bytes() + "formats, 16 byte";
  RecordingBuilder after;
  after.sample(0x5, 7, 1);
  bytes += after.records();
  auto recording = open(bytes);
  EXPECT_THAT(ips_of(recording), ElementsAre(0x5));
  EXPECT_EQ(recording.features().tracing_data.size(), 16u);
  recording.rewind();
  EXPECT_THAT(ips_of(recording), ElementsAre(0x5));
}

TEST_F(PipeRecording, RefusesAFileModeRecordingOnAPipe) {
  ASSERT_EQ(::mkfifo(path_of_fifo().c_str(), 0600), 0);
  const WritingThread writer(path_of_fifo(), test::two_events().bytes());
  EXPECT_THAT(test::message_of<InputError>([&] { Recording::open(path_of_fifo()); }),
              HasSubstr("file mode on a pipe"));
}

TEST_F(PipeRecording, ReportsWhatIsWrongWithAnAttribute) {
  RecordingBuilder builder;
  builder.record(PERF_RECORD_HEADER_ATTR, 0, builder.writer().u32(1).u32(4096).bytes());
  builder.sample(1, 1, 1);
  auto recording = open(builder.pipe_bytes());
  EXPECT_TRUE(ips_of(recording).empty());
  expect_fault(recording, "an event attribute of 4096 bytes");
}

class DirectoryRecording : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
  }
  static std::string sample(std::uint64_t ip) {
    RecordingBuilder builder;
    builder.sample(ip, 7, ip);
    return builder.records();
  }

  TemporaryDirectory directory_;
};

TEST_F(DirectoryRecording, ReadsAllFilesInNumericOrder) {
  auto builder = RecordingBuilder().event({}).sample(1, 7, 1);
  write("data", builder.bytes());
  write("data.10", sample(4));
  write("data.2", sample(3));
  write("data.0", sample(2));
  write("data.old", "not a part of it");
  auto recording = Recording::open(directory_.path());
  EXPECT_EQ(recording.mode(), StorageMode::directory);
  EXPECT_THAT(ips_of(recording), ElementsAre(1, 2, 3, 4));
  recording.rewind();
  EXPECT_THAT(ips_of(recording), ElementsAre(1, 2, 3, 4));
}

TEST_F(DirectoryRecording, WithoutItsMainFileIsRefused) {
  write("data.0", sample(1));
  EXPECT_THROW(Recording::open(directory_.path()), InputError);
}

}  // namespace
}  // namespace skid::perfdata
