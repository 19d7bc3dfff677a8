// Samples counted and located whatever the order of the file, and filters of them.
#include "src/locate/digest.h"

#include "src/locate/filter.h"
#include "src/locate/pieces.h"
#include "src/locate/place_counter.h"
#include "src/locate/region_cache.h"
#include "src/locate/replaced_code.h"
#include "src/locate/visit_records.h"
#include "src/perfdata/file_header.h"
#include "src/perfdata/format.h"
#include "src/perfdata/metadata.h"
#include "src/support/error.h"
#include "src/symbols/address_space.h"
#include "src/symbols/thread_names.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::locate {
namespace {

using test::RecordingBuilder;

class DigestTest : public test::RecordingTest {
 protected:
  Digest digest_of(const RecordingBuilder& builder) const {
    auto recording = open(builder);
    return digest(recording);
  }
  static std::vector<LocatedSamples> places(const Digest& digest) {
    std::vector<LocatedSamples> result;
    digest.located.for_each([&](const LocatedSamples& located) { result.push_back(located); });
    return result;
  }
  /// Samples by the path of the file they are in; "" for none.
  static std::map<std::string, std::uint64_t> by_file(const Digest& digest) {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& located : places(digest)) {
      counts[located.location ? digest.spaces.file(located.location->file).path : ""] +=
          located.samples;
    }
    return counts;
  }
};

TEST(Pieces, GoOnOverRecordsThatMayBeInThem) {
  // Samples between other records, as with perf record --switch-events, share a piece.
  std::vector<perfdata::Recording::StoredRecords> pieces;
  for (std::uint64_t at = 0; at < 1000; at += 72) {
    append_piece(pieces, {0, at, at + 40, at}, 500);
    extend_piece(pieces, {0, at + 40, at + 72, at + 40}, 500);
  }
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].end, pieces[1].begin);
  EXPECT_EQ(pieces[1].position, pieces[1].begin);
  EXPECT_TRUE(may_be_in_piece(PERF_RECORD_SWITCH));
  for (const auto type : {perfdata::PERF_RECORD_AUXTRACE, perfdata::PERF_RECORD_COMPRESSED,
                          perfdata::PERF_RECORD_HEADER_ATTR}) {
    EXPECT_FALSE(may_be_in_piece(type)) << type;
  }
}

/// As BOLT's hugify, iodlr and ClickHouse copy their code to huge pages.
TEST_F(DigestTest, CountsSamplesInMemoryThatReplacedCode) {
  auto builder = RecordingBuilder().event({});
  builder.mmap(7, 0x400000, 0x5000, 0x1000, "/bin/program", 1);
  builder.mmap(7, 0x700000, 0x1000, 0, "//anon", 1);  // generated code, which replaces nothing
  builder.sample(0x401010, 7, 2);
  builder.mmap(7, 0x401000, 0x2000, 0, "//anon", 3);
  builder.sample(0x400010, 7, 4).sample(0x401010, 7, 4).sample(0x402010, 7, 5);
  builder.sample(0x700010, 7, 6);
  EXPECT_THAT(remarks_on_replaced_code(digest_of(builder)),
              ElementsAre(HasSubstr("/bin/program: 2 samples are in memory without a file")));
  builder.mmap(7, 0x404000, 0x2000, 0, "//anon", 7).sample(0x404010, 7, 8);  // beyond the file
  auto recording = open(builder);
  const Filter copies{.takes_copies = true};
  const Digest counted = digest(recording, {.filter = &copies});
  EXPECT_THAT(by_file(counted), ElementsAre(Pair("/bin/program", 4), Pair("/tmp/perf-7.map", 2)));
  EXPECT_THAT(remarks_on_replaced_code(counted), ElementsAre(HasSubstr("program: 1 sample is")));
  auto generated = RecordingBuilder().event({});
  generated.mmap(7, 0x700000, 0x1000, 0, "//anon", 1).sample(0x700010, 7, 2);
  generated.mmap(7, 0x700000, 0x1000, 0, "//anon", 3).sample(0x700010, 7, 4);
  EXPECT_THAT(remarks_on_replaced_code(digest_of(generated)), IsEmpty());
}

/// As perf kvm --host --guest records: the guest's processes have the pid of the virtual machine.
TEST_F(DigestTest, DoesNotMixGuestsWithTheirHost) {
  constexpr std::uint16_t kKernel = 1, kUser = 2, kGuestKernel = 4, kGuestUser = 5;
  auto builder = RecordingBuilder().event({});
  builder.mmap(-1, 0x1000, 0x1000, 0, "[kernel.kallsyms]_text", 1, kKernel);
  builder.mmap(7, 0x1000, 0x1000, 0, "/bin/qemu", 1, kUser);
  builder.mmap(7, 0x1000, 0x1000, 0, "[guest.kernel.kallsyms.7]", 1, kGuestKernel);
  builder.mmap(7, 0x1000, 0x1000, 0, "/bin/guest", 1, kGuestUser);
  for (const std::uint16_t mode : {kKernel, kUser, kGuestKernel, kGuestUser}) {
    for (std::uint64_t i = 0; i < mode; ++i) builder.sample(0x1010, 7, 10 + i, mode);
  }
  const Digest digest = digest_of(builder);
  EXPECT_EQ(by_file(digest), (std::map<std::string, std::uint64_t>{
                                 {"", 9}, {"/bin/qemu", 2}, {"[kernel.kallsyms]", 1}}));
  for (const auto& located : places(digest)) {
    EXPECT_EQ(located.samples, static_cast<std::uint64_t>(located.kind.mode()));
  }
}

TEST_F(DigestTest, CountsPlacesOfAllProcessesByOffsetAndExactness) {
  auto builder = RecordingBuilder()
                     .event({})
                     .mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1)
                     .mmap(8, 0x1000, 0x1000, 0, "/bin/a", 1);
  constexpr std::uint16_t kUser = 2, kExactUser = kUser | PERF_RECORD_MISC_EXACT_IP;
  for (const std::uint64_t time : {5u, 15u, 25u}) {
    builder.sample(0x1010, 7, time, kUser).sample(0x1010, 7, time, kExactUser);
    builder.sample(0x1020, 7, time, kUser).sample(0x1010, 8, time, kUser);
  }
  builder.mmap(7, 0x1000, 0x1000, 0x40, "/bin/a", 10);
  builder.mmap(7, 0x1000, 0x1000, 0, "/bin/a", 20);
  const auto located = places(digest_of(builder));
  std::map<std::pair<bool, std::uint64_t>, std::uint64_t> counts;
  for (const auto& place : located) {
    ASSERT_TRUE(place.location);
    EXPECT_EQ(place.ip, 0u) << "processes have the place at different addresses";
    counts[{place.kind.exact(), place.location->offset}] += place.samples;
  }
  EXPECT_EQ(counts.size(), located.size()) << "each place once";
  const decltype(counts) expected{{{false, 0x10}, 5}, {{false, 0x50}, 1}, {{true, 0x10}, 2},
                                  {{true, 0x50}, 1},  {{false, 0x20}, 2}, {{false, 0x60}, 1}};
  EXPECT_EQ(counts, expected);
}

/// Symbols of the kernel have addresses, and an execute breakpoint is at one.
TEST_F(DigestTest, KeepsAddressesInTheKernelAndOfBreakpoints) {
  constexpr std::uint16_t kKernel = 1;
  for (const bool has_breakpoint : {false, true}) {
    auto builder = RecordingBuilder().event({.type = has_breakpoint ? PERF_TYPE_BREAKPOINT : 0u});
    builder.mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1).mmap(8, 0x5000, 0x1000, 0, "/bin/a", 1);
    builder.sample(0x1010, 7, 5).sample(0x5010, 8, 5).sample(0x9010, 8, 5);
    builder.sample(0x1010, 7, 5, kKernel);
    std::map<std::uint64_t, std::uint64_t> user;  // by address
    for (const auto& place : places(digest_of(builder))) {
      if (place.kind.mode() == perfdata::CpuMode::user) user[place.ip] += place.samples;
    }
    using Expected = decltype(user);
    EXPECT_EQ(user, (has_breakpoint ? Expected{{0x1010, 1}, {0x5010, 1}, {0x9010, 1}}
                                    : Expected{{0, 3}}));
  }
}

/// A walk over all mappings for each sample would take minutes.
TEST_F(DigestTest, CountsAPlaceThatMovedAllTheTime) {
  constexpr std::uint64_t kMoves = 150'000;
  auto builder = RecordingBuilder().event({});
  for (std::uint64_t i = 0; i < kMoves; ++i) {
    builder.mmap(7, 0x1000, 0x1000, i, "/a", 2 * i).sample(0x1010, 7, 2 * i + 1);
  }
  EXPECT_EQ(places(digest_of(builder)).size(), kMoves);
}

/// The reading of samples knows of each event only from where it was announced.
TEST_F(DigestTest, AssignsSamplesToTheEventsKnownThen) {
  const auto type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  for (const bool first_has_ids : {true, false}) {
    test::EventToBuild first{.sample_type = type}, second{.sample_type = type, .ids = {2}};
    if (first_has_ids) first.ids = {1};
    std::uint64_t time = 1;
    const auto samples = [&] {
      RecordingBuilder builder;
      for (std::uint64_t i = 0; i < 100; ++i, ++time) {
        builder.record(PERF_RECORD_SAMPLE, 2,
                       builder.writer().u64(1 + i % 2).u64(0x1010).i32(7).i32(7).u64(time).bytes());
      }
      return builder.records();
    };
    const auto mapping = [&](const char* path) {
      RecordingBuilder builder;
      builder.record(
          PERF_RECORD_MMAP, 2,
          builder.writer().i32(7).i32(7).u64(0x1000).u64(0x1000).u64(0).text(path).bytes() +
              builder.writer().i32(7).i32(7).u64(time++).u64(1).bytes());
      return builder.records();
    };
    std::string bytes = RecordingBuilder().event(first).pipe_bytes();
    bytes += mapping("/bin/a") + samples();
    bytes += RecordingBuilder().event(second).pipe_bytes().substr(perfdata::FileHeader::kPipeSize);
    bytes += samples() + mapping("/bin/b") + samples();
    auto recording = open(bytes);
    const auto result = digest(recording);
    EXPECT_TRUE(recording.faults().empty());
    ASSERT_EQ(result.totals.size(), 2u);
    std::array<std::uint64_t, 2> located{};
    for (const auto& place : places(result)) located[place.attribute] += place.samples;
    EXPECT_EQ(located[0], result.totals[0].samples);
    EXPECT_EQ(located[1], result.totals[1].samples);
    EXPECT_EQ(result.unknown_ids + located[0] + located[1], 300u);
    EXPECT_EQ(result.totals[1].samples, 100u) << "after its announcement";
    EXPECT_EQ(by_file(result).at("/bin/b"), first_has_ids ? 100u : 50u);
  }
}

/// A search in all ancestors for each sample would take minutes.
TEST_F(DigestTest, CountsWhatIsInheritedThroughManyProcessesQuickly) {
  constexpr std::int32_t kChain = 250;
  constexpr std::uint64_t kPage = 0x1000, kBlock = 0x10'0000, kSamples = 100'000;
  auto builder = RecordingBuilder().event({}).mmap(1, kBlock, kSamples * kBlock, 0, "/bin/a", 1);
  for (std::int32_t pid = 1; pid <= kChain; ++pid) {
    const auto time = static_cast<std::uint64_t>(pid) * 10;
    for (std::uint64_t own = 0; own < 40; ++own) {
      builder.mmap(pid, own * kPage, kPage, 0, "/own", time);
    }
    builder.fork(pid, pid + 1, time + 1);
  }
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    builder.sample(kBlock + i * kBlock, kChain, 100'000 + i);
  }
  const auto digest = digest_of(builder);
  EXPECT_EQ(by_file(digest), (std::map<std::string, std::uint64_t>{{"/bin/a", kSamples}}));
}

/// Rounds of different lengths, each of which ends with samples that the next one repeats.
TEST_F(DigestTest, FindsRepeatedRecordsByOneThreadAndByTwo) {
  constexpr std::uint64_t kRounds = 3000, kRepeated = 5;
  for (const bool is_pipe : {false, true}) {
    auto builder = RecordingBuilder().event({}).mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1);
    std::uint64_t time = 2, samples = 0;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      for (std::uint64_t i = 0; i < 20 + round % 7; ++i, ++samples) {
        builder.sample(0x1010, 7, ++time);
      }
      RecordingBuilder repeated;
      for (std::uint64_t i = 0; i < kRepeated; ++i) repeated.sample(0x1010, 7, ++time);
      builder.raw(repeated.records()).record(perfdata::PERF_RECORD_FINISHED_ROUND, 0, "");
      builder.raw(repeated.records());
      samples += 2 * kRepeated;
    }
    for (const std::uint64_t worth : {std::uint64_t{1}, UINT64_MAX}) {
      auto recording = open(is_pipe ? builder.pipe_bytes() : builder.bytes());
      const auto result = digest(recording, {.worth = worth, .piece = 5000, .quiet = 1000});
      EXPECT_EQ(result.repeated.blocks, kRounds) << worth;
      EXPECT_EQ(result.repeated.samples, kRounds * kRepeated);
      EXPECT_EQ(result.totals.at(0).samples, samples);
    }
  }
}

/// Returns how many bytes this process has read with system calls (rchar of proc(5)); nullopt: the
/// kernel does not count them.
std::optional<std::uint64_t> bytes_read() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  return counts >> name >> bytes && name == "rchar:" ? std::optional(bytes) : std::nullopt;
}

TEST_F(DigestTest, ReadsSamplesTwiceOnlyIfAMappingFollowsThem) {
  if (!bytes_read()) GTEST_SKIP() << "/proc/self/io is missing";
  auto builder = RecordingBuilder().event({}).mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1);
  // Build-ids are known at the end, and are no mapping.
  builder.feature(perfdata::HEADER_BUILD_ID,
                  builder.build_id_entry("/bin/a", std::string(20, 'x')));
  for (std::uint64_t time = 2; time < 50'000; ++time) builder.sample(0x1010, 7, time);
  const auto share_read = [&] {
    auto recording = open(builder);
    const std::uint64_t before = *bytes_read();
    digest(recording, {.worth = UINT64_MAX, .quiet = 10'000});
    return static_cast<double>(*bytes_read() - before) /
           static_cast<double>(builder.bytes().size());
  };
  EXPECT_LT(share_read(), 1.2);
  builder.mmap(7, 0x5000, 0x1000, 0, "/bin/b", 50'000);
  EXPECT_GT(share_read(), 1.8);
}

TEST_F(DigestTest, CountsBothKindsOfLossSeparately) {
  auto builder = RecordingBuilder().event({}).sample(1, 1, 1);
  builder.record(PERF_RECORD_LOST, 0, builder.writer().u64(0).u64(5).bytes());
  builder.record(PERF_RECORD_LOST_SAMPLES, 0, builder.writer().u64(3).bytes());
  builder.record(PERF_RECORD_THROTTLE, 0, builder.writer().u64(1).u64(2).u64(3).bytes());
  const auto result = digest_of(builder);
  EXPECT_EQ(result.lost_records, 5u);
  EXPECT_EQ(result.lost_samples, 3u);
  EXPECT_EQ(result.throttled, 1u);
}

TEST_F(DigestTest, MeasuresForHowLongTheMostThrottledCounterWasStopped) {
  const auto change = [](RecordingBuilder& builder, std::uint32_t type, std::uint64_t time,
                         std::uint64_t stream) {
    builder.record(type, 0, builder.writer().u64(time).u64(2).u64(stream).bytes());
  };
  for (const bool big_endian : {false, true}) {  // bulk counting, and sample by sample
    // The first sample is not the earliest: buffers of CPUs follow each other.
    auto builder = RecordingBuilder(big_endian).event({}).sample(1, 1, 1200).sample(1, 1, 1000);
    change(builder, PERF_RECORD_THROTTLE, 1300, 3);
    change(builder, PERF_RECORD_THROTTLE, 1350, 4);
    change(builder, PERF_RECORD_UNTHROTTLE, 1400, 3);
    change(builder, PERF_RECORD_UNTHROTTLE, 1410, 4);
    change(builder, PERF_RECORD_UNTHROTTLE, 1500, 4);  // without its begin
    change(builder, PERF_RECORD_THROTTLE, 1600, 3);
    change(builder, PERF_RECORD_UNTHROTTLE, 1650, 3);
    change(builder, PERF_RECORD_THROTTLE, 1900, 3);  // without an end
    builder.sample(1, 1, 2000);
    const auto result = digest_of(builder);
    EXPECT_EQ(result.throttled, 4u);
    EXPECT_EQ(result.throttled_share, 0.15) << "100 and 50 ns of 1000";
  }
  auto untimed = RecordingBuilder().event({.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID});
  for (int i = 0; i < 2; ++i) {
    untimed.record(PERF_RECORD_SAMPLE, 2, untimed.writer().u64(1).i32(1).i32(1).bytes());
  }
  change(untimed, PERF_RECORD_THROTTLE, 1300, 3);
  change(untimed, PERF_RECORD_UNTHROTTLE, 1400, 3);
  EXPECT_EQ(digest_of(untimed).throttled_share, std::nullopt);
}

TEST_F(DigestTest, TakesSharesOfTimeFromTheSamplesWhereTheHeaderHasNoTimes) {
  Filter filter;
  filter.times = *parse_times("50%-100%");
  for (const bool has_zeros : {false, true}) {  // as perf 7 writes them
    auto builder = RecordingBuilder().event({});
    for (const std::uint64_t time : {30u, 100u, 10u, 60u, 110u}) builder.sample(0x1000, 7, time);
    if (has_zeros) {
      builder.feature(perfdata::HEADER_SAMPLE_TIME, builder.writer().u64(0).u64(0).bytes());
    }
    auto recording = open(builder);
    const auto result = digest(recording, {.filter = &filter});
    EXPECT_EQ(result.filtered.selected, 3u) << "from 60 on";
    EXPECT_EQ(result.filtered.all, 5u);
  }
}

/// The last time of all is in no region, as symbols::Region::until ends before it.
TEST(RegionCache, FindsTheMappingsOfTheLastTimeOfAll) {
  constexpr std::uint64_t kLastTime = UINT64_MAX;
  symbols::AddressSpaces spaces;
  spaces.map(5, 7, {0x1000, 0x3000}, 0, {"first", ""});
  spaces.map(kLastTime, 7, {0x2000, 0x3000}, 0x40, {"second", ""});
  spaces.seal();
  RegionCache cache(spaces);
  const auto place = [&](std::uint64_t ip, std::uint64_t time) {
    const auto& found = cache.find(AddressSpace(perfdata::CpuMode::user, 7), ip, time);
    return spaces.file(found.file).path + ' ' + std::to_string(ip + found.distance);
  };
  for (int i = 0; i < 2; ++i) {  // with nothing and with all of it in the cache
    EXPECT_EQ(place(0x1000, kLastTime), "first 0");
    EXPECT_EQ(place(0x2000, kLastTime - 1), "first 4096");
    EXPECT_EQ(place(0x2000, kLastTime), "second 64");
    EXPECT_EQ(place(0x2000, 5), "first 4096");
  }
}

TEST(FilterSyntax, ReadsNumbersAndRanges) {
  EXPECT_THAT(*parse_numbers("7,0-2"), ElementsAre("7", "0", "1", "2"));
  for (const std::string wrong : {"", "x", "1,,2", "2-1", "2-", "-1", "0-9999", "4294967296"}) {
    EXPECT_FALSE(parse_numbers(wrong)) << wrong;
  }
}

TEST(FilterSyntax, ReadsTimesAsPerfDoes) {
  const auto seconds = *parse_times("1.5,2.000000001 ,3 4,");
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_EQ(seconds[0].begin, 1'500'000'000u);
  EXPECT_EQ(seconds[0].end, 2'000'000'001u);
  EXPECT_EQ(seconds[1].begin, 0u);
  EXPECT_EQ(seconds[2].end, UINT64_MAX);
  const auto shares = *parse_times("10%/2,30%-45.5%");
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_DOUBLE_EQ(shares[0].shares->first, 0.1);
  EXPECT_DOUBLE_EQ(shares[0].shares->second, 0.2);
  EXPECT_DOUBLE_EQ(shares[1].shares->second, 0.455);
  for (const std::string wrong : {"x", "2,1", "1.0000000001", "10%/11", "10%/0", "20%-10%", "101%",
                                  "10%-20", "99999999999999999999"}) {
    EXPECT_FALSE(parse_times(wrong)) << wrong;
  }
}

TEST(ThreadNames, FollowForksAndRenamesWhateverTheirOrder) {
  symbols::ThreadNames names;
  names.fork(50, 10, 11);
  names.rename(70, 11, "execed");
  names.rename(40, 10, "renamed");
  names.rename(0, 10, "parent");
  names.fork(90, 99, 10);  // the number is used again, by a child of an unknown thread
  names.fork(20, 10, 12);
  names.seal();
  EXPECT_EQ(names.at(10, 39), "parent");
  EXPECT_EQ(names.at(10, 40), "renamed");
  EXPECT_EQ(names.at(10, 95), ":10");
  EXPECT_EQ(names.at(11, 49), ":11");
  EXPECT_EQ(names.at(11, 69), "renamed") << "of its parent at the fork";
  EXPECT_EQ(names.at(11, 70), "execed");
  EXPECT_EQ(names.at(12, 99), "parent") << "later names of the parent are not inherited";
  EXPECT_EQ(names.at(0, 5), "swapper");
}

TEST(ThreadNames, AreCutSoThatForksCannotMultiplyALongOne) {
  symbols::ThreadNames names;
  names.rename(0, 10, std::string(60'000, 'x'));
  names.fork(1, 10, 11);
  names.fork(2, 11, 11);
  names.seal();
  EXPECT_EQ(names.at(11, 1), std::string(64, 'x'));
  EXPECT_EQ(names.at(11, 2), ":11") << "a fork of itself has no parent";
}

class FilteredDigest : public test::RecordingTest {
 protected:
  void SetUp() override {
    auto builder = test::RecordingBuilder().event({}).mmap(1, 0x1000, 0x1000, 0, "/bin/first", 1);
    builder.sample(0x1010, 1, 30).sample(0x1010, 2, 35).sample(0x9000, 1, 10);
    builder.mmap(2, 0x1000, 0x1000, 0, "/lib/modules/6.1/x/snd-hda.ko.xz", 2);
    builder.comm(1, "late", 20);  // after the samples of its time
    builder.comm(1, "early", 5).comm(2, "early", 5);
    bytes_ = builder.bytes();
  }
  /// The times of the samples that are visited; as many were counted.
  std::vector<std::uint64_t> selected(const Filter& filter) {
    auto recording = open(bytes_);
    const Digest digested = digest(recording, {.filter = &filter});
    std::vector<std::uint64_t> times;
    std::size_t left_out = 0;
    visit_records(recording, digested, [&](const VisitedRecord& visited) {
      if (visited.sample != nullptr) times.push_back(visited.sample->time);
      if (visited.left_out != nullptr) ++left_out;
    });
    EXPECT_EQ(digested.totals.at(0).samples, times.size());
    EXPECT_EQ(digested.filtered.selected, times.size());
    EXPECT_EQ(digested.filtered.all, times.size() + left_out);
    EXPECT_EQ(digested.filtered.all, 3u);
    messages_ = digested.filtered.unmatched(filter);
    return times;
  }
  static Filter by(Filter::Kind kind, std::vector<std::string> values) {
    Filter filter;
    filter.lists[kind] = std::move(values);
    return filter;
  }

  std::string bytes_;
  std::vector<std::string> messages_;
};

TEST_F(FilteredDigest, HasOnlySelectedSamples) {
  EXPECT_THAT(selected({}), ElementsAre(30, 35, 10));
  EXPECT_THAT(selected(by(Filter::comm, {"early"})), ElementsAre(35, 10));
  EXPECT_THAT(selected(by(Filter::comm, {"late", "early"})), ElementsAre(30, 35, 10));
  EXPECT_THAT(selected(by(Filter::pid, {"2"})), ElementsAre(35));
  EXPECT_THAT(selected(by(Filter::dso, {"first"})), ElementsAre(30));
  EXPECT_THAT(selected(by(Filter::dso, {"[snd_hda]"})), ElementsAre(35));
  EXPECT_THAT(selected({.times = {{10, 30}}}), ElementsAre(30, 10));
  Filter both = by(Filter::comm, {"early"});
  both.lists[Filter::tid] = {"1"};
  EXPECT_THAT(selected(both), ElementsAre(10));
}

TEST_F(FilteredDigest, ListsWhatWouldHaveMatched) {
  selected(by(Filter::comm, {"erly", "late"}));
  EXPECT_THAT(messages_, ElementsAre("comm erly: no sample matches; sampled: early"));
  selected(by(Filter::pid, {"77"}));
  EXPECT_THAT(messages_, ElementsAre("pid 77: no sample matches; sampled: 1, 2"));
  selected({.times = {{100, 200}}});
  EXPECT_THAT(messages_, ElementsAre(HasSubstr("from 0.000000010 to 0.000000035")));
}

TEST_F(FilteredDigest, NeedsTheFieldInTheSamples) {
  const auto refused = [&](const Filter& filter) {
    return test::message_of<InputError>([&] { selected(filter); });
  };
  EXPECT_THAT(refused(by(Filter::cpu, {"0"})), HasSubstr("perf record --sample-cpu"));
}

}  // namespace
}  // namespace skid::locate
