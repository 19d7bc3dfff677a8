#include "analysis/measurement.h"

#include "analysis/basis.h"
#include "analysis/figures.h"
#include "analysis/not_judged.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "analysis/target_map.h"
#include "src/locate/place_counter.h"
#include "src/output/report/evidence.h"
#include "src/support/precise_level.h"
#include "tests/unit/example_measurements.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace skid::analysis {
namespace {

using examples::code_of;
using examples::LocatedCount;
using examples::two_triggers;

constexpr std::uint64_t kTrigger = 0x1100;
constexpr std::uint64_t kRunway = 0x1104;

/// 256 NOPs of lead-in, a trigger of four bytes, 1,000 NOPs of runway, and a loop around them.
TargetMap target() {
  return TargetMap::of_target(code_of(0x1000, 0x100),
                              {{code_of(kTrigger, 1, 4), code_of(kRunway, 1000)}}, {0x1000, 0x1600},
                              {{0x15f0, 0x15f2}});
}

using LocatedCounts = std::vector<LocatedCount>;

LocatedCount at(std::uint64_t address, std::uint64_t samples, bool exact = false) {
  return {address, samples, exact};
}

Tally tally(const LocatedCounts& counts, const TargetMap& map = target()) {
  Tally result;
  for (const LocatedCount& count : counts) examples::add(count, &map, result);
  return result;
}

Measurement completed(const LocatedCounts& counts, Measurement measurement = {},
                      const TargetMap& map = target()) {
  measurement.precise.recorded = 2;
  measurement.event.label = "access";
  const NotJudged reason = measurement.basis.not_judged;
  examples::count(counts, &map, measurement.basis);
  if (reason != NotJudged::no_trigger) measurement.basis.not_judged = reason;
  complete(measurement);
  return measurement;
}

Measurement of_timer() {
  Measurement measurement;
  measurement.basis.not_judged = NotJudged::timer;
  return measurement;
}

Measurement with_evidence() {
  Measurement measurement;
  measurement.basis.exact_ip = ExactIp::evidence;
  return measurement;
}

TEST(Breakdown, AddsItsClassesUpToTheSamplesRead) {
  std::mt19937 random(11);
  Breakdown sum;
  std::uint64_t all = 0;
  for (int round = 0; round < 200; ++round) {
    Breakdown breakdown;
    std::uint64_t added = 0;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t samples = random() % 1000;
      breakdown.add(static_cast<SampleClass>(random() % kSampleClasses), samples);
      added += samples;
    }
    EXPECT_EQ(breakdown.read(), added);
    const std::uint64_t outside = breakdown[SampleClass::other_trigger] +
                                  breakdown[SampleClass::other_user] +
                                  breakdown[SampleClass::kernel] + breakdown[SampleClass::guest] +
                                  breakdown[SampleClass::unmapped];
    EXPECT_EQ(breakdown.judged() + outside, added);
    EXPECT_EQ(breakdown.located() + breakdown[SampleClass::loop], breakdown.judged());
    sum += breakdown;
    EXPECT_EQ(sum.read(), all += added);
  }
}

TEST(Breakdown, HasANameForEachClass) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    names.emplace(name_of(static_cast<SampleClass>(i)));
  }
  EXPECT_EQ(names.size(), kSampleClasses);
  EXPECT_EQ(name_of(SampleClass::other_trigger), "other_trigger");
  EXPECT_EQ(describe(SampleClass::other_trigger), "other trigger");
  EXPECT_EQ(describe(SampleClass::unmapped), "unmapped");
}

TEST(Tally, PutsEverySampleInOneClass) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    LocatedCounts counts;
    std::uint64_t samples = 0;
    for (int i = 0; i < 100; ++i) {
      // In the target, or of another class: other_user, kernel, guest, unmapped.
      const auto place = random() % 5;
      LocatedCount count = at(0x0f00 + random() % 0x800, random() % 50, random() % 2 == 0);
      if (place > 0) {
        const auto first = static_cast<std::size_t>(SampleClass::other_user);
        count.address.reset();
        count.elsewhere = static_cast<SampleClass>(first + place - 1);
      }
      counts.push_back(count);
      samples += counts.back().samples;
    }
    const Tally result = tally(counts);
    EXPECT_EQ(result.breakdown.read(), samples);
    EXPECT_EQ(result.instructions.total(), result.breakdown.located());
    EXPECT_EQ(result.bytes.total(), result.breakdown.located());
    EXPECT_LE(result.exact_hits + result.exact_off_trigger, result.exact_samples);
  }
}

TEST(Tally, KeepsTheClassOfSamplesOutsideTheTarget) {
  const Tally result = tally({{{}, 1, false, SampleClass::kernel},
                              {{}, 2, false, SampleClass::guest},
                              {{}, 3, false, SampleClass::unmapped},
                              {{}, 4, false, SampleClass::other_user}});
  EXPECT_EQ(result.breakdown[SampleClass::kernel], 1u);
  EXPECT_EQ(result.breakdown[SampleClass::guest], 2u);
  EXPECT_EQ(result.breakdown[SampleClass::unmapped], 3u);
  EXPECT_EQ(result.breakdown[SampleClass::other_user], 4u);
}

TEST(Tally, CountsExactSamplesOnAndOffTheTrigger) {
  const Tally result = tally({at(kTrigger, 5, true),
                              at(kTrigger, 7),
                              at(kRunway + 9, 3, true),
                              {{}, 2, true, SampleClass::kernel},
                              at(0x15f0, 4, true)});
  EXPECT_EQ(result.exact_samples, 14u);
  EXPECT_EQ(result.exact_hits, 5u);
  EXPECT_EQ(result.exact_off_trigger, 3u);
}

TEST(Figures, OfLocatedSamplesAreRatioDistancesHistogramAndContract) {
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
  EXPECT_THAT(output::count_warnings(m), IsEmpty());
}

TEST(Figures, InTicksAreInstructionsTimesTicksPerInstruction) {
  Measurement m;
  m.basis.ticks_per_instruction = 0.5;
  m = completed({at(kRunway + 7, 10)}, m);
  ASSERT_TRUE(m.tsc_ticks);
  EXPECT_EQ(m.tsc_ticks->p50, 4.0);
}

TEST(Figures, InBytesAreCensoredWhereTheirInstructionsAre) {
  const Measurement m = completed({at(kRunway + 949, 9), at(kRunway + 950, 1)});
  EXPECT_FALSE(m.instructions->p90_at_least);
  EXPECT_FALSE(m.bytes->p90_at_least);
  EXPECT_TRUE(m.instructions->max_at_least);
  EXPECT_TRUE(m.bytes->max_at_least);
}

TEST(Figures, WithoutAGeometryLocateAndJudgeNothing) {
  Measurement m;
  m.precise.recorded = 2;
  m.basis.ticks_per_instruction = 0.5;
  examples::count({at(kTrigger, 5000, true)}, nullptr, m.basis);
  complete(m);
  EXPECT_EQ(m.samples[SampleClass::other_user], 5000u);
  EXPECT_EQ(m.precise.exact_ip_samples, 5000u);
  EXPECT_EQ(m.basis.tally.exact_off_trigger, 0u);
  EXPECT_EQ(m.hit_ratio.total, 0u);
  EXPECT_FALSE(m.instructions || m.bytes || m.tsc_ticks);
  EXPECT_TRUE(m.histogram.bins.empty());
  EXPECT_EQ(m.contract.verdict, Verdict::not_judged);
}

TEST(Figures, CountOffsetsBeyondTheLongestAxisAsOverflow) {
  constexpr std::size_t kInstructions = 2'200'000;
  const TargetMap map = TargetMap::of_functions({0x100, 0x140}, code_of(0x1000, kInstructions));
  const Measurement m = completed({at(0x100, 3), at(0x1000 + kInstructions - 1, 2)}, {}, map);
  EXPECT_EQ(m.histogram.overflow, 2u);
  ASSERT_EQ(m.histogram.bins.size(), 1u);
  EXPECT_LT(m.highest_offset, static_cast<std::int64_t>(kInstructions));
  EXPECT_EQ(m.instructions->max, static_cast<double>(kInstructions));
}

TEST(Figures, ExpectAnEvenShareOfHitsWhereAnyInstructionCanBeSampled) {
  EXPECT_DOUBLE_EQ(completed({at(kRunway, 1)}, of_timer()).expected_hit_share.value(), 1.0 / 1257);
  EXPECT_FALSE(completed({at(kRunway, 1)}).expected_hit_share);
}

TEST(Figures, OfASumAreThoseOfAllItsSamples) {
  const LocatedCounts first{at(kTrigger, 5), at(kRunway + 999, 7)};
  const LocatedCounts second{at(kTrigger, 4000, true), at(kRunway + 3, 2)};
  Measurement sum = completed(first);
  EXPECT_FALSE(output::count_warnings(sum).empty());
  sum.basis.tally += tally(second);
  sum.basis.period_sum = 8028;
  sum.basis.iterations = 8028;
  complete(sum);
  LocatedCounts both = first;
  both.insert(both.end(), second.begin(), second.end());
  const Measurement whole = completed(both);
  EXPECT_EQ(sum.samples, whole.samples);
  EXPECT_EQ(sum.hit_ratio.low, whole.hit_ratio.low);
  EXPECT_EQ(sum.instructions->p99, whole.instructions->p99);
  EXPECT_EQ(sum.histogram.bins.size(), 3u);
  EXPECT_EQ(output::contract_evidence(sum), output::contract_evidence(whole));
  EXPECT_EQ(output::count_warnings(sum), output::count_warnings(whole));
  EXPECT_EQ(sum.period.effective, 2.0);
  EXPECT_EQ(sum.events_per_iteration.measured, 1.0);
}

TEST(Figures, WarnOfCountsAboveTheirThresholds) {
  const auto with = [](auto&& change) {
    Measurement measurement;
    change(measurement);
    return measurement;
  };
  const auto losing = [&](std::uint64_t records, std::uint64_t samples) {
    return with([=](Measurement& m) { m.lost_records = records, m.lost_samples = samples; });
  };
  const auto throttled = [&](std::uint64_t times) {
    return with([=](Measurement& m) { m.throttled = times; });
  };
  const auto throttled_for = [&](double share) {
    return with([=](Measurement& m) { m.throttled = 1, m.throttled_share = share; });
  };
  const auto counting = [&](double measured, std::optional<double> expected) {
    return with([=](Measurement& m) { m.events_per_iteration = {measured, expected}; });
  };
  struct Case {
    LocatedCounts counts;
    Measurement measurement;
    std::vector<const char*> warning;  ///< parts of the only one; empty: there is none
  };
  const LocatedCounts hits{at(kTrigger, 5000)};
  Measurement unjudged = with_evidence();
  unjudged.basis.not_judged = NotJudged::no_core_event;
  for (const Case& c : std::vector<Case>{
           {{at(kTrigger, 4995), at(kRunway + 999, 5)}, {}, {}},
           {{at(kTrigger, 4994), at(kRunway + 999, 6)}, {}, {"6 of 5000", "--nops"}},
           {{at(kRunway + 999, 6)}, of_timer(), {}},
           {hits, losing(50, 50), {}},  // the same loss, reported twice
           {hits, losing(50, 51), {"51 samples were lost"}},
           {hits, losing(UINT64_MAX, 0), {"lost in addition to the 5000 read (100.0000000%)"}},
           {hits, throttled(50), {}},
           {hits, throttled(51), {"throttled events of this recording 51 times for 5000 samples:"}},
           {hits, throttled_for(0.01), {}},
           {hits,
            throttled_for(0.27),
            {"once; one counter was stopped for 27.00% of the recorded time:"}},
           {{at(kTrigger + 2, 1)}, {}, {"1 sample is inside an instruction"}},
           {{at(kTrigger, 4999, true), at(kRunway, 1, true)},
            with_evidence(),
            {"1 sample has EXACT_IP set, which is evidence on this CPU, and an address off the "
             "trigger"}},
           // Nothing says that the triggers alone cause an event that is not judged.
           {{at(kTrigger, 4999, true), at(kRunway, 1, true)}, unjudged, {}},
           {hits, counting(1.049, 1.0), {}},
           {hits, counting(1.2, 1.0), {"1.2 events", "gives 1:"}},
           {hits, counting(0.9, 1.0), {"did not cause the event each time"}},
           {hits, counting(0.9, std::nullopt), {}}}) {
    const auto warnings = output::count_warnings(completed(c.counts, c.measurement));
    ASSERT_EQ(warnings.size(), c.warning.empty() ? 0u : 1u) << ::testing::PrintToString(warnings);
    for (const char* part : c.warning) EXPECT_THAT(warnings.front(), HasSubstr(part));
  }
}

TEST(Figures, ShareTheSamplesAmongSeveralTriggers) {
  const TargetMap map = two_triggers();
  const LocatedCounts counts{at(0x1010, 30), at(0x1014, 10), at(0x1008, 3), at(0x1078, 20)};
  const Measurement m = completed(counts, {}, map);
  EXPECT_THAT(m.triggers, ElementsAre(TriggerCount{30, 40}, TriggerCount{20, 20}));
  EXPECT_THAT(m.trigger_addresses, ElementsAre(0x1010u, 0x1078u));
  ASSERT_TRUE(m.bias);
  EXPECT_DOUBLE_EQ(*m.bias->largest_ratio, 2);
  EXPECT_NEAR(m.bias->chi_square, 20.0 / 3, 1e-12);

  const Measurement timer = completed(counts, of_timer(), map);
  EXPECT_EQ(timer.triggers.size(), 2u);
  EXPECT_FALSE(timer.bias) << "a timer samples by time, not by trigger";
  EXPECT_TRUE(completed({at(kTrigger, 100)}).triggers.empty()) << "one trigger needs no shares";
}

TEST(Figures, CountTheCensoredSamplesOfEachBin) {
  // Offset 99 of the first is censored, the same of the second is not.
  for (const std::int64_t width : {1, 50}) {
    Measurement m;
    m.bin_width = width;
    m = completed({at(0x1014 + 98, 2), at(0x107c + 98, 30), at(0x107c + 195, 4)}, m,
                  two_triggers());
    ASSERT_EQ(m.histogram.bins.size(), 2u);
    EXPECT_EQ(m.histogram.bins[0].count, 32u);
    EXPECT_EQ(m.histogram.bins[0][SampleClass::censored], 2u);
    EXPECT_EQ(m.histogram.bins[1][SampleClass::censored], 4u);
  }
}

}  // namespace
}  // namespace skid::analysis
