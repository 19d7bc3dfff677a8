// Counting straight from the buffer gives what decoding sample by sample gives.
#include "src/perfdata/bulk_counter.h"

#include "src/perfdata/lanes.h"
#include "src/perfdata/recording.h"
#include "tests/support/recording_builder.h"
#include "tests/support/temporary_directory.h"

#include <map>
#include <random>
#include <stdexcept>
#include <tuple>

#include <gtest/gtest.h>

namespace skid::perfdata {
namespace {

using test::EventToBuild;
using test::RecordingBuilder;

using Places =
    std::map<std::tuple<std::uint64_t, std::int32_t, std::uint32_t, std::uint32_t>, std::uint64_t>;

enum class Way { decoding, in_bulk, in_lanes };

struct Counted {
  Places places;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> totals;
  std::uint64_t unknown_ids = 0;
  std::uint64_t other_records = 0;  ///< that are no samples, each weighed by when it came
  std::uint64_t in_bulk = 0;        ///< bytes
};

class BulkCounting : public ::testing::Test {
 protected:
  Recording open(const RecordingBuilder& builder) {
    builder.write(directory_ / "perf.data");
    return Recording::open(directory_ / "perf.data");
  }

  Counted count(const RecordingBuilder& builder, Way way) {
    auto recording = open(builder);
    BulkLayout layout;
    layout.use(recording.decoder());
    SliceNumbers slices;
    SampleScanner scanner(layout, slices);
    SampleCounts counts;
    BulkCounter counter(layout, counts);
    Counted result;
    std::vector<SampleRun> runs;
    const auto take = [&](const Record& record, BulkCounter& own_counter) {
      if (record.type != PERF_RECORD_SAMPLE) {
        result.other_records += ++other_records_ * record.position;
        return;
      }
      const auto sample = recording.decode(record);
      if (!sample) return;
      own_counter.count(*sample, recording.decoder().time_of(record, *sample), recording.position(),
                        address_space_of(SampleKind(sample->mode, sample->exact), sample->pid),
                        slices.current());
      slices.add(1);
    };
    other_records_ = 0;
    if (way == Way::in_lanes) {
      Lanes(recording, layout, slices, counter, take, lane_setup_).run();
    }
    Record record;
    for (;;) {
      if (way == Way::in_bulk) {
        const auto bytes = scanner.scan(recording.buffered(), recording.position(), runs);
        for (const auto& run : runs) counter.count(run);
        runs.clear();
        recording.consume(bytes);
        result.in_bulk += bytes;
      }
      if (!recording.next(record)) break;
      take(record, counter);
    }
    result.unknown_ids = counter.unknown_ids() + recording.left_out().unknown_ids;
    counter.finish();
    counts.seal();
    counts.for_each([&](std::size_t, const SampleCount& found) {
      result.places[{found.of.ip, found.of.address_space, found.of.attribute,
                     found.of.kind.bits()}] += found.samples;
    });
    result.totals.reserve(counter.totals().size());
    for (const auto& total : counter.totals()) {
      result.totals.emplace_back(total.samples, total.period_sum);
    }
    return result;
  }

  void expect_same(const RecordingBuilder& builder, bool mostly_in_bulk = true) {
    const auto slow = count(builder, Way::decoding);
    const auto fast = count(builder, Way::in_bulk);
    lane_setup_ = {};
    const auto by_two = count(builder, Way::in_lanes);
    lane_setup_ = {.chunk = 1001, .most_rows = 500};
    const auto in_pieces = count(builder, Way::in_lanes);
    for (const auto* other : {&fast, &by_two, &in_pieces}) {
      EXPECT_EQ(other->places, slow.places);
      EXPECT_EQ(other->totals, slow.totals);
      EXPECT_EQ(other->unknown_ids, slow.unknown_ids);
      EXPECT_EQ(other->other_records, slow.other_records);
    }
    EXPECT_EQ(fast.in_bulk > builder.records().size() / 2, mostly_in_bulk)
        << fast.in_bulk << " of " << builder.records().size() << " bytes were counted in bulk";
  }

  /// Samples on a hot range of code and elsewhere, of several processes, modes and exactness.
  RecordingBuilder random_samples(const std::vector<EventToBuild>& events, bool mixed_sizes,
                                  int samples = 60'000) {
    RecordingBuilder builder;
    for (const auto& event : events) builder.event(event);
    std::mt19937_64 random(11);
    for (int i = 0; i < samples; ++i) {
      const auto& event = events[random() % events.size()];
      const bool hot = random() % 4 != 0;
      const bool kernel = random() % 5 == 0;
      auto body = builder.writer();
      if ((event.sample_type & PERF_SAMPLE_IDENTIFIER) != 0) {
        body.u64(random() % 1000 == 0 ? 9999 : event.ids[random() % event.ids.size()]);
      }
      body.u64(kernel ? 0xffff'ffff'8100'0000 + random() % 500
               : hot  ? 0x40'1000 + random() % 5000
                      : random() % 100'000'000);
      body.i32(hot ? 77 : static_cast<std::int32_t>(random() % 9)).i32(1);
      if ((event.sample_type & PERF_SAMPLE_TIME) != 0) {
        body.u64(static_cast<std::uint64_t>(i) * 100);
      }
      if ((event.sample_type & PERF_SAMPLE_PERIOD) != 0) body.u64(random() % 1000);
      if (mixed_sizes) {
        for (std::uint64_t k = random() % 9; k > 0; --k) body.u64(random());
      }
      const std::uint16_t exact = random() % 3 == 0 ? PERF_RECORD_MISC_EXACT_IP : 0;
      builder.record(PERF_RECORD_SAMPLE, static_cast<std::uint16_t>((kernel ? 1 : 2) | exact),
                     body.bytes());
      if (random() % 500 == 0) builder.record(PERF_RECORD_FINISHED_ROUND, 0, "");
      if (random() % 5000 == 0) builder.record(PERF_RECORD_SAMPLE, 2, "too short");
    }
    return builder;
  }

  test::TemporaryDirectory directory_;
  std::uint64_t other_records_ = 0;
  LaneSetup lane_setup_;
};

constexpr std::uint64_t kPlain = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

TEST_F(BulkCounting, EqualsDecodingOfOneEvent) {
  expect_same(random_samples({{.sample_type = kPlain}}, false));
  expect_same(random_samples({{.sample_type = kPlain | PERF_SAMPLE_PERIOD}}, false));
  expect_same(random_samples({{.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID}}, false));
}

TEST_F(BulkCounting, EqualsDecodingOfRecordsOfManySizes) {
  expect_same(random_samples({{.sample_type = kPlain | PERF_SAMPLE_CALLCHAIN}}, true));
}

TEST_F(BulkCounting, EqualsDecodingOfSeveralEvents) {
  const auto type = kPlain | PERF_SAMPLE_IDENTIFIER;
  expect_same(random_samples({{.sample_type = type, .ids = {1, 2}},
                              {.sample_type = type, .ids = {3}},
                              {.sample_type = type | PERF_SAMPLE_PERIOD, .ids = {4, 5, 6}}},
                             true));
  std::vector<EventToBuild> many;
  for (std::uint64_t id = 1; id < 40; ++id) many.push_back({.sample_type = type, .ids = {id}});
  expect_same(random_samples(many, false));
}

TEST_F(BulkCounting, EqualsDecodingOfManyPlaces) {
  RecordingBuilder builder;
  builder.event({.sample_type = kPlain});
  std::mt19937_64 random(12);
  for (std::uint64_t i = 0; i < 600'000; ++i) {
    builder.sample(random() % 50'000 * 4096, static_cast<std::int32_t>(random() % 9), i);
    if (i % 100'000 == 0) builder.record(PERF_RECORD_SAMPLE, 2, "too short");
  }
  expect_same(builder);
}

TEST_F(BulkCounting, EqualsDecodingWhenALaneExceedsItsLimit) {
  RecordingBuilder builder;
  builder.event({.sample_type = kPlain});
  for (std::uint64_t i = 0; i < 1'500'000; ++i) builder.sample(i * 7 % 700'001, 1, i);
  expect_same(builder);
}

TEST_F(BulkCounting, EqualsDecodingOfSkippedRecords) {
  RecordingBuilder builder;
  builder.event({.sample_type = kPlain});
  std::mt19937_64 random(13);
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (std::uint64_t k = random() % 2000; k > 0; --k) builder.sample(k, 1, i);
    const std::uint64_t size = random() % 3 == 0 ? random() % 1'200'000 : random() % 5000;
    builder.record(PERF_RECORD_AUXTRACE, 0,
                   builder.writer().u64(size).u64(0).u64(0).u64(0).u64(0).bytes());
    // Looks like samples.
    RecordingBuilder behind;
    behind.sample(0xbad, 1, 1);
    std::string trace;
    while (trace.size() < size) trace += behind.records();
    builder.raw(trace.substr(0, size));
  }
  expect_same(builder, false);
}

/// Damage ends the reading wherever it lies in a chunk, with much or little of the chunk behind it.
TEST_F(BulkCounting, EqualsDecodingUpToDamage) {
  for (const std::uint64_t good : {0u, 1u, 8'000u, 16'000u, 17'000u, 18'432u, 30'000u}) {
    RecordingBuilder builder;
    builder.event({.sample_type = kPlain});
    for (std::uint64_t i = 0; i < good; ++i) builder.sample(i % 300, 1, i);
    builder.raw(std::string(3'000'000, '\0'));
    expect_same(builder, false);
  }
}

/// What comes out of a take is thrown where the lanes were started, whichever lane it was in.
TEST_F(BulkCounting, RethrowsExceptionsOfTheCallback) {
  RecordingBuilder builder;
  builder.event({.sample_type = kPlain});
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    builder.sample(i % 100, 1, i);
    if (i % 10'000 == 0) builder.record(PERF_RECORD_FINISHED_ROUND, 0, "");
  }
  for (int last = 0; last < 30; last += 3) {
    auto recording = open(builder);
    BulkLayout layout;
    layout.use(recording.decoder());
    SliceNumbers slices;
    SampleCounts counts;
    BulkCounter counter(layout, counts);
    int taken = 0;
    const auto take = [&](const Record&, BulkCounter&) {
      if (taken++ == last) throw std::runtime_error("enough");
    };
    Lanes lanes(recording, layout, slices, counter, take, {.chunk = 10'000});
    EXPECT_THROW(lanes.run(), std::runtime_error);
    EXPECT_EQ(taken, last + 1) << "nothing is taken behind it";
  }
}

TEST_F(BulkCounting, LeavesEventsWithAnotherAddressOffsetToTheDecoder) {
  const auto type = kPlain | PERF_SAMPLE_IDENTIFIER;
  expect_same(random_samples({{.sample_type = type, .ids = {1}},
                              {.sample_type = type & ~PERF_SAMPLE_TIME, .ids = {2}}},
                             false, 2000),
              false);
}

TEST_F(BulkCounting, DoesNotCountZerosAsSamples) {
  // Where a record should begin, in front of all others and behind some.
  const std::string zeros(64, '\0');
  for (const bool behind_a_sample : {false, true}) {
    RecordingBuilder builder;
    builder.event({.sample_type = kPlain});
    if (behind_a_sample) builder.sample(0x1, 1, 1).record(PERF_RECORD_FINISHED_ROUND, 0, "");
    builder.record(0, 0, zeros, 0).sample(0x2, 1, 2);
    expect_same(builder, false);
  }
}

TEST_F(BulkCounting, StopsBeforeRecordsThatNeedTheDecoder) {
  RecordingBuilder builder;
  builder.event({.sample_type = kPlain}).sample(0x1, 1, 1).mmap(1, 0, 1, 0, "/bin/x", 1);
  auto recording = open(builder);
  BulkLayout layout;
  layout.use(recording.decoder());
  SliceNumbers slices;
  SampleScanner scanner(layout, slices);
  std::vector<SampleRun> runs;
  Record record;
  ASSERT_TRUE(recording.next(record)) << "fills the buffer";
  EXPECT_EQ(scanner.scan(recording.buffered(), recording.position(), runs), 0u) << "a mapping";
  EXPECT_EQ(scanner.scan({}, 0, runs), 0u);
  EXPECT_TRUE(runs.empty());
  const auto sample = std::as_bytes(std::span(builder.records())).first(32);
  EXPECT_EQ(scanner.scan(sample, 0, runs), 32u);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].bytes.size(), 32u);
  EXPECT_EQ(scanner.scan(sample.first(31), 0, runs), 0u) << "cut off";
}

}  // namespace
}  // namespace skid::perfdata
