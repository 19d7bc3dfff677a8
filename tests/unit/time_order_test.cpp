// Samples belong to what was mapped at their time, whatever the order and the form of the
// recording. Random histories, held against a replay by brute force.
#include "src/locate/digest.h"
#include "tests/support/history.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/writing_thread.h"
#include "tests/support/zstd_compressor.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace skid::locate {
namespace {

using test::HistoryShape;
using test::HistoryWriter;
using test::Occurrence;
using test::PlaceCounts;
using test::PlaceKey;
using test::RecordingBuilder;
using Rounds = std::vector<std::vector<Occurrence>>;

struct Found {
  PlaceCounts places;
  std::vector<std::uint64_t> samples_by_event;
  std::uint64_t uncertain = 0;
  std::size_t faults = 0;
  std::size_t visits = 0;  ///< how often a place was told
};

Found digest_of(const std::filesystem::path& path, const perfdata::LaneSetup& lanes = {}) {
  auto recording = perfdata::Recording::open(path);
  const Digest result = digest(recording, lanes);
  Found found;
  result.located.for_each([&](const LocatedSamples& located) {
    ++found.visits;
    PlaceKey key{located.attribute, located.address_space, located.ip, located.kind.bits(), {}, 0};
    if (located.location) {
      key.file = result.spaces.file(located.location->file).path;
      key.file_offset = located.location->offset;
    }
    found.places[key] += located.samples;
  });
  for (const auto& total : result.totals) found.samples_by_event.push_back(total.samples);
  found.uncertain = result.uncertain;
  found.faults = recording.faults().size();
  return found;
}

std::vector<Occurrence> joined(const Rounds& rounds) {
  std::vector<Occurrence> all;
  for (const auto& round : rounds) all.insert(all.end(), round.begin(), round.end());
  return all;
}

class TimeOrder : public ::testing::Test {
 protected:
  Found digest_of_bytes(const std::string& bytes) {
    const auto path = directory_ / "perf.data";
    std::ofstream(path, std::ios::binary) << bytes;
    auto found = digest_of(path, {.worth = UINT64_MAX});
    const auto by_two = digest_of(path, {.worth = 0, .chunk = 3000, .most_rows = 100});
    EXPECT_TRUE(by_two.places == found.places) << "two threads do not give what one gives";
    EXPECT_EQ(by_two.samples_by_event, found.samples_by_event);
    EXPECT_EQ(by_two.faults, found.faults);
    return found;
  }
  Found digest_of_pipe(const RecordingBuilder& builder) {
    const auto path = directory_ / "fifo";
    std::filesystem::remove(path);
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const test::WritingThread writer(path, builder.pipe_bytes());
    return digest_of(path);
  }

  static void expect_equal(const PlaceCounts& expected, const Found& found) {
    EXPECT_EQ(found.faults, 0u);
    EXPECT_EQ(found.uncertain, 0u);
    EXPECT_EQ(test::misplaced(expected, found.places), 0u);
    EXPECT_TRUE(found.places == expected);
    std::vector<std::uint64_t> by_event(found.samples_by_event.size());
    for (const auto& [key, count] : expected) by_event.at(key.event) += count;
    EXPECT_EQ(found.samples_by_event, by_event);
  }

  static RecordingBuilder with_rounds(const HistoryShape& shape, const Rounds& rounds) {
    const HistoryWriter writer(shape);
    auto builder = writer.begin();
    for (const auto& round : rounds) {
      for (const auto& occurrence : round) writer.add(builder, occurrence);
      builder.record(perfdata::PERF_RECORD_FINISHED_ROUND, 0, "");
    }
    return builder;
  }
  /// The same records, compressed: records and packets end at different places.
  static RecordingBuilder compressed(const HistoryShape& shape, const RecordingBuilder& plain) {
    test::ZstdCompressor compressor;
    auto builder = HistoryWriter(shape).begin();
    std::string_view left = plain.records();
    for (std::size_t size = 4099; !left.empty(); size = size * 5 % 32749 + 1) {
      const auto packet = left.substr(0, size);
      left.remove_prefix(packet.size());
      builder.record(perfdata::PERF_RECORD_COMPRESSED, 0, compressor.compress(packet));
    }
    return builder;
  }

  /// All forms in which `history`, in this order, can be stored as a file.
  void expect_equal_in_files(const HistoryShape& shape, const std::vector<Occurrence>& history) {
    const auto expected = test::places_by_replay(history, shape.timed);
    const auto builder = HistoryWriter(shape).whole(history);
    {
      SCOPED_TRACE("file");
      expect_equal(expected, digest_of_bytes(builder.bytes()));
    }
    {
      SCOPED_TRACE("compressed");
      expect_equal(expected, digest_of_bytes(compressed(shape, builder).bytes()));
    }
    {
      SCOPED_TRACE("pipe mode in a file");
      expect_equal(expected, digest_of_bytes(builder.pipe_bytes()));
    }
  }
  /// The same for rounds, and for a pipe.
  void expect_equal_in_rounds(const HistoryShape& shape, const Rounds& rounds) {
    const auto expected = test::places_by_replay(joined(rounds), shape.timed);
    const auto builder = with_rounds(shape, rounds);
    {
      SCOPED_TRACE("file");
      expect_equal(expected, digest_of_bytes(builder.bytes()));
    }
    {
      SCOPED_TRACE("pipe");
      expect_equal(expected, digest_of_pipe(builder));
    }
    {
      SCOPED_TRACE("compressed pipe");
      // perf writes FINISHED_ROUND uncompressed, but nothing depends on that.
      expect_equal(expected, digest_of_pipe(compressed(shape, builder)));
    }
  }

  test::TemporaryDirectory directory_;
};

/// As a JIT does all the time.
TEST_F(TimeOrder, DoesNotSplitPlacesForMappingsElsewhere) {
  constexpr std::uint64_t kMappings = 300, kPlaces = 20, kPage = 0x1000;
  const HistoryShape shape;
  std::vector<Occurrence> history;
  std::uint64_t time = 1;
  const auto add = [&](Occurrence::What what, std::uint64_t address) -> Occurrence& {
    Occurrence& occurrence = history.emplace_back();
    occurrence.what = what;
    occurrence.time = time++;
    occurrence.pid = 100;
    occurrence.address = address;
    occurrence.length = kPage;
    occurrence.file = "/bin/jit";
    occurrence.cpu = static_cast<unsigned>(time % shape.cpus);
    return occurrence;
  };
  add(Occurrence::What::map, 0x40'0000);
  for (std::uint64_t mapping = 1; mapping <= kMappings; ++mapping) {
    const std::uint64_t code = 0x7000'0000 + mapping * kPage;
    add(Occurrence::What::sample, code);  // nothing there yet
    add(Occurrence::What::map, code).file = "/code";
    add(Occurrence::What::sample, code);
    for (std::uint64_t i = 0; i < kPlaces; ++i) add(Occurrence::What::sample, 0x40'0000 + i);
  }
  std::mt19937_64 random{1};
  const Rounds rounds = test::in_rounds(history, shape.cpus, 50, random);
  expect_equal_in_rounds(shape, rounds);
  EXPECT_EQ(digest_of_pipe(with_rounds(shape, rounds)).visits, kPlaces + 2 * kMappings);
}

/// Shapes for small histories, by seed.
HistoryShape small_shape(unsigned seed) {
  HistoryShape shape;
  shape.occurrences = 200 + 300 * (seed % 8);
  shape.cpus = 1 + seed % 5;
  shape.events = std::array{1u, 2u, 9u}[seed % 3];
  shape.changes = std::array{0.02, 0.1, 0.4}[seed / 3 % 3];
  shape.addresses = std::array{2u, 16u}[seed % 2];
  shape.slots = seed % 4 == 3 ? 100 : 6;  // most is mapped where nothing was, as by a JIT
  shape.timed = seed % 10 != 9;
  return shape;
}

class TimeOrderOfAnyHistory : public TimeOrder, public ::testing::WithParamInterface<unsigned> {
 protected:
  std::mt19937_64 random_{GetParam()};
  HistoryShape shape_ = small_shape(GetParam());
  std::vector<Occurrence> history_ = test::random_history(shape_, random_);
};

TEST_P(TimeOrderOfAnyHistory, DoesNotMatterInAFile) {
  expect_equal_in_files(shape_, history_);
  std::shuffle(history_.begin(), history_.end(), random_);
  SCOPED_TRACE("shuffled");
  expect_equal_in_files(shape_, history_);
}

TEST_P(TimeOrderOfAnyHistory, IsFollowedInRounds) {
  for (const std::size_t rounds : {0u, 1u, 3u, 10u, 100u}) {
    SCOPED_TRACE(rounds);
    expect_equal_in_rounds(shape_, test::in_rounds(history_, shape_.cpus, rounds, random_));
  }
}

TEST_P(TimeOrderOfAnyHistory, IsCertainOrReportedWithBrokenRounds) {
  std::shuffle(history_.begin(), history_.end(), random_);
  Rounds rounds(1);
  for (const auto& occurrence : history_) {
    rounds.back().push_back(occurrence);
    if (random_() % 20 == 0) rounds.emplace_back();
  }
  const auto expected = test::places_by_replay(history_, shape_.timed);
  const auto found = digest_of_pipe(with_rounds(shape_, rounds));
  EXPECT_LE(test::misplaced(expected, found.places), found.uncertain);
  std::uint64_t samples = 0, counted = 0;
  for (const auto& [place, count] : expected) samples += count;
  for (const auto& [place, count] : found.places) counted += count;
  EXPECT_EQ(counted, samples);
  EXPECT_LE(found.uncertain, samples);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TimeOrderOfAnyHistory, ::testing::Range(0u, 60u));

/// Long enough that reading ahead matters, slices of time grow, and the hot process is counted in
/// the dense window while its mappings change.
class TimeOrderOfALongHistory : public TimeOrder,
                                public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  TimeOrderOfALongHistory() {
    shape_.occurrences = 300'000;
    shape_.events = GetParam();
    shape_.changes = 0.001;
    shape_.addresses = 64;
    shape_.hot = 0.9;
    history_ = test::random_history(shape_, random_);
  }

  std::mt19937_64 random_{7};
  HistoryShape shape_;
  std::vector<Occurrence> history_;
};

TEST_P(TimeOrderOfALongHistory, ChangesTheFilesOfHotAddresses) {
  std::map<std::uint64_t, std::set<std::string>> files_at;
  std::uint64_t hot = 0;
  for (const auto& [place, count] : test::places_by_replay(history_, true)) {
    if (place.address_space != 100) continue;
    files_at[place.ip].insert(place.file);
    hot += count;
  }
  EXPECT_GT(hot, 200'000u) << "samples that the window is to be placed over";
  EXPECT_LT(files_at.rbegin()->first - files_at.begin()->first, 32'768u);
  EXPECT_GT(std::count_if(files_at.begin(), files_at.end(),
                          [](const auto& entry) { return entry.second.size() > 2; }),
            200);
  EXPECT_GT(HistoryWriter(shape_).whole(history_).records().size(), std::size_t{8} << 20);
}

TEST_P(TimeOrderOfALongHistory, DoesNotMatterInAFile) {
  expect_equal_in_files(shape_, history_);
  std::shuffle(history_.begin(), history_.end(), random_);
  SCOPED_TRACE("shuffled");
  expect_equal_in_files(shape_, history_);
}

TEST_P(TimeOrderOfALongHistory, IsFollowedInRounds) {
  for (const std::size_t rounds : {30u, 1000u}) {
    SCOPED_TRACE(rounds);
    expect_equal_in_rounds(shape_, test::in_rounds(history_, shape_.cpus, rounds, random_));
  }
}

TEST_P(TimeOrderOfALongHistory, IsCertainOrReportedWithoutRounds) {
  const auto one = test::in_rounds(history_, shape_.cpus, 20, random_);
  const auto builder = HistoryWriter(shape_).whole(joined(one));
  const auto expected = test::places_by_replay(joined(one), true);
  const auto found = digest_of_pipe(builder);
  EXPECT_LE(test::misplaced(expected, found.places), found.uncertain);
}

INSTANTIATE_TEST_SUITE_P(Events, TimeOrderOfALongHistory, ::testing::Values(1u, 3u, 10u));

}  // namespace
}  // namespace skid::locate
