// Commands on damaged recordings: the exit status, the message, and no more memory and time than
// for an undamaged recording of that size.
#include "src/machine/file_tree.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/recordings.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zstd_compressor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid {
namespace {

using test::RecordingBuilder;

constexpr const char* kAllColumns =
    "time,pid,tid,cpu,attr,event,period,addr,weight,data_src,brstack,iregs,uregs,mode,exact,ip,sym,"
    "symoff,dso,"
    "trace";

/// The address space and the processor time that any recording of these tests may take.
constexpr const char* kAddressSpace = "--as=536870912";  // bytes: 512 MiB
constexpr const char* kProcessorTime = "--cpu=100";      // seconds

constexpr const char* kSanitized = "sanitizers take more memory and time";

/// Whether the environment's SKIDSCAN has sanitizers.
bool is_sanitized() {
  return std::getenv("SKIDSCAN_SANITIZED") != nullptr;
}

/// Whether programs run with little address space: sanitizers map terabytes of it.
bool are_limited() {
  return !is_sanitized() && test::why_without({"prlimit"}).empty();
}

std::vector<std::string> limited(std::vector<std::string> arguments) {
  std::vector<std::string> line = {"timeout", "300"};
  if (are_limited()) {
    line.insert(line.end(), {"prlimit", kAddressSpace, kProcessorTime});
  }
  line.push_back(test::skidscan_program());
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

/// Runs skidscan under the limits.
Completed skidscan_limited(const std::vector<std::string>& arguments) {
  return run_program(limited(arguments));
}

/// The same, with a file on a pipe as its standard input.
Completed skidscan_on_pipe(const std::string& file, const std::vector<std::string>& arguments) {
  return run_program(
      {"sh", "-c", "cat " + shell_quoted({file}) + " | " + shell_quoted(limited(arguments))});
}

/// The readers of recordings with outputs that show most of them.
std::vector<std::vector<std::string>> all_readers(const std::string& file) {
  return {{"report", file, "--format", "json"},
          {"samples", file, "--columns", kAllColumns, "--format", "jsonl"},
          {"inspect", file}};
}

std::string described(const std::vector<std::string>& arguments, const Completed& completed) {
  return shell_quoted(arguments) + ": " + describe(completed.code) + "\n" + completed.err;
}

class Damaged : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes, const std::string& name = "perf.data") const {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
    return (directory_ / name).string();
  }
  /// That a program ended with `status`; what it must print then begins as here, and names
  /// `named`.
  static void expect_ended(const std::vector<std::string>& arguments, const Completed& completed,
                           int status, const std::string& begin,
                           const std::vector<std::string>& named) {
    EXPECT_EQ(completed.code.signal, 0) << described(arguments, completed);
    EXPECT_EQ(completed.code.status, status) << described(arguments, completed);
    if (status != 0) {
      EXPECT_THAT(completed.err, HasSubstr(begin));
    }
    for (const auto& text : named) {
      EXPECT_THAT(completed.err, HasSubstr(text)) << shell_quoted(arguments);
    }
    EXPECT_TRUE(status != 2 || !completed.out.empty()) << described(arguments, completed);
  }
  /// All readers end with `status`.
  void expect_status(const std::string& file, int status,
                     const std::vector<std::string>& named = {}) const {
    for (const auto& arguments : all_readers(file)) {
      expect_ended(arguments, skidscan_limited(arguments), status, "skidscan: " + file, named);
    }
  }
  void expect_status_on_pipe(const std::string& file, int status,
                             const std::string& named = {}) const {
    for (const auto& arguments : all_readers("-")) {
      expect_ended(arguments, skidscan_on_pipe(file, arguments), status, "skidscan: -: ", {named});
    }
  }
  static RecordingBuilder samples(std::uint64_t count) {
    auto builder = RecordingBuilder().event({}).mmap(7, 0x1000, 0x10000, 0, "/nowhere/program", 1);
    for (std::uint64_t i = 0; i < count; ++i) builder.sample(0x1000 + i, 7, 10 + i);
    return builder;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Damaged, AnUndamagedRecordingExitsWithZero) {
  expect_status(write(samples(20).bytes()), 0);
  const auto pipe = write(samples(20).pipe_bytes());
  expect_status(pipe, 0);
  expect_status_on_pipe(pipe, 0);
}

TEST_F(Damaged, ARecordingThatIsCutExitsWithTwoAndNamesTheOffset) {
  const auto builder = samples(20);
  auto bytes = builder.bytes();
  bytes.resize(bytes.size() - 40);
  const auto file = write(bytes);
  // The section that is too long, and the last record.
  char section[32], record[64];
  std::snprintf(section, sizeof section,
                "at offset 0x%zx:", static_cast<std::size_t>(builder.data_offset()));
  std::snprintf(record, sizeof record, "at offset 0x%zx:", bytes.size() - 24);
  expect_status(file, 2, {section, record, "a record of 32 bytes, expected 24"});
  const auto rows = skidscan_limited({"samples", file});
  EXPECT_EQ(std::count(rows.out.begin(), rows.out.end(), '\n'), 1 + 18);

  auto pipe = builder.pipe_bytes();
  pipe.resize(pipe.size() - 8);
  std::snprintf(record, sizeof record, "at offset 0x%zx: a record of 32 bytes, expected 24",
                pipe.size() - 24);
  expect_status(write(pipe), 2, {record});
  expect_status_on_pipe(write(pipe), 2, record);
}

TEST_F(Damaged, ARecordingWithoutAReadableEventExitsWithOne) {
  const auto builder = samples(20);
  for (const std::size_t size : {0u, 15u, 104u, 200u}) {
    expect_status(write(builder.bytes().substr(0, size)), 1);
  }
  for (const std::size_t size : {0u, 16u, 100u}) {
    const auto pipe = write(builder.pipe_bytes().substr(0, size));
    expect_status(pipe, 1);
    expect_status_on_pipe(pipe, 1);
  }
  expect_status(write(std::string(5000, 'x')), 1, {"no perf.data magic"});
  expect_status((directory_ / "missing").string(), 1, {"no such file"});
}

TEST_F(Damaged, ASampleThatEndsInsideItsFieldsExitsWithTwo) {
  auto builder = samples(3);
  builder.record(PERF_RECORD_SAMPLE, 2, builder.writer().u64(0x1000).bytes()).sample(0x1000, 7, 99);
  expect_status(write(builder.bytes()), 2, {"a PERF_RECORD_SAMPLE of 16 bytes that ends inside"});
  const auto pipe = write(builder.pipe_bytes());
  expect_status(pipe, 2, {"ends inside its fields"});
  expect_status_on_pipe(pipe, 2, "ends inside its fields");
}

TEST_F(Damaged, ADirectoryWithACutFileExitsWithTwoAndNamesTheFile) {
  fs::create_directory(directory_ / "recording");
  const auto directory = (directory_ / "recording").string();
  write(samples(3).bytes(), "recording/data");
  auto records = samples(5).records();
  records.resize(records.size() - 1);
  write(records, "recording/data.0");
  expect_status(directory, 2,
                {directory + "/data.0: at offset 0xd0: a record of 32 bytes, expected 31"});
}

/// Recordings made by others to bring readers down.
TEST_F(Damaged, RecordingsMadeToDoHarmAreReadOrRefused) {
  SKIP_WITHOUT("recordings");
  const auto directory = test::recordings_directory() / "malformed";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    ++files;
    const auto file = entry.path().string();
    for (const auto& arguments : all_readers(file)) {
      const auto completed = skidscan_limited(arguments);
      const auto what = described(arguments, completed);
      EXPECT_EQ(completed.code.signal, 0) << what;
      EXPECT_THAT(completed.code.status, AnyOf(0, 1, 2)) << what;
      if (completed.code.status != 0) {
        EXPECT_THAT(completed.err, HasSubstr("skidscan: ")) << what;
      }
      if (completed.code.status == 1) {
        EXPECT_THAT(completed.err, HasSubstr(file)) << what;
      }
    }
  }
  EXPECT_EQ(files, 14);
}

TEST_F(Damaged, PublicRecordingsAreReadUpToACut) {
  SKIP_WITHOUT("recordings");
  for (const auto& entry : fs::directory_iterator(test::recordings_directory())) {
    const auto name = entry.path().filename().string();
    if (name.find(".data") == std::string::npos) continue;
    const auto bytes = test::content_of(entry.path());
    std::uint64_t before = 0;
    for (const double part : {0.3, 0.9, 1.0}) {
      const auto size = static_cast<std::size_t>(static_cast<double>(bytes.size()) * part);
      const auto file = write(bytes.substr(0, size));
      const auto what = name + " cut to " + std::to_string(size);
      const auto inspected = skidscan_limited({"inspect", file, "--format", "json"});
      ASSERT_EQ(inspected.code.signal, 0) << what << inspected.err;
      if (inspected.code.status == 1) {
        EXPECT_EQ(before, 0u) << what;
        EXPECT_NE(part, 1.0) << what;
        continue;
      }
      const auto recording = json::parse(inspected.out)["recordings"].at(0);
      const auto samples = recording["total_samples"].get<std::uint64_t>();
      EXPECT_GE(samples, before) << what << ": a longer part gives no fewer samples";
      if (recording["mode"] == "file" && part < 1) {
        EXPECT_EQ(inspected.code.status, 2) << what;
      }
      before = samples;
    }
  }
}

class ZipBomb : public Damaged {
 protected:
  void SetUp() override {
    SKIP_WITHOUT("prlimit");
    if (!are_limited()) GTEST_SKIP() << kSanitized;
  }
  /// A recording with `times` times `piece` in few packets.
  static RecordingBuilder bomb(std::string_view piece, std::uint64_t times,
                               test::EventToBuild event = {}) {
    auto builder = RecordingBuilder().event(event).sample(0x1000, 7, 1);
    test::ZstdCompressor compressor;
    std::string packet;
    for (std::uint64_t i = 0; i < times; ++i) {
      packet += compressor.compress(piece, i + 1 == times);
      if (packet.size() < 50'000 && i + 1 < times) continue;
      builder.record(perfdata::PERF_RECORD_COMPRESSED, 0, packet);
      packet.clear();
    }
    return builder;
  }
  static std::string repeated(std::string_view record, std::size_t times) {
    std::string bytes;
    for (std::size_t i = 0; i < times; ++i) bytes += record;
    return bytes;
  }
};

TEST_F(ZipBomb, OfFourGibibytesOfZerosEndsAtTheFirst) {
  const auto builder = bomb(std::string(1u << 20, '\0'), 4096);
  ASSERT_LT(builder.records().size(), 1u << 20);
  expect_status(write(builder.bytes()), 2, {"a compressed record of 0 bytes"});
  expect_status_on_pipe(write(builder.pipe_bytes()), 2, "a compressed record of 0 bytes");
}

TEST_F(ZipBomb, OfHundredsOfMebibytesOfRecordsIsReadInLittleMemory) {
  const auto round =
      RecordingBuilder().record(perfdata::PERF_RECORD_FINISHED_ROUND, 0, "").records();
  const auto bombed = bomb(repeated(round, 1u << 17), 256);
  ASSERT_LT(bombed.records().size(), 1u << 20);
  const auto file = write(bombed.bytes());
  const auto pipe = write(bombed.pipe_bytes(), "pipe.data");
  for (const auto& command : {"report", "samples", "inspect"}) {
    const auto read = skidscan_limited({command, file});
    EXPECT_EQ(read.code.status, 0) << describe(read.code) << read.err;
    const auto piped = skidscan_on_pipe(pipe, {command, "-"});
    EXPECT_EQ(piped.code.status, 0) << describe(piped.code) << piped.err;
  }
}

TEST_F(ZipBomb, OfSamplesIsCountedInLittleMemory) {
  const auto sample = RecordingBuilder().sample(0x2000, 7, 5).records();
  const auto file = write(bomb(repeated(sample, 1u << 15), 512).bytes());
  const auto inspected = skidscan_limited({"inspect", file, "--format", "json"});
  ASSERT_EQ(inspected.code.status, 0) << describe(inspected.code) << inspected.err;
  EXPECT_EQ(json::parse(inspected.out)["recordings"].at(0)["total_samples"], (1u << 24) + 1);
  const auto reported = skidscan_limited({"report", file, "--format", "json"});
  ASSERT_EQ(reported.code.status, 0) << describe(reported.code) << reported.err;
  EXPECT_EQ(json::parse(reported.out)["measurements"].at(0)["samples"]["read"], (1u << 24) + 1);
}

TEST_F(ZipBomb, OfFaultyRecordsIsReadInTimeAndReportsTheFirst) {
  // Each record of eight bytes is a fault of its own.
  const auto sample = RecordingBuilder().record(PERF_RECORD_SAMPLE, 2, "").records();
  const auto file = write(bomb(repeated(sample, 1u << 17), 64).bytes());
  for (const auto& command : {"report", "samples", "inspect"}) {
    const auto read = skidscan_limited({command, file});
    EXPECT_EQ(read.code.status, 2) << command << describe(read.code);
    EXPECT_LE(std::count(read.err.begin(), read.err.end(), '\n'), 101);
  }
}

TEST_F(ZipBomb, OfLargePayloadsFromAPipeIsListedInLittleMemory) {
  // Samples of a pipe wait for mappings of their time, with their payloads.
  constexpr std::size_t kPayload = 60'000;
  test::ByteWriter body;
  body.u64(0x2000).i32(7).i32(7).u64(5).u32(kPayload).raw(std::string(kPayload + 4, '\0'));
  RecordingBuilder one;
  one.record(PERF_RECORD_SAMPLE, 2, body.bytes());
  const test::EventToBuild event{
      .type = PERF_TYPE_TRACEPOINT,
      .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW};
  RecordingBuilder builder = bomb(repeated(one.records(), 10), 2000, event);
  const auto listed =
      skidscan_on_pipe(write(builder.pipe_bytes()), {"samples", "-", "--columns", "ip,sym,trace"});
  EXPECT_EQ(listed.code.status, 0) << describe(listed.code) << listed.err.substr(0, 1000);
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 20'002);
}

TEST_F(ZipBomb, OfMappingsIsReadUpToTheMemoryLimit) {
  const auto mapping = RecordingBuilder().mmap(7, 0x1000, 0x1000, 0, "/nowhere", 2).records();
  const auto file = write(bomb(repeated(mapping, 1u << 13), 4096).bytes());
  const auto reported = skidscan_limited({"report", file});
  EXPECT_EQ(reported.code.signal, 0) << describe(reported.code);
  EXPECT_THAT(reported, Exits(2, HasSubstr("mappings that take more than")));
}

TEST(StandardError, MayBeFullOrClosedWithoutChangingTheExitStatus) {
  for (const std::string sink : {"2>/dev/full", "2>&-"}) {
    const auto ended = run_program({"sh", "-c", "\"$1\" report /nonexistent/perf.data " + sink,
                                    "sh", test::skidscan_program()});
    EXPECT_EQ(ended.code.status, static_cast<int>(ExitStatus::failed)) << sink;
  }
}

constexpr std::uint64_t kFiles = 100'000;

/// Page faults, which are judged: one in each file.
class MissingFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_sanitized()) GTEST_SKIP() << kSanitized;
    test::RecordingBuilder builder;
    constexpr std::uint64_t kSize = 0x1000;
    builder.event({.config = PERF_COUNT_SW_PAGE_FAULTS});
    for (std::uint64_t i = 1; i <= kFiles; ++i) {
      builder.mmap(7, i * kSize, kSize, 0, "/missing/" + std::to_string(i), 1);
    }
    for (std::uint64_t i = 1; i <= kFiles; ++i) builder.sample(i * kSize, 7, 2);
    builder.write(directory_ / "perf.data");
  }
  /// Of a program that is killed after 12 s of CPU time. A search through the remarks for each of
  /// the files takes more, everything else 2 s.
  Completed in_time(const std::string& arguments) const {
    return run_program({"sh", "-c", "ulimit -t 12; exec \"$0\" " + arguments + " perf.data",
                        test::skidscan_program()},
                       directory_.path());
  }

  test::TemporaryDirectory directory_;
};

TEST_F(MissingFiles, AreNamedOnceEach) {
  const Completed audit = in_time("audit --details");
  EXPECT_TRUE(audit.code.success()) << describe(audit.code) << audit.err.substr(0, 1000);
  const std::size_t answer = audit.out.find("100,000 samples are in 100000 files whose code is ");
  const std::size_t last = audit.out.find("/missing/100000: no such file or directory\n", answer);
  EXPECT_NE(last, std::string::npos) << audit.out.substr(0, 2000);
  EXPECT_EQ(audit.out.find("/missing/77: "), audit.out.rfind("/missing/77: "));

  const Completed annotate = in_time("annotate");
  EXPECT_EQ(annotate.code.signal, 0) << describe(annotate.code);
  EXPECT_THAT(annotate.err, HasSubstr("99990 more like these"));
}

}  // namespace
}  // namespace skid
