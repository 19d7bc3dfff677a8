// Samples counted by place equal those counted in a plain map, however many there are.
#include "src/perfdata/sample_counts.h"

#include "src/perfdata/id_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace skid::perfdata {
namespace {

using Place = std::tuple<std::uint64_t, std::int32_t, std::uint32_t, std::uint32_t>;

Place place_of(const SampleKey& key) {
  return {key.ip, key.address_space, key.attribute, key.kind.bits()};
}

std::map<Place, std::uint64_t> counts_of(const SampleCounts& counts) {
  std::map<Place, std::uint64_t> result;
  counts.for_each([&](std::size_t, const SampleCount& count) {
    EXPECT_TRUE(result.emplace(place_of(count.of), count.samples).second) << "visited twice";
  });
  return result;
}

TEST(SampleCounts, EqualThoseOfAStdMap) {
  std::mt19937_64 random(7);
  SampleCounts counts;
  std::map<Place, std::uint64_t> expected;
  std::vector<SampleKey> batch;
  for (int i = 0; i < 200'000; ++i) {
    SampleKey key;
    key.ip = random() % 4000 * 3 + (random() % 2 ? 0xffff'ffff'8000'0000 : 0);
    key.address_space = static_cast<std::int32_t>(random() % 40) - 1;
    key.attribute = static_cast<std::uint32_t>(random() % 20);
    key.kind = SampleKind(random() % 2 ? CpuMode::user : CpuMode::kernel, random() % 3 == 0);
    ++expected[place_of(key)];
    batch.push_back(key);
    if (random() % 50 == 0) {
      counts.add(batch, 0);
      batch.clear();
    }
  }
  counts.add(batch, 0);
  counts.note(0, 1, 2, 3);
  counts.seal();
  EXPECT_EQ(counts_of(counts), expected);
}

TEST(SampleCounts, ExceedTheRowsCounter) {
  SampleCounts counts;
  const SampleKey often{0x1000, 7, 3, SampleKind(CpuMode::user, false)};
  const std::vector<SampleKey> batch(1000, often);
  for (int i = 0; i < 200; ++i) counts.add(batch, 0);
  counts.add_between(0, 0, often, 5'000'000'000);
  counts.add_between(0, 0, SampleKey{0x1000, 7, 4, often.kind}, 65'536);
  counts.note(0, 1, 2, 3);
  counts.seal();
  const auto result = counts_of(counts);
  EXPECT_EQ(result.at(place_of(often)), 5'000'200'000u);
  EXPECT_EQ(result.at({0x1000, 7, 4, often.kind.bits()}), 65'536u);
}

/// Rows of several blocks, some of whose counts go beyond the row's counter; `is_out` by row.
template <typename IsOut>
void expect_extracted(IsOut is_out) {
  constexpr std::uint64_t kRows = 40'000;
  SampleCounts counts;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const SampleKey key{row * 16, 1, static_cast<std::uint32_t>(row % 8), {}};
    counts.add_between(0, 0, key, row % 97 == 0 ? 200'000 + row : 1 + row % 3);
  }
  counts.note(0, 1, 2, 3);
  counts.seal();
  std::map<Place, std::uint64_t> in, out, extracted;
  counts.for_each([&](std::size_t row, const SampleCount& count) {
    (is_out(row) ? out : in).emplace(place_of(count.of), count.samples);
  });
  counts.extract(is_out, [&](const SampleCount& count) {
    EXPECT_TRUE(extracted.emplace(place_of(count.of), count.samples).second);
  });
  EXPECT_EQ(extracted, out);
  EXPECT_EQ(counts.rows(), in.size());
  EXPECT_EQ(counts_of(counts), in);
}

TEST(SampleCounts, CanBeRemoved) {
  expect_extracted([](std::size_t row) { return row % 5 == 3; });
  expect_extracted([](std::size_t row) { return row < 30'000; });
  expect_extracted([](std::size_t row) { return row >= 8192; });
  expect_extracted([](std::size_t) { return true; });
  expect_extracted([](std::size_t) { return false; });
}

TEST(SampleCounts, RecordTheTimeRangeOfAPlace) {
  SliceNumbers slices;
  std::array<SampleCounts, 2> halves;  // counted apart and merged, as two threads do
  const SampleKind kind(CpuMode::user, false);
  std::mt19937 random(3);
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> truth;
  // Each address is seen for a while; times are nearly sorted.
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t ip = i / 1000 + random() % 3;
    const std::uint64_t time = 1000 + i * 10 + random() % 200;
    const SampleKey key{ip, 1, 0, kind};
    auto& counts = halves[i / 500 % 2];
    counts.add(std::span(&key, 1), slices.current());
    counts.note(slices.current(), time, time, i);
    slices.add(1);
    auto [entry, is_new] = truth.try_emplace(ip, time, time);
    entry->second.first = std::min(entry->second.first, time);
    entry->second.second = std::max(entry->second.second, time);
  }
  auto& counts = halves[0];
  counts.merge(halves[1]);
  counts.seal();
  EXPECT_EQ(counts_of(counts).size(), truth.size());
  counts.for_each([&](std::size_t, const SampleCount& count) {
    const auto& [first, last] = truth.at(count.of.ip);
    EXPECT_LE(count.first, first);
    EXPECT_GE(count.last, last);
    // Not much wider than the truth: a slice holds at most 32 samples here.
    EXPECT_LE(first - count.first, 600u);
    EXPECT_LE(count.last - last, 600u);
  });
}

TEST(SampleCounts, MergedEqualThoseCountedTogether) {
  std::mt19937_64 random(8);
  std::array<SampleCounts, 3> parts;
  std::map<Place, std::uint64_t> expected;
  for (int i = 0; i < 100'000; ++i) {
    const SampleKey key{random() % 3000, static_cast<std::int32_t>(random() % 5),
                        static_cast<std::uint32_t>(random() % 20),
                        SampleKind(CpuMode::user, random() % 2 == 0)};
    const std::uint64_t samples = random() % 100 == 0 ? 70'000 : 1;
    parts[random() % parts.size()].add_between(0, 0, key, samples);
    expected[place_of(key)] += samples;
  }
  for (auto& part : parts) part.note(0, 1, 2, 3);
  parts[0].merge(parts[1]);
  parts[0].merge(parts[2]);
  EXPECT_EQ(parts[1].rows(), 0u);
  parts[0].merge(parts[1]);
  parts[0].seal();
  EXPECT_EQ(counts_of(parts[0]), expected);
}

TEST(TimeSlices, AreNeverMoreThanTheirNumbersReach) {
  SliceNumbers numbers;
  TimeSlices slices;
  std::uint64_t samples = 0;
  // 4 · 10^18 samples: more than a recording of this universe.
  for (std::uint64_t time = 0; samples < 4'000'000'000'000'000'000u; ++time) {
    const std::uint64_t some = std::max<std::uint64_t>(numbers.room(), samples >> 13);
    slices.note(numbers.current(), time, time, time);
    numbers.add(some);
    samples += some;
  }
  const auto newest = numbers.current();
  slices.note(newest, 0, 0, 0);
  slices.seal();
  EXPECT_GT(newest, 40'000u);
  EXPECT_EQ(slices.first(0), 0u);
  EXPECT_GE(slices.last(newest), slices.last(0));
}

TEST(IdTable, FindsEachIdAndNoOther) {
  IdTable table;
  EXPECT_TRUE(table.empty());
  EXPECT_FALSE(table.find(0));
  std::map<std::uint64_t, std::uint32_t> expected;
  std::mt19937_64 random(5);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const std::uint64_t id = i % 2 == 0 ? i : random();
    table.add(id, i % 7);
    expected.emplace(id, i % 7);
  }
  for (const auto& [id, attribute] : expected) EXPECT_EQ(table.find(id), attribute);
  EXPECT_FALSE(table.find(4999));
  table.add(0, 99);
  EXPECT_EQ(table.find(0), 0u) << "an id that two events claim stays with the first";
}

}  // namespace
}  // namespace skid::perfdata
