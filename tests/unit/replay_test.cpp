// The records that shape address spaces are taken out of a recording, up to a limit of memory.
#include "src/locate/replay.h"

#include "src/locate/kernel_symbols.h"
#include "src/locate/symbolizer.h"
#include "src/perfdata/record.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/location.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zstd_compressor.h"

#include <cstdint>
#include <fstream>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace skid::locate {
namespace {

using perfdata::Recording;
using test::RecordingBuilder;

class ReplayOf : public test::RecordingTest {
 protected:
  static constexpr std::uint64_t kPage = 0x1000;

  static RecordingBuilder with_mappings(int pid, std::uint64_t count) {
    auto builder = RecordingBuilder().event({});
    for (std::uint64_t i = 0; i < count; ++i) {
      builder.mmap(pid, i * kPage, kPage, 0, "/lib/" + std::to_string(i), 1);
    }
    return builder;
  }
  /// The same records in one compressed record.
  static RecordingBuilder compressed(const RecordingBuilder& plain) {
    test::ZstdCompressor compressor;
    auto builder = RecordingBuilder().event({}).record(perfdata::PERF_RECORD_COMPRESSED, 0,
                                                       compressor.compress(plain.records()));
    return builder;
  }
  static std::optional<symbols::FileLocation> locate(const symbols::AddressSpaces& spaces,
                                                     std::int32_t pid, std::uint64_t address,
                                                     std::uint64_t time) {
    return spaces.find(pid, address, time).location_of(address);
  }
  static symbols::AddressSpaces replayed(Recording& recording, std::uint64_t most_bytes,
                                         symbols::AddressSpaces spaces = {}) {
    Replay replay(recording, spaces, most_bytes);
    perfdata::Record record;
    while (recording.next(record)) replay.take(record);
    replay.seal();
    return spaces;
  }
};

TEST_F(ReplayOf, CompressedMappingsEndsAtTheLimitWithOneFault) {
  const auto builder = compressed(with_mappings(7, 1000));
  ASSERT_LT(builder.bytes().size(), 16'000u) << "as bombs are";
  auto recording = open(builder);
  constexpr std::uint64_t kMost = 20'000;
  const auto spaces = replayed(recording, kMost);
  EXPECT_TRUE(locate(spaces, 7, 0, 1));
  EXPECT_FALSE(locate(spaces, 7, 999 * kPage, 1));
  EXPECT_LT(spaces.bytes(), kMost + Replay::kBytesAByte * builder.data_offset() + 1000);
  ASSERT_EQ(recording.faults().size(), 1u);
  EXPECT_TRUE(recording.read_in_part());
  EXPECT_THAT(describe(recording.faults()[0]), HasSubstr("mappings that take more than"));
  EXPECT_THAT(describe(recording.faults()[0]), HasSubstr("left out"));
  auto below = open(builder);
  EXPECT_TRUE(locate(replayed(below, 1'000'000), 7, 999 * kPage, 1));
  EXPECT_TRUE(below.faults().empty());
}

TEST_F(ReplayOf, CompressedForksAndExecsEndsAtTheLimitToo) {
  for (const auto type : {PERF_RECORD_FORK, PERF_RECORD_COMM}) {
    RecordingBuilder plain;
    for (std::int32_t pid = 10; pid < 1010; ++pid) {
      auto body = plain.writer();
      if (type == PERF_RECORD_FORK) {
        body.i32(pid).i32(7).i32(pid).i32(7).u64(1);
      } else {
        body.i32(pid).i32(pid).text("name");
      }
      body.i32(pid).i32(pid).u64(1);
      plain.record(type, PERF_RECORD_MISC_COMM_EXEC & -(type != PERF_RECORD_FORK), body.bytes());
    }
    auto recording = open(compressed(plain));
    const auto spaces = replayed(recording, 20'000);
    EXPECT_LT(spaces.bytes(), 30'000u);
    EXPECT_EQ(recording.faults().size(), 1u);
  }
}

/// What perf writes of them is large enough for what they take, whatever the limit is without it.
TEST_F(ReplayOf, MappingsAsPerfWritesThemIsWhole) {
  auto recording = open(with_mappings(7, 10'000));
  const auto spaces = replayed(recording, 0);
  EXPECT_TRUE(locate(spaces, 7, 9'999 * kPage, 1));
  EXPECT_TRUE(recording.faults().empty());
}

/// Offsets begin anew in each of them.
TEST_F(ReplayOf, FilesOfADirectoryIsWholeToo) {
  const test::TemporaryDirectory directory;
  with_mappings(7, 2000).write(directory / "data");
  std::ofstream(directory / "data.0", std::ios::binary) << with_mappings(8, 1000).records();
  std::ofstream(directory / "data.1", std::ios::binary) << with_mappings(9, 1000).records();
  auto recording = Recording::open(directory.path());
  const auto spaces = replayed(recording, 0);
  for (const std::int32_t pid : {7, 8, 9}) EXPECT_TRUE(locate(spaces, pid, 999 * kPage, 1)) << pid;
  EXPECT_TRUE(recording.faults().empty());
}

TEST_F(ReplayOf, BuildIdsAddsThemToTheirFilesButThoseOfGuests) {
  // Modules of a guest's kernel (mode 4) often have the paths of the host's.
  for (const std::uint16_t mode : {std::uint16_t{2}, std::uint16_t{4}}) {
    RecordingBuilder builder;
    builder.event({}).record(
        perfdata::PERF_RECORD_HEADER_BUILD_ID, mode,
        builder.writer().i32(-1).raw(std::string(20, '\x12')).u32(0).text("/lib/a").bytes());
    auto recording = open(builder.pipe_bytes());
    symbols::AddressSpaces mapped;
    mapped.map(1, 7, {0, kPage}, 0, {"/lib/a", ""});
    const auto spaces = replayed(recording, 20'000, std::move(mapped));
    EXPECT_EQ(spaces.file(locate(spaces, 7, 0, 1)->file).build_id.substr(0, 4),
              mode == 2 ? "1212" : "");
    ASSERT_EQ(recording.features().build_ids.size(), 1U);
    EXPECT_EQ(recording.features().build_ids[0].guest, mode == 4);
  }
}

TEST_F(ReplayOf, KernelSymbolsNamesTheirCodeFromThenOn) {
  auto builder = RecordingBuilder().event({});
  const auto symbol = [&](std::uint64_t address, std::uint32_t length, std::uint16_t flags,
                          std::string_view name, std::uint64_t time) {
    auto body = builder.writer();
    body.u64(address).u32(length).u16(1).u16(flags).text(name).i32(7).i32(7).u64(time);
    builder.record(PERF_RECORD_KSYMBOL, 0, body.bytes());
  };
  symbol(0xffffffffc0022118, 36, 0, "bpf_prog_1", 10);
  symbol(0xffffffffc0022118, 36, 1, "bpf_prog_1", 20);  // removed
  symbol(0xffffffffc0022120, 8, 0, "bpf_prog_2", 30);
  symbol(0xfffffffffffffff0, 0xffffffff, 0, "past the end", 30);
  builder.record(PERF_RECORD_KSYMBOL, 0, builder.writer().u64(1).bytes());
  auto recording = open(builder);
  const auto spaces = replayed(recording, 20'000);
  constexpr auto kKernel = symbols::AddressSpaces::kKernel;
  const auto name_at = [&](std::uint64_t address, std::uint64_t time) {
    const auto location = locate(spaces, kKernel, address, time);
    return location ? spaces.file(location->file).path : "none";
  };
  EXPECT_EQ(name_at(0xffffffffc0022118, 9), "none");
  EXPECT_EQ(name_at(0xffffffffc0022118, 10), "bpf_prog_1");
  EXPECT_EQ(name_at(0xffffffffc002213b, 29), "bpf_prog_1");
  EXPECT_EQ(name_at(0xffffffffc002213c, 29), "none");
  EXPECT_EQ(name_at(0xffffffffc0022120, 30), "bpf_prog_2");
  EXPECT_EQ(name_at(0xfffffffffffffff1, 30), "past the end");
  EXPECT_EQ(recording.faults().size(), 1U) << "the short record";
  const auto place = *locate(spaces, kKernel, 0xffffffffc0022121, 29);
  KernelSymbols kernel([] { return RecordedKernel(); }, {});
  const auto function = kernel.symbol_at(spaces.file(place.file), 0xffffffffc0022121, place.offset);
  EXPECT_EQ(function->name, "bpf_prog_1");
  EXPECT_EQ(function->range, (AddressRange{0xffffffffc0022118, 0xffffffffc002213c}));
  EXPECT_TRUE(kernel.remarks().empty()) << "the recording itself has the name";
}

}  // namespace
}  // namespace skid::locate
