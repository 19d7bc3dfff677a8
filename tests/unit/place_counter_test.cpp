// Counting straight from the buffer, by one thread or two, gives what decoding sample by sample
// gives.
#include "src/locate/place_counter.h"

#include "src/locate/digest.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/record.h"
#include "src/perfdata/sample.h"
#include "src/support/error.h"
#include "src/symbols/address_space.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_test.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::locate {
namespace {

using namespace perfdata;
using test::EventToBuild;
using test::RecordingBuilder;

/// By offset, in one file for each mode, as all processes have it; attribute and kind.
using Places = std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::uint64_t>;

struct Counted {
  Places places;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> totals;
  std::uint64_t unknown_ids = 0;
  std::size_t faults = 0;
};

constexpr std::uint64_t kPlain = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

class BulkCounting : public test::RecordingTest {
 protected:
  static constexpr std::uint64_t kKernelBegin = 0xffff'0000'0000'0000;

  /// Everything is mapped in all processes of these recordings.
  static void map_all(RecordingBuilder& builder, const EventToBuild& event) {
    std::vector<std::int32_t> pids = {77, -1};
    for (std::int32_t pid = 0; pid < 9; ++pid) pids.push_back(pid);
    for (const std::int32_t pid : pids) {
      const std::uint64_t begin = pid == -1 ? kKernelBegin : 0;
      auto body = builder.writer();
      body.i32(pid).i32(pid).u64(begin).u64(kKernelBegin - 1).u64(begin).text("/all");
      body.i32(pid).i32(pid);  // the trailer of sample_id_all
      if ((event.sample_type & PERF_SAMPLE_TIME) != 0) body.u64(0);
      if ((event.sample_type & PERF_SAMPLE_IDENTIFIER) != 0) body.u64(event.ids.front());
      builder.record(PERF_RECORD_MMAP, pid == -1 ? 1 : 2, body.bytes());
    }
  }

  Counted decoded(const RecordingBuilder& builder) {
    auto recording = open(builder);
    Counted result;
    result.totals.resize(recording.attributes().size());
    Record record;
    while (recording.next(record)) {
      if (record.type != PERF_RECORD_SAMPLE) continue;
      const auto sample = recording.decode(record);
      if (!sample) continue;
      const SampleKind kind(sample->mode, sample->exact);
      ++result.places[{sample->ip, sample->attribute, kind.bits()}];
      ++result.totals[sample->attribute].first;
      const bool has_period = recording.attributes()[sample->attribute].has(PERF_SAMPLE_PERIOD);
      if (has_period) result.totals[sample->attribute].second += sample->period;
    }
    result.unknown_ids = recording.left_out().unknown_ids;
    result.faults = recording.faults().size();
    return result;
  }
  Counted counted(const RecordingBuilder& builder, const DigestSetup& setup) {
    auto recording = open(builder);
    const Digest digest = locate::digest(recording, setup);
    Counted result;
    digest.located.for_each([&](const LocatedSamples& located) {
      const auto offset = located.location ? located.location->offset : 0;
      const auto [entry, is_new] = result.places.try_emplace(
          {offset, located.attribute, located.kind.bits()}, located.samples);
      EXPECT_TRUE(is_new) << "twice: " << offset;
    });
    for (const auto& total : digest.totals) {
      result.totals.emplace_back(total.samples, total.period_sum);
    }
    result.unknown_ids = digest.unknown_ids;
    result.faults = recording.faults().size();
    return result;
  }

  void expect_same(const RecordingBuilder& builder) {
    const auto slow = decoded(builder);
    for (const DigestSetup& setup :
         {DigestSetup{.worth = UINT64_MAX}, DigestSetup{.worth = 0, .quiet = 1},
          DigestSetup{.worth = 0, .piece = 1001, .quiet = 20'000}}) {
      const auto fast = counted(builder, setup);
      EXPECT_EQ(fast.places, slow.places);
      EXPECT_EQ(fast.totals, slow.totals);
      EXPECT_EQ(fast.unknown_ids, slow.unknown_ids);
      EXPECT_EQ(fast.faults, slow.faults);
    }
  }

  /// Samples on a hot range of code and elsewhere, of several processes, modes and exactness.
  static RecordingBuilder random_samples(const std::vector<EventToBuild>& events, bool mixed_sizes,
                                         int samples = 60'000) {
    RecordingBuilder builder;
    for (const auto& event : events) builder.event(event);
    map_all(builder, events.front());
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
};

TEST_F(BulkCounting, EqualsDecodingOfOneEvent) {
  expect_same(random_samples({{.sample_type = kPlain}}, false));
  expect_same(random_samples({{.sample_type = kPlain | PERF_SAMPLE_PERIOD}}, false));
  expect_same(random_samples({{.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID}}, false));
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
  auto builder = RecordingBuilder().event({.sample_type = kPlain});
  map_all(builder, {.sample_type = kPlain});
  std::mt19937_64 random(12);
  for (std::uint64_t i = 0; i < 600'000; ++i) {
    builder.sample(random() % 50'000 * 4096, static_cast<std::int32_t>(random() % 9), i);
    if (i % 100'000 == 0) builder.record(PERF_RECORD_SAMPLE, 2, "too short");
  }
  expect_same(builder);
}

TEST_F(BulkCounting, EqualsDecodingOfSkippedRecords) {
  auto builder = RecordingBuilder().event({.sample_type = kPlain});
  map_all(builder, {.sample_type = kPlain});
  std::mt19937_64 random(13);
  std::uint64_t samples = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (std::uint64_t k = random() % 2000; k > 0; --k, ++samples) builder.sample(k, 1, i);
    const std::uint64_t size = random() % 3 == 0 ? random() % 1'200'000 : random() % 5000;
    builder.record(PERF_RECORD_AUXTRACE, 0,
                   builder.writer().u64(size).u64(0).u64(0).u64(0).u64(0).bytes());
    // Looks like samples.
    RecordingBuilder after;
    after.sample(0xbad, 1, 1);
    std::string trace;
    while (trace.size() < size) trace += after.records();
    builder.raw(trace.substr(0, size));
  }
  expect_same(builder);
  const auto all = decoded(builder);
  EXPECT_EQ(all.totals.at(0).first, samples);
  EXPECT_EQ(all.faults, 0u);
}

/// Damage ends the reading wherever it is in a piece, with much or little of the piece after it.
TEST_F(BulkCounting, EqualsDecodingUpToDamage) {
  for (const std::uint64_t good : {0u, 1u, 8'000u, 16'000u, 17'000u, 18'432u, 30'000u}) {
    auto builder = RecordingBuilder().event({.sample_type = kPlain});
    map_all(builder, {.sample_type = kPlain});
    for (std::uint64_t i = 0; i < good; ++i) builder.sample(i % 300, 1, i);
    builder.raw(std::string(3'000'000, '\0'));
    expect_same(builder);
  }
}

TEST_F(BulkCounting, LeavesEventsWithAnotherAddressOffsetToTheDecoder) {
  const auto type = kPlain | PERF_SAMPLE_IDENTIFIER;
  expect_same(random_samples({{.sample_type = type, .ids = {1}},
                              {.sample_type = type & ~std::uint64_t{PERF_SAMPLE_TIME}, .ids = {2}}},
                             false, 2000));
}

TEST_F(BulkCounting, DoesNotCountZerosAsSamples) {
  // Where a record should begin, before all others and after some.
  const std::string zeros(64, '\0');
  for (const bool behind_a_sample : {false, true}) {
    auto builder = RecordingBuilder().event({.sample_type = kPlain});
    map_all(builder, {.sample_type = kPlain});
    if (behind_a_sample) builder.sample(0x1, 1, 1).record(PERF_RECORD_FINISHED_ROUND, 0, "");
    builder.record(0, 0, zeros, 0).sample(0x2, 1, 2);
    expect_same(builder);
  }
}

TEST_F(BulkCounting, EqualsDecodingOfBigEndianRecordings) {
  auto builder = RecordingBuilder(true).event({.sample_type = kPlain});
  map_all(builder, {.sample_type = kPlain});
  for (std::uint64_t i = 0; i < 1000; ++i) builder.sample(i % 300, 1, i);
  expect_same(builder);
}

TEST_F(BulkCounting, FindsTheSamplesAtTheFront) {
  auto builder = RecordingBuilder()
                     .event({.sample_type = kPlain})
                     .sample(0x1, 1, 1)
                     .mmap(1, 0, 1, 0, "/bin/x", 1);
  const auto recording = open(builder);
  BulkLayout layout;
  layout.use(recording.decoder());
  const auto bytes = std::as_bytes(std::span(builder.records()));
  EXPECT_EQ(layout.samples_at_front(bytes), 32u) << "up to the mapping";
  EXPECT_EQ(layout.samples_at_front(bytes.subspan(32)), 0u);
  EXPECT_EQ(layout.samples_at_front(bytes.first(31)), 0u) << "cut off";
  EXPECT_EQ(layout.samples_at_front({}), 0u);
}

/// Each file is closed, cut or changed between the two readings.
TEST_F(BulkCounting, ReportsWhatChangedBetweenTheReadings) {
  auto builder = RecordingBuilder().event({.sample_type = kPlain});
  for (std::uint64_t i = 0; i < 100; ++i) builder.sample(i, 1, i);
  auto recording = open(builder);
  Recording::StoredRecords all{0, builder.data_offset(),
                               builder.data_offset() + builder.records().size(), 0};
  std::vector<std::byte> memory(all.size());
  EXPECT_EQ(recording.read(all, memory.data()), all.size());
  BulkLayout layout;
  layout.use(recording.decoder());
  symbols::AddressSpaces spaces;
  spaces.seal();
  PlaceCounter counter(layout, recording.decoder(), spaces, false);
  EXPECT_EQ(counter.count(memory, 0), memory.size());
  std::fill(memory.begin() + 50 * 32, memory.end(), std::byte{0});
  EXPECT_EQ(counter.count(memory, 0), 50u * 32) << "a record of 0 bytes";
  EXPECT_EQ(counter.totals().at(0).samples, 150u);
  recording.add_changed(all, all.begin + 50 * 32);
  ASSERT_EQ(recording.faults().size(), 1u);
  EXPECT_EQ(recording.faults()[0].remedy, "it changed while it was read");
  EXPECT_TRUE(recording.read_in_part());
}

/// However many pieces follow the cut.
TEST_F(BulkCounting, ReportsACutBetweenTheReadingsOncePerFile) {
  auto builder = RecordingBuilder().event({.sample_type = kPlain});
  for (std::uint64_t i = 0; i < 100; ++i) builder.sample(i, 1, i);
  const test::TemporaryDirectory directory;
  const auto of_directory = directory.path();
  builder.write(of_directory / "data");
  for (const char* name : {"data.0", "data.1"}) {
    std::ofstream(of_directory / name, std::ios::binary) << builder.records();
  }
  auto recording = Recording::open(of_directory);
  for (const auto& [segment, name] : {std::pair{1u, "data.0"}, {2u, "data.1"}}) {
    std::filesystem::resize_file(of_directory / name, 10 * 32 + 7);
    for (std::uint64_t piece = 0; piece < 2; ++piece) {
      const Recording::StoredRecords half{segment, piece * 50 * 32, (piece + 1) * 50 * 32, 0};
      std::vector<std::byte> memory(half.size());
      EXPECT_EQ(recording.read(half, memory.data()), piece == 0 ? 10u * 32 + 7 : 0u);
      recording.add_changed(half, half.begin + (piece == 0 ? 10 * 32 : 0));
    }
  }
  ASSERT_EQ(recording.faults().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const InputFault& fault = recording.faults()[i];
    EXPECT_EQ(fault.file, (of_directory / (i == 0 ? "data.0" : "data.1")).string());
    EXPECT_EQ(fault.offset, 10u * 32);
    EXPECT_EQ(fault.remedy, "it became shorter while it was read");
  }
}

}  // namespace
}  // namespace skid::locate
