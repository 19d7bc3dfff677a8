// Samples counted and located whatever the order of the file.
#include "src/locate/digest.h"

#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <array>
#include <fstream>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

namespace skid::locate {
namespace {

using test::RecordingBuilder;

class DigestTest : public ::testing::Test {
 protected:
  Digest digest_of(const RecordingBuilder& builder) {
    builder.write(directory_ / "perf.data");
    auto recording = perfdata::Recording::open(directory_ / "perf.data");
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

  test::TemporaryDirectory directory_;
};

TEST_F(DigestTest, CountsSamplesOfOnePlaceTogether) {
  RecordingBuilder builder;
  builder.event({}).mmap(7, 0x1000, 0x1000, 0x200, "/bin/a", 1);
  for (std::uint64_t time = 2; time < 1002; ++time) builder.sample(0x1010, 7, time);
  const auto result = digest_of(builder);
  const auto located = places(result);
  ASSERT_EQ(located.size(), 1u);
  EXPECT_EQ(located[0].samples, 1000u);
  ASSERT_TRUE(located[0].location);
  EXPECT_EQ(located[0].location->offset, 0x210u);
}

TEST_F(DigestTest, SplitsAPlaceWhoseMappingChangedByTime) {
  RecordingBuilder builder;
  builder.event({}).mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1);
  builder.sample(0x1010, 7, 5).sample(0x1010, 7, 6).sample(0x1010, 7, 15);
  builder.mmap(7, 0x1000, 0x1000, 0, "/bin/b", 10);  // behind a sample that is later in time
  builder.sample(0x1010, 7, 7).sample(0x1010, 7, 20);
  const auto counts = by_file(digest_of(builder));
  EXPECT_EQ(counts.at("/bin/a"), 3u);
  EXPECT_EQ(counts.at("/bin/b"), 2u);
}

TEST_F(DigestTest, CountsMovedPlacesByEventModeAndLocation) {
  RecordingBuilder builder;
  builder.event({}).mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1).mmap(8, 0x1000, 0x1000, 0, "/bin/a", 1);
  constexpr std::uint16_t kUser = 2, kExactUser = kUser | perfdata::PERF_RECORD_MISC_EXACT_IP;
  for (const std::uint64_t time : {5u, 15u, 25u}) {
    builder.sample(0x1010, 7, time, kUser).sample(0x1010, 7, time, kExactUser);
    builder.sample(0x1020, 7, time, kUser).sample(0x1010, 8, time, kUser);
  }
  builder.mmap(7, 0x1000, 0x1000, 0x40, "/bin/a", 10);
  builder.mmap(7, 0x1000, 0x1000, 0, "/bin/a", 20);
  const auto located = places(digest_of(builder));
  std::map<std::tuple<std::int32_t, std::uint64_t, bool, std::uint64_t>, std::uint64_t> counts;
  for (const auto& place : located) {
    ASSERT_TRUE(place.location);
    counts[{place.address_space, place.ip, place.kind.exact(), place.location->offset}] +=
        place.samples;
  }
  EXPECT_EQ(counts.size(), located.size()) << "each place once for each location";
  const decltype(counts) expected{{{7, 0x1010, false, 0x10}, 2}, {{7, 0x1010, false, 0x50}, 1},
                                  {{7, 0x1010, true, 0x10}, 2},  {{7, 0x1010, true, 0x50}, 1},
                                  {{7, 0x1020, false, 0x20}, 2}, {{7, 0x1020, false, 0x60}, 1},
                                  {{8, 0x1010, false, 0x10}, 3}};
  EXPECT_EQ(counts, expected);
}

/// A search among the locations of the place for each sample would take minutes.
TEST_F(DigestTest, CountsAPlaceThatMovedAllTheTime) {
  constexpr std::uint64_t kMoves = 150'000;
  RecordingBuilder builder;
  builder.event({});
  for (std::uint64_t i = 0; i < kMoves; ++i) {
    builder.mmap(7, 0x1000, 0x1000, i, "/a", 2 * i).sample(0x1010, 7, 2 * i + 1);
  }
  EXPECT_EQ(places(digest_of(builder)).size(), kMoves);
}

/// A second reading knows of each event only from where the first one did.
TEST_F(DigestTest, AssignsSamplesOfAMovedPlaceToTheEventsKnownThen) {
  const auto type = perfdata::PERF_SAMPLE_IDENTIFIER | perfdata::PERF_SAMPLE_IP |
                    perfdata::PERF_SAMPLE_TID | perfdata::PERF_SAMPLE_TIME;
  for (const bool first_has_ids : {true, false}) {
    test::EventToBuild first{.sample_type = type}, second{.sample_type = type, .ids = {2}};
    if (first_has_ids) first.ids = {1};
    std::uint64_t time = 1;
    const auto samples = [&] {
      RecordingBuilder builder;
      for (std::uint64_t i = 0; i < 100; ++i, ++time) {
        builder.record(perfdata::PERF_RECORD_SAMPLE, 2,
                       builder.writer().u64(1 + i % 2).u64(0x1010).i32(7).i32(7).u64(time).bytes());
      }
      return builder.records();
    };
    const auto mapping = [&](const char* path) {
      RecordingBuilder builder;
      builder.record(
          perfdata::PERF_RECORD_MMAP, 2,
          builder.writer().i32(7).i32(7).u64(0x1000).u64(0x1000).u64(0).text(path).bytes() +
              builder.writer().i32(7).i32(7).u64(time++).u64(1).bytes());
      return builder.records();
    };
    std::string bytes = RecordingBuilder().event(first).pipe_bytes();
    bytes += mapping("/bin/a") + samples();
    bytes += RecordingBuilder().event(second).pipe_bytes().substr(perfdata::FileHeader::kPipeSize);
    bytes += samples() + mapping("/bin/b") + samples();
    std::ofstream(directory_ / "perf.data", std::ios::binary) << bytes;
    auto recording = perfdata::Recording::open(directory_ / "perf.data");
    const auto result = digest(recording);
    EXPECT_TRUE(recording.faults().empty());
    ASSERT_EQ(result.totals.size(), 2u);
    std::array<std::uint64_t, 2> located{};
    for (const auto& place : places(result)) located[place.attribute] += place.samples;
    EXPECT_EQ(located[0], result.totals[0].samples);
    EXPECT_EQ(located[1], result.totals[1].samples);
    EXPECT_EQ(result.unknown_ids + located[0] + located[1], 300u);
    EXPECT_EQ(result.totals[1].samples, 100u) << "behind its announcement";
    EXPECT_EQ(by_file(result).at("/bin/b"), first_has_ids ? 100u : 50u);
  }
}

TEST_F(DigestTest, LocatesSamplesBeforeTheirMapping) {
  RecordingBuilder builder;
  builder.event({}).sample(0x1010, 7, 5).mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1);
  EXPECT_EQ(by_file(digest_of(builder)).at("/bin/a"), 1u);
}

TEST_F(DigestTest, LeavesSamplesWithoutAMappingUnlocated) {
  RecordingBuilder builder;
  builder.event({}).mmap(7, 0x1000, 0x1000, 0, "/bin/a", 10);
  builder.sample(0x1010, 7, 5).sample(0x9000, 7, 20).sample(0x1010, 8, 20);
  EXPECT_EQ(by_file(digest_of(builder)).at(""), 3u);
}

TEST_F(DigestTest, InheritsTheParentsMappingsUnlessPerfListsThem) {
  const auto fork = [](RecordingBuilder& builder, std::uint16_t misc) {
    builder.record(
        perfdata::PERF_RECORD_FORK, misc,
        builder.writer().i32(8).i32(7).i32(8).i32(7).u64(10).i32(8).i32(8).u64(10).bytes());
  };
  RecordingBuilder builder;
  builder.event({}).mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1);
  fork(builder, 0);
  builder.sample(0x1010, 8, 20);
  EXPECT_EQ(by_file(digest_of(builder)).at("/bin/a"), 1u);

  RecordingBuilder listed;
  listed.event({}).mmap(7, 0x1000, 0x1000, 0, "/bin/a", 1);
  fork(listed, perfdata::PERF_RECORD_MISC_FORK_EXEC);
  listed.sample(0x1010, 8, 20);
  EXPECT_EQ(by_file(digest_of(listed)).at(""), 1u);
}

TEST_F(DigestTest, CountsBothKindsOfLossSeparately) {
  RecordingBuilder builder;
  builder.event({}).sample(1, 1, 1);
  builder.record(perfdata::PERF_RECORD_LOST, 0, builder.writer().u64(0).u64(5).bytes());
  builder.record(perfdata::PERF_RECORD_LOST_SAMPLES, 0, builder.writer().u64(3).bytes());
  builder.record(perfdata::PERF_RECORD_THROTTLE, 0, builder.writer().u64(1).u64(2).u64(3).bytes());
  const auto result = digest_of(builder);
  EXPECT_EQ(result.lost_records, 5u);
  EXPECT_EQ(result.lost_samples, 3u);
  EXPECT_EQ(result.throttled, 1u);
}

}  // namespace
}  // namespace skid::locate
