// Samples against even shares: of triggers, of the instructions of a runway, and of those of
// blocks.
#include "analysis/evenness.h"

#include "analysis/basis.h"
#include "analysis/block_evenness.h"
#include "analysis/distributions.h"
#include "analysis/geometry.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/recording_path.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "analysis/target_map.h"
#include "src/output/report/evidence.h"
#include "src/output/report/verdict_words.h"
#include "src/support/precise_level.h"
#include "tests/support/offset_models.h"
#include "tests/unit/example_measurements.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

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
  EXPECT_EQ(p_of(test::every_offset(kLowest, kHighest, 2)), 1);
  const OffsetCounts fourth = test::every_offset(kLowest, kHighest, 8, 4);
  const auto found = test_of_instructions(fourth, kLowest, kHighest).value();
  EXPECT_LT(found.test.p, kUneven);
  EXPECT_EQ(found.largest.step, 4);
  EXPECT_EQ(found.largest.first, kLowest);
  EXPECT_NEAR(found.largest_ratio, 4, 0.01);
}

TEST(InstructionTest, NamesTheInstructionsWithTheMostSamples) {
  OffsetCounts offsets = test::every_offset(kLowest, kHighest, 10);
  offsets.add(17, 490);
  const auto found = test_of_instructions(offsets, kLowest, kHighest).value();
  EXPECT_EQ(found.largest.first, 17);
  EXPECT_EQ(found.largest.last, 17);
  EXPECT_NEAR(found.largest_ratio, 49.5, 0.1);
  EXPECT_EQ(found.test.degrees, kHighest - kLowest);
}

TEST(InstructionTest, JoinsInstructionsOfFewSamplesAndNeedsTwoBins) {
  const auto joined = test_of_instructions(drawn(5000, 1, 1), kLowest, kHighest).value();
  EXPECT_EQ(joined.test.degrees, (kHighest - kLowest + 1) / 6 - 1);
  EXPECT_EQ(joined.largest.last - joined.largest.first, 5);
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

TEST(Evenness, OfTriggersIsRequiredByPdist) {
  const Measurement even = of_triggers({2010, 1980, 2010});
  ASSERT_TRUE(even.evenness);
  EXPECT_EQ(even.evenness->of, Evenness::Of::triggers);
  EXPECT_EQ(even.evenness->verdict, EvennessVerdict::even);
  EXPECT_EQ(verdict_of(even), analysis::Verdict::kept);
  EXPECT_EQ(output::verdict_words(even), "kept, even");

  const Measurement uneven = of_triggers({2000, 30, 3970});
  EXPECT_EQ(uneven.contract.verdict, analysis::Verdict::kept) << "the IP is right";
  EXPECT_EQ(uneven.evenness->verdict, EvennessVerdict::uneven);
  EXPECT_TRUE(uneven.evenness->required);
  EXPECT_NEAR(uneven.evenness->largest_ratio, 1.985, 1e-9);
  EXPECT_EQ(verdict_of(uneven), analysis::Verdict::broken);
  EXPECT_EQ(output::verdict_words(uneven), "broken, uneven");
  EXPECT_THAT(output::evenness_evidence(uneven), HasSubstr("3 triggers: uneven, chi-square p < "));
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
  EXPECT_THAT(output::evenness_evidence(m),
              HasSubstr("a delay of 6 to 10 instructions from overflow to "
                        "record predicts 100% of next samples"));
}

TEST(Evenness, IsUndecidedWithoutEvidence) {
  const auto evidence = [](Measurement m, const auto& change) {
    change(m);
    complete(m);
    EXPECT_EQ(m.evenness->verdict, EvennessVerdict::undecided);
    EXPECT_NE(verdict_of(m), analysis::Verdict::broken);
    return output::evenness_evidence(m);
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
  m.basis.random_period = true;
  m.period.requested = 999;
  complete(m);
  EXPECT_TRUE(m.bias);
}

TEST(Evenness, OfTriggersIsNotJudgedWhereOneOfTwoPossibleDistancesResonates) {
  Measurement m = of_triggers({2000, 30, 3970});
  m.basis.events_to_record.reset();
  for (const std::uint64_t period : {998U, 999U}) {
    m.period.requested = period;
    complete(m);
    EXPECT_EQ(m.evenness->verdict, EvennessVerdict::undecided) << period;
    EXPECT_THAT(output::evenness_evidence(m),
                HasSubstr(fmt::format("one event in {} or {} is sampled", period, period + 1)));
  }
  m.period.requested = 1000;
  complete(m);
  EXPECT_EQ(m.evenness->verdict, EvennessVerdict::uneven);
}

TEST(Evenness, OfTriggersIsNotJudgedWithAFrequency) {
  Measurement m = of_triggers({31012, 41207, 28854});
  EXPECT_EQ(verdict_of(m), analysis::Verdict::broken) << "PDist requires it";
  m.path = RecordingPath{.frequency = 20'000};
  m.period = {};
  complete(m);
  EXPECT_EQ(verdict_of(m), analysis::Verdict::kept);
  EXPECT_EQ(m.evenness->verdict, EvennessVerdict::undecided);
  EXPECT_THAT(output::evenness_evidence(m), HasSubstr("not judged: with a frequency"));
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
  EXPECT_THAT(output::count_warnings(m),
              testing::Contains(HasSubstr("not judged: the period resonates with the loop")));
}

TEST(Evenness, IsNotRequiredInGuests) {
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
  EXPECT_FALSE(ppp.evenness->required) << "PDIR reduces bias";
  EXPECT_THAT(output::evenness_evidence(ppp), HasSubstr("samples of 5201 instructions: even"));
  EXPECT_THAT(output::comparison_of(*pp.evenness, *ppp.evenness),
              testing::AllOf(HasSubstr("level 3 even (p 0."), HasSubstr("level 2 uneven (p "),
                             HasSubstr("largest ratio")));
  EXPECT_FALSE(of_instructions(1, 4).evenness);
  Measurement aliased = ppp;
  aliased.period.requested = 400'000;
  complete(aliased);
  EXPECT_EQ(aliased.evenness->verdict, EvennessVerdict::undecided);
  EXPECT_THAT(output::evenness_evidence(aliased), HasSubstr("common factor 4"));
}

using BlockCounts = std::vector<std::uint64_t>;

/// Samples of places that execute equally often, one of them favoured by a factor.
BlockCounts block_of(std::size_t places, std::uint64_t samples, Random& random, double factor = 1) {
  BlockCounts counts(places);
  const double all = static_cast<double>(places) - 1 + factor;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const double at = random.share() * all - factor;
    ++counts[at < 0 ? 0 : 1 + static_cast<std::size_t>(at)];
  }
  return counts;
}

ProfileEvenness evenness_of(const BlockCounts& block) {
  return evenness_of_blocks(std::vector<BlockCounts>{block});
}

TEST(BlockEvenness, FindsAShadowOfAFactorOfTwoOnOneLoadOfEight) {
  int found = 0;
  constexpr int kSeeds = 40;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const ProfileEvenness evenness = evenness_of(block_of(8, 2000, random, 2));
    if (evenness.biased == 1 && evenness.misplaced.low > 0) ++found;
  }
  EXPECT_GE(found, kSeeds * 95 / 100);
}

TEST(BlockEvenness, DoesNotCallAnEvenProfileBiased) {
  int called = 0, covers = 0;
  constexpr int kSeeds = 20;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    std::vector<BlockCounts> blocks;
    for (int i = 0; i < 50; ++i)
      blocks.push_back(block_of(2 + random.below(9), 10 + random.below(200), random));
    const ProfileEvenness evenness = evenness_of_blocks(blocks);
    if (evenness.biased > 0) ++called;
    if (evenness.misplaced.low == 0) ++covers;
  }
  EXPECT_LE(called, kSeeds * 5 / 100);
  EXPECT_GE(covers, kSeeds * 93 / 100);
}

TEST(BlockEvenness, FindsUnevenBlocksOfFewSamplesAmongMany) {
  // So many blocks leave each few draws, which show no p that is small enough for all of them.
  Random random(1);
  std::vector<BlockCounts> blocks;
  for (int i = 0; i < 300; ++i) blocks.push_back(block_of(6, 25, random, 20));
  EXPECT_GE(evenness_of_blocks(blocks).biased, 270U);
}

TEST(BlockEvenness, MisplacedIsWhatIsBeyondTheEvenCounts) {
  // Half of the differences: (1614 + 3341 - 2 * 5007 / 7) of 5007 samples.
  const ProfileEvenness evenness = evenness_of({51, 1614, 3341, 1, 0, 0, 0});
  const double half_sum = 1614 + 3341 - 2 * 5007.0 / 7;
  EXPECT_DOUBLE_EQ(evenness.blocks[0].half_sum, half_sum);
  EXPECT_NEAR(evenness.misplaced.value, (half_sum - evenness.blocks[0].half_sum_due) / 5007, 1e-12);
  EXPECT_LT(evenness.misplaced.low, evenness.misplaced.value);
  EXPECT_GT(evenness.misplaced.high, evenness.misplaced.value);
  EXPECT_LT(evenness.misplaced.high - evenness.misplaced.low, 0.05);
  EXPECT_EQ(evenness.biased, 1U);
}

TEST(BlockEvenness, GivesTheMeanHalfSumOfEvenSamples) {
  // Two samples on two places: (2, 0) in half of the cases, which is 1 off.
  const auto due = [](const BlockCounts& counts) {
    return evenness_of(counts).blocks[0].half_sum_due;
  };
  EXPECT_NEAR(due({2, 0}), 0.5, 1e-12);
  // Three on three: (3, 0, 0) in 3 of 27 cases is 2 off, (2, 1, 0) in 18 of them 1.
  EXPECT_NEAR(due({3, 0, 0}), (3 * 2.0 + 18 * 1.0) / 27, 1e-12);
}

TEST(BlockEvenness, SimulatesWhereFewSamplesAreExpected) {
  // Ten samples on four places, all on one: 4 of 4^10 cases.
  const auto rare = evenness_of({10, 0, 0, 0});
  EXPECT_LT(rare.blocks[0].bias.p, 1e-4);
  // {3, 3, 2, 2} has the least sum of squares of all.
  const auto even = evenness_of({3, 3, 2, 2});
  EXPECT_EQ(even.blocks[0].bias.p, 1);
  EXPECT_EQ(evenness_of({4, 1, 3, 2}).blocks[0].bias.p, evenness_of({4, 1, 3, 2}).blocks[0].bias.p);
}

TEST(BlockEvenness, TakesNoLongerForMorePlaces) {
  BlockCounts counts(100'000);
  counts[7] = 10;
  const auto one = evenness_of(counts);
  EXPECT_LT(one.blocks[0].bias.p, 1e-2);
  EXPECT_EQ(one.biased, 1U);
}

TEST(BlockEvenness, AdjustsForTheNumberOfBlocks) {
  const BlockCounts one{140, 100, 100, 100};
  const auto alone = evenness_of(one);
  EXPECT_DOUBLE_EQ(alone.blocks[0].p_holm, alone.blocks[0].bias.p);
  std::vector<BlockCounts> many(20, BlockCounts{100, 100, 100, 100});
  many.push_back(one);
  EXPECT_NEAR(evenness_of_blocks(many).blocks.back().p_holm, 21 * alone.blocks[0].bias.p, 1e-12);
}

TEST(BlockEvenness, NeedsTwoPlacesAndASample) {
  EXPECT_THROW(evenness_of({5}), std::invalid_argument);
  EXPECT_THROW(evenness_of({0, 0}), std::invalid_argument);
  EXPECT_TRUE(evenness_of_blocks({}).blocks.empty());
}

TEST(Bias, IsPearsonsStatisticOfEvenShares) {
  struct Case {
    std::vector<std::uint64_t> samples;
    double chi_square, p;
    std::optional<double> ratio;
  };
  // p with two degrees of freedom is exp(-x / 2), with three erfc(sqrt(x / 2)) +
  // sqrt(2 x / pi) exp(-x / 2).
  for (const auto& [samples, chi_square, p, ratio] :
       {Case{{100, 100, 100, 100}, 0, 1, 1}, Case{{90, 110, 130, 70}, 20, 0.00016974, 130.0 / 70},
        Case{{30, 0, 30}, 30, 3.059e-7, {}}}) {
    std::vector<TriggerCount> triggers;
    for (const std::uint64_t count : samples) triggers.push_back({0, count});
    const auto bias = bias_of(triggers);
    ASSERT_TRUE(bias);
    EXPECT_DOUBLE_EQ(bias->chi_square, chi_square);
    EXPECT_EQ(bias->degrees, static_cast<int>(samples.size()) - 1);
    EXPECT_NEAR(bias->p / p, 1, 1e-3);
    EXPECT_EQ(bias->largest_ratio, ratio);
  }
}

TEST(Bias, NeedsTwoTriggersAndFiveSamplesOfEach) {
  const auto is_had = [](std::vector<TriggerCount> triggers) {
    return bias_of(triggers).has_value();
  };
  EXPECT_FALSE(is_had({{0, 1000}}));
  EXPECT_FALSE(is_had({}));
  EXPECT_FALSE(is_had({{0, 4}, {0, 5}}));
  EXPECT_TRUE(is_had({{0, 0}, {0, 10}}));
}

}  // namespace
}  // namespace skid::analysis
