#include "analysis/measurement.h"

#include "analysis/wording.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

Tally tally(const std::vector<LocatedCount>& counts, const TargetMap* map) {
  Tally result;
  for (const LocatedCount& count : counts) result.add(count, map);
  return result;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kTrigger = 0x1100;
constexpr std::uint64_t kRunway = 0x1104;

CodeRegion nops(std::uint64_t begin, std::size_t count) {
  CodeRegion code;
  code.range = {begin, begin + count};
  for (std::size_t i = 0; i < count; ++i) code.starts.push_back(begin + i);
  return code;
}

/// 256 NOPs of lead-in, a trigger of four bytes, 1,000 NOPs of runway, and a loop around them.
TargetMap target() {
  CodeRegion trigger;
  trigger.range = {kTrigger, kRunway};
  trigger.starts = {kTrigger};
  return TargetMap::of_target(nops(0x1000, 0x100), {{trigger, nops(kRunway, 1000)}},
                              {0x1000, 0x1600}, {{0x15f0, 0x15f2}});
}

LocatedCount at(std::uint64_t address, std::uint64_t samples, bool exact = false) {
  return {Place::target, address, samples, exact};
}

Measurement completed(const std::vector<LocatedCount>& counts, int level = 2,
                      Measurement measurement = {}) {
  const TargetMap map = target();
  measurement.precise.recorded = level;
  measurement.event.label = "access";
  complete(measurement, tally(counts, &map), &map, NotJudged::none, false, std::nullopt, 1);
  return measurement;
}

TEST(Tally, PutsEverySampleInOneClass) {
  std::mt19937 random(5);
  const TargetMap map = target();
  for (int round = 0; round < 50; ++round) {
    std::vector<LocatedCount> counts;
    std::uint64_t samples = 0;
    for (int i = 0; i < 100; ++i) {
      const auto place = static_cast<Place>(random() % 5);
      counts.push_back({place, 0x0f00 + random() % 0x800, random() % 50, random() % 2 == 0});
      samples += counts.back().samples;
    }
    const Tally result = tally(counts, &map);
    EXPECT_EQ(result.ledger.read(), samples);
    EXPECT_EQ(result.instructions.total(), result.ledger.located());
    EXPECT_EQ(result.bytes.total(), result.ledger.located());
    EXPECT_LE(result.exact_hits + result.exact_off_trigger, result.exact_samples);
  }
}

TEST(Tally, PlacesOutsideTheTargetKeepTheirClassWhateverTheAddress) {
  const TargetMap map = target();
  const Tally result = tally({{Place::kernel, kTrigger, 1, false},
                              {Place::guest, kTrigger, 2, false},
                              {Place::unmapped, kTrigger, 3, false},
                              {Place::other_user, kTrigger, 4, false}},
                             &map);
  EXPECT_EQ(result.ledger[SampleClass::kernel], 1u);
  EXPECT_EQ(result.ledger[SampleClass::guest], 2u);
  EXPECT_EQ(result.ledger[SampleClass::unmapped], 3u);
  EXPECT_EQ(result.ledger[SampleClass::other_user], 4u);
}

TEST(Tally, WithoutAMapTheTargetIsOtherUserCode) {
  const Tally result = tally({at(kTrigger, 9, true)}, nullptr);
  EXPECT_EQ(result.ledger[SampleClass::other_user], 9u);
  EXPECT_EQ(result.exact_samples, 9u);
  EXPECT_EQ(result.exact_off_trigger, 0u);
}

TEST(Tally, CountsExactSamplesOnAndOffTheTrigger) {
  const TargetMap map = target();
  const Tally result = tally({at(kTrigger, 5, true),
                              at(kTrigger, 7),
                              at(kRunway + 9, 3, true),
                              {Place::kernel, 0, 2, true},
                              at(0x15f0, 4, true)},
                             &map);
  EXPECT_EQ(result.exact_samples, 14u);
  EXPECT_EQ(result.exact_hits, 5u);
  EXPECT_EQ(result.exact_off_trigger, 3u);
}

TEST(Tally, MergesLikeOneTallyOfBoth) {
  const TargetMap map = target();
  const std::vector<LocatedCount> first{at(kTrigger, 5, true), at(kRunway + 3, 2)};
  const std::vector<LocatedCount> second{at(kTrigger + 1, 4), at(kRunway + 3, 1, true)};
  std::vector<LocatedCount> both = first;
  both.insert(both.end(), second.begin(), second.end());
  Tally merged = tally(first, &map);
  merged += tally(second, &map);
  const Tally whole = tally(both, &map);
  EXPECT_EQ(merged.ledger, whole.ledger);
  EXPECT_EQ(merged.instructions.counts(), whole.instructions.counts());
  EXPECT_EQ(merged.bytes.counts(), whole.bytes.counts());
  EXPECT_EQ(merged.exact_samples, whole.exact_samples);
  EXPECT_EQ(merged.exact_hits, whole.exact_hits);
  EXPECT_EQ(merged.exact_off_trigger, whole.exact_off_trigger);
  EXPECT_EQ(merged.inside_instruction, whole.inside_instruction);
}

TEST(Complete, FillsRatioDistancesHistogramAndContract) {
  const Measurement m = completed({at(kTrigger, 4000), at(kRunway, 500), at(kRunway + 9, 500)});
  EXPECT_EQ(m.hit_ratio.count, 4000u);
  EXPECT_EQ(m.hit_ratio.total, 5000u);
  ASSERT_TRUE(m.instructions && m.bytes);
  EXPECT_EQ(m.instructions->p50, 0);
  EXPECT_EQ(m.instructions->p99, 10);
  EXPECT_EQ(m.bytes->p99, 13);
  EXPECT_FALSE(m.tsc_ticks);
  ASSERT_EQ(m.histogram.bins.size(), 3u);
  EXPECT_EQ(m.histogram.bins[2].lo, 10);
  EXPECT_EQ(m.histogram.bins[2].count, 500u);
  EXPECT_EQ(m.lowest_offset, -256);
  EXPECT_EQ(m.highest_offset, 1000);
  EXPECT_EQ(m.censored_from, 951);
  EXPECT_EQ(m.contract.verdict, Verdict::broken);
  EXPECT_THAT(m.count_warnings, IsEmpty());
}

TEST(Complete, TicksAreInstructionsTimesTicksPerInstruction) {
  const TargetMap map = target();
  Measurement m;
  complete(m, tally({at(kRunway + 7, 10)}, &map), &map, NotJudged::none, false, 0.5, 1);
  ASSERT_TRUE(m.tsc_ticks);
  EXPECT_EQ(m.tsc_ticks->p50, 4.0);
}

TEST(Complete, BytesAreCensoredWhereTheirInstructionsAre) {
  const Measurement m = completed({at(kRunway + 949, 9), at(kRunway + 950, 1)});
  EXPECT_FALSE(m.instructions->p90_at_least);
  EXPECT_FALSE(m.bytes->p90_at_least);
  EXPECT_TRUE(m.instructions->max_at_least);
  EXPECT_TRUE(m.bytes->max_at_least);
}

TEST(Complete, WithoutAMapNothingIsLocatedOrJudged) {
  Measurement m;
  m.precise.recorded = 2;
  complete(m, tally({at(kTrigger, 5000)}, nullptr), nullptr, NotJudged::none, false, 0.5, 1);
  EXPECT_EQ(m.samples.read(), 5000u);
  EXPECT_EQ(m.hit_ratio.total, 0u);
  EXPECT_FALSE(m.instructions || m.bytes || m.tsc_ticks);
  EXPECT_TRUE(m.histogram.bins.empty());
  EXPECT_EQ(m.contract.verdict, Verdict::not_judged);
}

TEST(Complete, OffsetsBeyondTheLongestAxisAreItsOverflow) {
  constexpr std::size_t kInstructions = 2'200'000;
  const TargetMap map = TargetMap::of_functions({0x100, 0x140}, nops(0x1000, kInstructions));
  Measurement m;
  const Tally counts = tally({at(0x100, 3), at(0x1000 + kInstructions - 1, 2)}, &map);
  complete(m, counts, &map, NotJudged::none, false, std::nullopt, 1);
  EXPECT_EQ(m.histogram.overflow, 2u);
  ASSERT_EQ(m.histogram.bins.size(), 1u);
  EXPECT_LT(m.highest_offset, static_cast<std::int64_t>(kInstructions));
  EXPECT_EQ(m.instructions->max, static_cast<double>(kInstructions));
}

TEST(Complete, ExpectsAnEvenShareOfHitsWhereNopsAreRightlySampled) {
  const TargetMap map = target();
  Measurement timer, judged;
  const Tally counts = tally({at(kRunway, 1)}, &map);
  complete(timer, counts, &map, NotJudged::timer, true, std::nullopt, 1);
  complete(judged, counts, &map, NotJudged::none, true, std::nullopt, 1);
  ASSERT_TRUE(timer.expected_hit_share);
  EXPECT_DOUBLE_EQ(*timer.expected_hit_share, 1.0 / 1257);
  EXPECT_FALSE(judged.expected_hit_share);
}

TEST(Complete, ComputesAllAnewFromAChangedBasis) {
  const TargetMap map = target();
  const std::vector<LocatedCount> first{at(kTrigger, 5), at(kRunway + 999, 7)};
  const std::vector<LocatedCount> second{at(kTrigger, 4000, true), at(kRunway + 3, 2)};
  Measurement sum = completed(first);
  EXPECT_FALSE(sum.count_warnings.empty());
  sum.basis.tally += tally(second, &map);
  sum.basis.period_sum = 8028;
  sum.basis.iterations = 8028;
  complete(sum);
  std::vector<LocatedCount> both = first;
  both.insert(both.end(), second.begin(), second.end());
  const Measurement whole = completed(both);
  EXPECT_EQ(sum.samples, whole.samples);
  EXPECT_EQ(sum.hit_ratio.low, whole.hit_ratio.low);
  EXPECT_EQ(sum.instructions->p99, whole.instructions->p99);
  EXPECT_EQ(sum.histogram.bins.size(), 3u);
  EXPECT_EQ(sum.contract.evidence, whole.contract.evidence);
  EXPECT_EQ(sum.count_warnings, whole.count_warnings);
  EXPECT_EQ(sum.period.effective, 2.0);
  EXPECT_EQ(sum.events_per_iteration.measured, 1.0);
}

TEST(Complete, WarnsOfCensoredSamplesAboveOneInAThousand) {
  EXPECT_THAT(completed({at(kTrigger, 4995), at(kRunway + 999, 5)}).count_warnings, IsEmpty());
  EXPECT_THAT(completed({at(kTrigger, 4994), at(kRunway + 999, 6)}).count_warnings,
              ElementsAre(HasSubstr("--nops")));
}

TEST(Complete, WarnsOfLossesAboveOneInAHundredWithoutSummingBothKinds) {
  Measurement lossy;
  lossy.lost_records = 50;
  lossy.lost_samples = 50;
  EXPECT_THAT(completed({at(kTrigger, 5000)}, 2, lossy).count_warnings, IsEmpty());
  lossy.lost_samples = 51;
  EXPECT_THAT(completed({at(kTrigger, 5000)}, 2, lossy).count_warnings,
              ElementsAre(HasSubstr("51 samples were lost")));
}

TEST(Complete, WarnsOfThrottlingAboveOneInAHundred) {
  Measurement throttled;
  throttled.throttled = 50;
  EXPECT_THAT(completed({at(kTrigger, 5000)}, 2, throttled).count_warnings, IsEmpty());
  throttled.throttled = 51;
  EXPECT_THAT(completed({at(kTrigger, 5000)}, 2, throttled).count_warnings,
              ElementsAre(HasSubstr("throttled the event 51 times")));
}

TEST(Complete, WarnsOfAddressesInsideInstructions) {
  EXPECT_THAT(completed({at(kTrigger + 2, 1)}).count_warnings,
              ElementsAre(HasSubstr("1 sample is inside an instruction")));
}

TEST(Complete, WarnsOfExactSamplesOffTheTrigger) {
  EXPECT_THAT(completed({at(kTrigger, 4999, true), at(kRunway, 1, true)}).count_warnings,
              ElementsAre(HasSubstr("1 sample has EXACT_IP set and an address off the trigger")));
}

TEST(Complete, WarnsOfEventsMoreThanFivePercentOffWithBothNumbers) {
  Measurement events;
  events.events_per_iteration = {1.049, 1.0};
  EXPECT_THAT(completed({at(kTrigger, 1)}, 2, events).count_warnings, IsEmpty());
  events.events_per_iteration = {1.2, 1.0};
  EXPECT_THAT(completed({at(kTrigger, 1)}, 2, events).count_warnings,
              ElementsAre(::testing::AllOf(HasSubstr("1.2 events"), HasSubstr("gives 1:"))));
  events.events_per_iteration = {0.9, 1.0};
  EXPECT_THAT(completed({at(kTrigger, 1)}, 2, events).count_warnings,
              ElementsAre(HasSubstr("did not cause the event each time")));
  events.events_per_iteration = {0.9, std::nullopt};
  EXPECT_THAT(completed({at(kTrigger, 1)}, 2, events).count_warnings, IsEmpty());
}

/// Triggers at 0x1010, with 100 NOPs behind it, and at 0x1078, with 200.
TargetMap map_of_two_triggers() {
  const auto one = [](std::uint64_t begin) {
    CodeRegion trigger;
    trigger.range = {begin, begin + 4};
    trigger.starts = {begin};
    return trigger;
  };
  return TargetMap::of_target(nops(0x1000, 0x10),
                              {{one(0x1010), nops(0x1014, 100)}, {one(0x1078), nops(0x107c, 200)}},
                              {0x1000, 0x1200}, {});
}

TEST(Complete, SharesTheSamplesAmongSeveralTriggers) {
  const TargetMap map = map_of_two_triggers();
  const std::vector<LocatedCount> first{at(0x1010, 30), at(0x1014, 10), at(0x1008, 3)};
  const std::vector<LocatedCount> second{at(0x1079, 20)};
  Tally all = tally(first, &map);
  all += tally(second, &map);
  Measurement measurement;
  complete(measurement, all, &map, NotJudged::none, false, std::nullopt, 1);
  ASSERT_EQ(measurement.triggers.size(), 2u);
  EXPECT_EQ(measurement.triggers[0], (TriggerCount{30, 40}));
  EXPECT_EQ(measurement.triggers[1], (TriggerCount{20, 20}));
  EXPECT_EQ(measurement.trigger_addresses, (std::vector<std::uint64_t>{0x1010, 0x1078}));
  ASSERT_TRUE(measurement.bias);
  EXPECT_DOUBLE_EQ(*measurement.bias->largest_ratio, 2);
  EXPECT_NEAR(measurement.bias->chi_square, 20.0 / 3, 1e-12);

  Measurement of_timer;
  complete(of_timer, all, &map, NotJudged::timer, false, std::nullopt, 1);
  EXPECT_EQ(of_timer.triggers.size(), 2u);
  EXPECT_FALSE(of_timer.bias) << "a timer samples by time, not by trigger";
  EXPECT_TRUE(completed({at(kTrigger, 100)}).triggers.empty()) << "one trigger needs no shares";
}

TEST(Complete, TellsOfEachBinHowManySamplesAreCensored) {
  const TargetMap map = map_of_two_triggers();
  // Offset 99 of the first is censored, the same of the second is not.
  Tally all = tally({at(0x1014 + 98, 2)}, &map);
  all += tally({at(0x107c + 98, 30), at(0x107c + 195, 4)}, &map);
  for (const std::int64_t width : {1, 50}) {
    Measurement measurement;
    complete(measurement, all, &map, NotJudged::none, false, std::nullopt, width);
    ASSERT_EQ(measurement.histogram.bins.size(), 2u);
    EXPECT_EQ(measurement.histogram.bins[0].count, 32u);
    EXPECT_EQ(measurement.histogram.bins[0].censored, 2u);
    EXPECT_EQ(measurement.histogram.bins[1].censored, 4u);
  }
}

TEST(Percent, ShowsEnoughDigitsNotToLookLikeALandmark) {
  EXPECT_EQ(percent(0.0), "0%");
  EXPECT_EQ(percent(1.0), "100%");
  EXPECT_EQ(percent(0.12345), "12.35%");
  EXPECT_EQ(percent(0.99998), "99.998%");
  EXPECT_EQ(percent(0.00001), "0.001%");
  EXPECT_EQ(percent(0.9989998), "99.89998%");
  EXPECT_EQ(percent(kPromisedShare), "99.90%");
}

}  // namespace
}  // namespace skid::analysis
