// Samples belong to what was mapped at their time, whatever the order and the form of the
// recording. Random histories, held against a replay by brute force.
#include "src/locate/digest.h"
#include "src/locate/place_counter.h"
#include "src/perfdata/recording.h"
#include "tests/support/history.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/writing_thread.h"
#include "tests/support/zstd_compressor.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  std::size_t faults = 0;
  std::size_t visits = 0;  ///< how often a place was told
};

Found digest_of(const std::filesystem::path& path, const DigestSetup& setup = {}) {
  auto recording = perfdata::Recording::open(path);
  const Digest result = digest(recording, setup);
  Found found;
  result.located.for_each([&](const LocatedSamples& located) {
    ++found.visits;
    PlaceKey key{located.attribute, located.ip, located.kind.bits(), {}, 0};
    if (located.location) {
      key.file = result.spaces.file(located.location->file).path;
      key.file_offset = located.location->offset;
    }
    found.places[key] += located.samples;
  });
  for (const auto& total : result.totals) found.samples_by_event.push_back(total.samples);
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
    auto found = digest_of(path, {.worth = UINT64_MAX, .quiet = UINT64_MAX});
    for (const std::uint64_t quiet : {1u, 5000u}) {
      const auto by_two = digest_of(path, {.worth = 0, .piece = 3000, .quiet = quiet});
      EXPECT_TRUE(by_two.places == found.places) << "two threads do not give what one gives";
      EXPECT_EQ(by_two.samples_by_event, found.samples_by_event);
      EXPECT_EQ(by_two.faults, found.faults);
    }
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
    for (const auto& [form, bytes] : {std::pair{"file", builder.bytes()},
                                      {"compressed", compressed(shape, builder).bytes()},
                                      {"pipe mode in a file", builder.pipe_bytes()}}) {
      SCOPED_TRACE(form);
      expect_equal(expected, digest_of_bytes(bytes));
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
    // perf writes FINISHED_ROUND uncompressed, but nothing depends on that.
    for (const auto& [form, piped] :
         {std::pair{"pipe", builder}, {"compressed pipe", compressed(shape, builder)}}) {
      SCOPED_TRACE(form);
      expect_equal(expected, digest_of_pipe(piped));
    }
  }

  test::TemporaryDirectory directory_;
};

/// As a JIT does all the time.
TEST_F(TimeOrder, VisitsEachPlaceOnceWhateverIsMappedElsewhere) {
  constexpr std::uint64_t kMappings = 300, kPlaces = 20, kPage = 0x1000;
  const HistoryShape shape;
  std::vector<Occurrence> history;
  std::uint64_t time = 0;
  const auto add = [&](Occurrence::What what, std::uint64_t address) -> Occurrence& {
    history.push_back({.what = what,
                       .time = ++time,
                       .pid = 100,
                       .address = address,
                       .length = kPage,
                       .file = "/bin/jit",
                       .cpu = static_cast<unsigned>(time % shape.cpus)});
    return history.back();
  };
  add(Occurrence::What::map, 0x40'0000);
  for (std::uint64_t mapping = 1; mapping <= kMappings; ++mapping) {
    const std::uint64_t code = 0x7000'0000 + mapping * kPage;
    add(Occurrence::What::sample, code);  // nothing there yet
    Occurrence& mapped = add(Occurrence::What::map, code);
    mapped.file = "/code";
    mapped.file_offset = mapping * kPage;
    add(Occurrence::What::sample, code);
    for (std::uint64_t i = 0; i < kPlaces; ++i) add(Occurrence::What::sample, 0x40'0000 + i);
  }
  std::mt19937_64 random{1};
  const Rounds rounds = test::in_rounds(history, shape.cpus, 50, random);
  expect_equal_in_rounds(shape, rounds);
  EXPECT_EQ(digest_of_pipe(with_rounds(shape, rounds)).visits, kPlaces + kMappings + 1);
}

/// Shapes for small histories, by seed.
HistoryShape small_shape(unsigned seed) {
  HistoryShape shape{.occurrences = 200 + 300 * (seed % 8),
                     .cpus = 1 + seed % 5,
                     .events = std::array{1u, 2u, 9u}[seed % 3],
                     .changes = std::array{0.02, 0.1, 0.4}[seed / 3 % 3],
                     .addresses = std::array{2u, 16u}[seed % 2]};
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
  std::stable_partition(history_.begin(), history_.end(), [](const Occurrence& occurrence) {
    return occurrence.what != Occurrence::What::sample;
  });
  for (std::size_t at = history_.size() * 9 / 10; at < history_.size(); at += 40) {
    Occurrence nothing = history_.front();  // a mapping of no bytes changes nothing
    nothing.what = Occurrence::What::map;
    nothing.time = history_[at].time;
    nothing.pid = 100;
    nothing.address = history_[at].address;
    nothing.length = 0;
    nothing.misc = 2;
    history_.insert(history_.begin() + static_cast<std::ptrdiff_t>(at), nothing);
  }
  {
    SCOPED_TRACE("samples last");
    expect_equal_in_files(shape_, history_);
  }
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

TEST_P(TimeOrderOfAnyHistory, DoesNotMatterInAPipe) {
  std::shuffle(history_.begin(), history_.end(), random_);
  Rounds rounds(1);
  for (const auto& occurrence : history_) {
    rounds.back().push_back(occurrence);
    if (random_() % 20 == 0) rounds.emplace_back();  // broken: they do not separate times
  }
  expect_equal(test::places_by_replay(history_, shape_.timed),
               digest_of_pipe(with_rounds(shape_, rounds)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, TimeOrderOfAnyHistory, ::testing::Range(0u, 40u));

/// Long enough that it is read in many pieces, with a hot process whose mappings change.
class TimeOrderOfALongHistory : public TimeOrder,
                                public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  TimeOrderOfALongHistory() {
    shape_.occurrences = 60'000;
    shape_.events = GetParam();
    shape_.changes = 0.005;
    shape_.addresses = 64;
    shape_.hot = 0.9;
    history_ = test::random_history(shape_, random_);
  }

  std::mt19937_64 random_{7};
  HistoryShape shape_;
  std::vector<Occurrence> history_;
};

TEST_P(TimeOrderOfALongHistory, DoesNotMatterInAFile) {
  expect_equal_in_files(shape_, history_);
  std::shuffle(history_.begin(), history_.end(), random_);
  SCOPED_TRACE("shuffled");
  expect_equal_in_files(shape_, history_);
}

TEST_P(TimeOrderOfALongHistory, IsFollowedInRounds) {
  for (const std::size_t rounds : {30u, 200u}) {
    SCOPED_TRACE(rounds);
    expect_equal_in_rounds(shape_, test::in_rounds(history_, shape_.cpus, rounds, random_));
  }
}

INSTANTIATE_TEST_SUITE_P(Events, TimeOrderOfALongHistory, ::testing::Values(1u, 3u, 10u));

}  // namespace
}  // namespace skid::locate
