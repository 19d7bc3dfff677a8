#include "analysis/evenness.h"

#include "analysis/measurement.h"
#include "tests/unit/example_measurements.h"

#include <cstdint>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;
using EvennessVerdict = Evenness::Verdict;

constexpr std::int64_t kLowest = -200, kHighest = 5000;

/// `samples` on every `group`-th instruction, at random.
OffsetCounts drawn(int samples, std::int64_t group, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> place(0, (kHighest - kLowest) / group);
  OffsetCounts offsets;
  for (int i = 0; i < samples; ++i) offsets.add(kLowest + group * place(random), 1);
  return offsets;
}

double p_of(const OffsetCounts& offsets) {
  return test_of_instructions(offsets, kLowest, kHighest).value().test.p;
}

TEST(InstructionTest, AcceptsSamplesOfEveryInstruction) {
  int rejected = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    rejected += p_of(drawn(5000, 1, seed)) < 0.05 ? 1 : 0;
    rejected += p_of(drawn(40000, 1, seed)) < 0.05 ? 1 : 0;
  }
  EXPECT_LE(rejected, 6) << "of 40, 2 by chance";
}

TEST(InstructionTest, RejectsRetirementGroupsWhateverTheirSize) {
  for (const std::int64_t group : {2, 3, 4, 5, 6, 8}) {
    EXPECT_LT(p_of(drawn(5000, group, 1)), kUneven) << group;
    EXPECT_LT(p_of(drawn(40000, group, 1)), kUneven) << group;
  }
}

TEST(InstructionTest, RejectsGroupsOfSamplesThatAreMoreEvenThanRandomOnes) {
  OffsetCounts every, fourth;
  for (std::int64_t offset = kLowest; offset <= kHighest; ++offset) every.add(offset, 2);
  for (std::int64_t offset = kLowest; offset <= kHighest; offset += 4) fourth.add(offset, 8);
  EXPECT_EQ(p_of(every), 1);
  const auto found = test_of_instructions(fourth, kLowest, kHighest).value();
  EXPECT_LT(found.test.p, kUneven);
  EXPECT_EQ(found.step, 4);
  EXPECT_EQ(found.first, kLowest);
  EXPECT_NEAR(found.largest_ratio, 4, 0.01);
}

TEST(InstructionTest, NamesTheInstructionsWithTheMostSamples) {
  OffsetCounts offsets;
  for (std::int64_t offset = kLowest; offset <= kHighest; ++offset) offsets.add(offset, 10);
  offsets.add(17, 490);
  const auto found = test_of_instructions(offsets, kLowest, kHighest).value();
  EXPECT_EQ(found.first, 17);
  EXPECT_EQ(found.last, 17);
  EXPECT_NEAR(found.largest_ratio, 49.5, 0.1);
  EXPECT_EQ(found.test.degrees, kHighest - kLowest);
}

TEST(InstructionTest, JoinsInstructionsOfFewSamplesAndNeedsTwoBins) {
  const auto joined = test_of_instructions(drawn(5000, 1, 1), kLowest, kHighest).value();
  EXPECT_EQ(joined.test.degrees, (kHighest - kLowest + 1) / 6 - 1);
  EXPECT_EQ(joined.last - joined.first, 5);
  EXPECT_FALSE(test_of_instructions(drawn(9, 1, 1), kLowest, kHighest));
  EXPECT_FALSE(test_of_instructions({}, kLowest, kHighest));
}

/// Loads with PDist, at level 3: `hits` at triggers 64 instructions and more apart.
Measurement of_triggers(const std::vector<std::uint64_t>& hits) {
  Measurement m = examples::begin({.level = 3});
  m.run = "skidscan.run";
  std::uint64_t all = 0;
  Basis& basis = m.basis;
  for (const std::uint64_t count : hits) {
    basis.tally.triggers.push_back({count, count});
    all += count;
  }
  basis.tally.breakdown.add(SampleClass::hit, all);
  basis.tally.instructions.add(0, all);
  basis.tally.bytes.add(0, all);
  basis.geometry = Geometry{.highest_offset = 5000,
                            .censored_from = {},
                            .censored_from_bytes = {},
                            .trigger_addresses = {1, 2, 3},
                            .trigger_distances = {1, 64, 5000},
                            .even_hit_share = {}};
  basis.not_judged = NotJudged::none;
  basis.level_three = LevelThree::distinct;
  m.period.requested = 1009;
  m.events_per_iteration.expected = 3;
  complete(m);
  return m;
}

TEST(Evenness, OfTriggersIsPromisedByPdist) {
  const Measurement even = of_triggers({2010, 1980, 2010});
  ASSERT_TRUE(even.evenness);
  EXPECT_EQ(even.evenness->of, Evenness::Of::triggers);
  EXPECT_EQ(even.evenness->verdict, EvennessVerdict::even);
  EXPECT_EQ(verdict_of(even), analysis::Verdict::kept);
  EXPECT_EQ(verdict_words(even), "kept, even");

  const Measurement uneven = of_triggers({2000, 30, 3970});
  EXPECT_EQ(uneven.contract.verdict, analysis::Verdict::kept) << "the IP is right";
  EXPECT_EQ(uneven.evenness->verdict, EvennessVerdict::uneven);
  EXPECT_TRUE(uneven.evenness->promised);
  EXPECT_NEAR(uneven.evenness->largest_ratio, 1.985, 1e-9);
  EXPECT_EQ(verdict_of(uneven), analysis::Verdict::broken);
  EXPECT_EQ(verdict_words(uneven), "broken, uneven");
  EXPECT_THAT(uneven.evenness->evidence, HasSubstr("3 triggers: uneven, chi-square p < "));
}

TEST(Evenness, NamesTheDelayThatPredictsTheNextSample) {
  Measurement m = of_triggers({3000, 1000, 2000});
  auto& pairs = m.basis.sample_pairs.emplace();
  pairs = {.distances = {5, 10, 985}, .iteration = 1000};
  // The first trigger that retires at least 7 instructions after the overflow: the third, third
  // and first.
  for (int i = 0; i < 2000; ++i) {
    pairs.add(0, 2, 3);
    pairs.add(1, 2, 3);
    pairs.add(2, 0, 3);
  }
  complete(m);
  EXPECT_THAT(m.evenness->evidence, HasSubstr("a delay of 6 to 10 instructions from overflow to "
                                              "record predicts 100% of next samples"));
}

TEST(Evenness, IsUndecidedWithoutEvidence) {
  const auto evidence = [](Measurement m, const auto& change) {
    change(m);
    complete(m);
    EXPECT_EQ(m.evenness->verdict, EvennessVerdict::undecided);
    EXPECT_NE(verdict_of(m), analysis::Verdict::broken);
    return m.evenness->evidence;
  };
  const std::vector<std::uint64_t> kUnevenHits{2000, 30, 3970};
  EXPECT_THAT(evidence(of_triggers({200, 3, 397}), [](Measurement&) {}),
              HasSubstr("the contract is undecided"));
  // Every third event is at the same trigger.
  EXPECT_THAT(evidence(of_triggers(kUnevenHits), [](Measurement& m) { m.period.requested = 999; }),
              HasSubstr("not judged: the period resonates with the loop: one event in 999 "));
  // With PEBS it is the event after the overflow.
  const auto pebs = [](std::uint64_t period) {
    return [period](Measurement& m) {
      m.period.requested = period;
      m.basis.events_to_record = 1;
    };
  };
  EXPECT_THAT(evidence(of_triggers(kUnevenHits), pebs(998)), HasSubstr("one event in 999 "));
  EXPECT_THAT(evidence(of_triggers({2000, 1850, 2150}), [](Measurement&) {}),
              HasSubstr("undecided, chi-square p"));
}

TEST(Evenness, OfTriggersIsTestedWhereThePeriodDoesNotResonate) {
  Measurement m = of_triggers({2000, 30, 3970});
  m.basis.events_to_record = 1;
  for (const std::uint64_t period : {999U, 1000U, 1002U}) {
    m.period.requested = period;
    complete(m);
    EXPECT_EQ(m.evenness->verdict, EvennessVerdict::uneven) << period;
  }
  // Nothing is known of the distances of IBS.
  m.basis.events_to_record.reset();
  m.period.requested = 999;
  complete(m);
  EXPECT_TRUE(m.bias);
}

TEST(Evenness, OfTriggersIsNotJudgedWithAFrequency) {
  Measurement m = of_triggers({31012, 41207, 28854});
  EXPECT_EQ(verdict_of(m), analysis::Verdict::broken) << "PDist promises it";
  m.path = RecordingPath{.frequency = 20'000};
  m.period = {};
  complete(m);
  EXPECT_EQ(verdict_of(m), analysis::Verdict::kept);
  EXPECT_EQ(m.evenness->verdict, EvennessVerdict::undecided);
  EXPECT_THAT(m.evenness->evidence, HasSubstr("not judged: with a frequency"));
}

TEST(Evenness, IsNotJudgedAtAnyLevelWhereThePeriodResonates) {
  Measurement m = of_triggers({6000, 0, 0});
  m.basis.level_three = LevelThree::same_as_level_2;
  m.period.requested = 1010;
  complete(m);
  EXPECT_TRUE(m.bias);
  m.basis.events_to_record = 1;  // one event in 1011
  complete(m);
  EXPECT_FALSE(m.bias || m.evenness);
  EXPECT_THAT(m.count_warnings,
              testing::Contains(HasSubstr("not judged: the period resonates with the loop")));
}

TEST(Evenness, IsNotPromisedInGuests) {
  Measurement m = of_triggers({2000, 30, 3970});
  m.cpu.hypervisor = "KVM";
  complete(m);
  EXPECT_EQ(m.evenness->verdict, EvennessVerdict::uneven);
  EXPECT_EQ(verdict_of(m), analysis::Verdict::kept) << "the host chooses the counter";
  m.cpu.hypervisor.reset();
  m.run.clear();
  complete(m);
  EXPECT_EQ(m.evenness->verdict, EvennessVerdict::uneven);
  EXPECT_EQ(verdict_of(m), analysis::Verdict::kept) << "perf.data does not name a hypervisor";
}

TEST(Evenness, NeedsMoreThanAFewSamplesAtTheWrongTriggers) {
  // 4.9% and 5.1% of the samples are beyond the even share.
  const Measurement little = of_triggers({382'000, 309'000, 309'000});
  EXPECT_EQ(little.evenness->verdict, EvennessVerdict::undecided);
  EXPECT_LT(little.evenness->test.p, kUneven);
  EXPECT_EQ(of_triggers({385'000, 308'000, 307'000}).evenness->verdict, EvennessVerdict::uneven);
}

TEST(Evenness, IsOfADistinctLevelThreeOnly) {
  Measurement m = of_triggers({2000, 30, 3970});
  m.precise.recorded = 2;
  complete(m);
  EXPECT_FALSE(m.evenness);
  m.precise.recorded = 3;
  m.basis.level_three = LevelThree::same_as_level_2;
  complete(m);
  EXPECT_FALSE(m.evenness);
  EXPECT_EQ(verdict_of(m), analysis::Verdict::kept);
}

/// Instructions at a level, on every `group`-th one.
Measurement of_instructions(int level, std::int64_t group) {
  examples::Offsets offsets;
  const OffsetCounts counts = drawn(5000, group, 1);
  for (const auto& [offset, count] : counts.counts()) offsets[offset] = count;
  Measurement m = examples::make({.level = level,
                                  .offsets = offsets,
                                  .not_judged = NotJudged::every_instruction,
                                  .ignores_level = false});
  m.basis.level_three = LevelThree::distinct;
  m.basis.instructions_per_iteration = 5204;
  m.period.requested = 400'009;
  complete(m);
  return m;
}

TEST(Evenness, OfInstructionsIsDescribedAtLevelsTwoAndThree) {
  const Measurement pp = of_instructions(2, 4), ppp = of_instructions(3, 1);
  ASSERT_TRUE(pp.evenness && ppp.evenness);
  EXPECT_EQ(pp.evenness->of, Evenness::Of::instructions);
  EXPECT_EQ(pp.evenness->verdict, EvennessVerdict::uneven);
  EXPECT_EQ(verdict_of(pp), analysis::Verdict::not_judged);
  EXPECT_EQ(ppp.evenness->verdict, EvennessVerdict::even);
  EXPECT_FALSE(ppp.evenness->promised) << "PDIR reduces bias";
  EXPECT_THAT(ppp.evenness->evidence, HasSubstr("samples of 5201 instructions: even"));
  EXPECT_THAT(comparison_of(*pp.evenness, *ppp.evenness),
              testing::AllOf(HasSubstr("level 3 even (p 0."), HasSubstr("level 2 uneven (p "),
                             HasSubstr("largest ratio")));
  EXPECT_FALSE(of_instructions(1, 4).evenness);
  Measurement aliased = ppp;
  aliased.period.requested = 400'000;
  complete(aliased);
  EXPECT_EQ(aliased.evenness->verdict, EvennessVerdict::undecided);
  EXPECT_THAT(aliased.evenness->evidence, HasSubstr("common factor 4"));
}

}  // namespace
}  // namespace skid::analysis
