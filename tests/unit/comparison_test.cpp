// What a comparison says of measurements whose truth is known.
#include "analysis/comparison.h"

#include "analysis/addresses.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "src/measure/run_comparison.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/support/random.h"
#include "tests/support/error_message.h"
#include "tests/support/text.h"
#include "tests/unit/compared_measurements.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
namespace {

using namespace examples;
using test::OffsetModel;

const ComparisonCell& cell_of(const Comparison& comparison, std::size_t row, std::size_t side) {
  const ComparisonCell* cell = comparison.rows.at(row).cell_of(side);
  if (cell == nullptr) throw std::out_of_range("no such cell");
  return *cell;
}

const StatisticDifference* difference_of(const ComparisonCell& cell, Statistic statistic) {
  const auto found =
      std::ranges::find(cell.differences, statistic, &StatisticDifference::statistic);
  return found == cell.differences.end() ? nullptr : &*found;
}

bool marks_any(const Comparison& comparison) {
  return std::ranges::any_of(comparison.rows, [](const ComparisonRow& row) {
    return std::ranges::any_of(row.cells, [](const ComparisonCell& cell) {
      return cell.contract_broke || cell.contract_fixed ||
             std::ranges::any_of(cell.differences, &StatisticDifference::marked);
    });
  });
}

Compared pair_of(const Example& example, const OffsetCounts& a, const OffsetCounts& b) {
  return one_each({of_offsets(a, example), of_offsets(b, example)});
}

/// What may be marked of so many comparisons without any difference: 5% and three standard errors.
int most_marked(int comparisons) {
  return static_cast<int>(
      std::floor(0.05 * comparisons + 3 * std::sqrt(0.05 * 0.95 * comparisons)));
}

/// The models that runs are drawn from where nothing differs: of events that are judged at levels 0
/// to 2, and of one that is not, whose samples reach the end.
struct NullModel {
  Example example;
  OffsetModel model;
};
const std::vector<NullModel>& null_models() {
  static const std::vector<NullModel> models{
      {{.event = "skids", .level = 0}, OffsetModel::falling(8)},
      {{.event = "mixed", .level = 2}, OffsetModel::hits_and_tail(0.6, 12)},
      {{.event = "constant", .level = 1}, OffsetModel::two_atoms(0.3, 1)},
      {{.event = "clock", .not_judged = NotJudged::timer}, OffsetModel::even(931, 970)},
  };
  return models;
}

TEST(Comparison, WithoutADifferenceMarksNothingInNineteenOfTwentyComparisons) {
  constexpr int kComparisons = 60;
  Random random(1);
  int marked = 0;
  for (int i = 0; i < kComparisons; ++i) {
    Compared compared;
    // Not as many on both sides, and two of them against one baseline.
    for (const std::uint64_t samples : {400U, 150U, 700U}) {
      compared.input(std::to_string(samples));
      for (const auto& [example, model] : null_models()) {
        compared.add(of_offsets(model.draw(random, samples), example));
      }
    }
    marked += marks_any(compared.compare());
  }
  RecordProperty("marked", marked);
  EXPECT_LE(marked, most_marked(kComparisons));
}

TEST(Comparison, AtTheVergeOfAContractSamplesOfTheSameThingDoNotBreakIt) {
  constexpr int kComparisons = 20;
  constexpr std::uint64_t kSamples = 20'000;  // enough for kept and for broken
  Random random(6);
  const OffsetModel verge = OffsetModel::two_atoms(0.999, 20);
  int marked = 0, judged_otherwise = 0;
  for (int i = 0; i < kComparisons; ++i) {
    const Compared compared = pair_of({.event = "verge", .level = 2}, verge.draw(random, kSamples),
                                      verge.draw(random, kSamples));
    const Comparison comparison = compared.compare();
    marked += marks_any(comparison);
    judged_otherwise += cell_of(comparison, 0, 0).contracts != cell_of(comparison, 0, 1).contracts;
  }
  EXPECT_GT(judged_otherwise, 0);  // or there would be nothing to be wrong about
  EXPECT_LE(marked, most_marked(kComparisons));
}

/// Comparisons with marks where each run has an effect of its own.
int marked_with_run_effects(int comparisons, int baseline_runs, int other_runs,
                            std::uint64_t seed) {
  Random random(seed);
  int marked = 0;
  for (int i = 0; i < comparisons; ++i) {
    Compared compared;
    for (const int runs : {baseline_runs, other_runs}) {
      compared.input(std::to_string(compared.inputs.size()));
      for (int run = 1; run <= runs; ++run) {
        const double logit = 0.4 + 0.3 * random.normal();
        const OffsetModel hits = OffsetModel::two_atoms(1 / (1 + std::exp(-logit)), 1);
        OffsetCounts offsets = hits.draw(random, 800);
        const std::uint64_t missed = offsets.count_at(1);
        OffsetCounts drawn;
        drawn.add(0, offsets.total() - missed);
        static const OffsetModel tail = OffsetModel::normal(200, 15);
        drawn += shifted(tail.draw(random, missed),
                         static_cast<std::int64_t>(std::lround(4 * random.normal())));
        Measurement measurement = of_offsets(drawn, {.event = "hits", .level = 2});
        measurement.repeat = run;
        compared.add(std::move(measurement));
        compared.add(of_offsets(shifted(tail.draw(random, 800), std::lround(4 * random.normal())),
                                {.event = "skids", .level = 0}));
      }
    }
    marked += marks_any(compared.compare());
  }
  return marked;
}

class RepeatedRuns : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(RepeatedRuns, WithoutADifferenceAreMarkedInAtMostOneOfTwentyComparisons) {
  constexpr int kComparisons = 60;
  const auto [baseline_runs, other_runs] = GetParam();
  const int marked = marked_with_run_effects(kComparisons, baseline_runs, other_runs, 1);
  RecordProperty("marked", marked);
  EXPECT_LE(marked, most_marked(kComparisons));
}

INSTANTIATE_TEST_SUITE_P(Comparison, RepeatedRuns,
                         ::testing::Values(std::pair(3, 3), std::pair(5, 5), std::pair(1, 3),
                                           std::pair(3, 1)));

TEST(Comparison, OverSamplesWouldMarkWhatRunsDifferBy) {
  // The same runs one against one: this is why repeats are compared over runs.
  EXPECT_GE(marked_with_run_effects(20, 1, 1, 5), 17);
}

TEST(Comparison, FindsAShiftOfTwoInstructionsInTenThousandSamples) {
  constexpr int kComparisons = 3;  // of each model
  constexpr std::uint64_t kSamples = 10'000;
  // Standard deviations of 20, or a little less.
  const std::vector<OffsetModel> models{OffsetModel::normal(300, 20), OffsetModel::normal(300, 3),
                                        OffsetModel::even(100, 168), OffsetModel::falling(20),
                                        OffsetModel::two_atoms(0.5, 40)};
  Random random(2);
  for (const OffsetModel& model : models) {
    int found = 0;
    for (int i = 0; i < kComparisons; ++i) {
      const std::int64_t start = 10;  // so that nothing comes to lie on the trigger
      const Compared compared =
          pair_of({.event = "e", .level = 0}, shifted(model.draw(random, kSamples), start),
                  shifted(model.draw(random, kSamples), start + 2));
      const Comparison comparison = compared.compare();
      found += cell_of(comparison, 0, 1).outcome == Outcome::worse;
    }
    EXPECT_EQ(found, kComparisons) << model.name();
  }
}

TEST(Comparison, SidesAreInputsAndTheirMachines) {
  Compared compared;
  Measurement first = of_offsets(counts({{1, 10}}), {.event = "e"});
  Measurement second = first;
  second.kernel = "6.12";
  compared.input("a").add(first).add(second);
  compared.input("b").add(first);
  const Comparison comparison = compared.compare({.baseline = 1});
  ASSERT_THAT(comparison.sides, SizeIs(3));
  EXPECT_EQ(comparison.baseline, 2u);
  EXPECT_EQ(comparison.sides[0].name, "a");
  EXPECT_EQ(comparison.sides[1].name, "a");
  EXPECT_EQ(comparison.sides[1].kernel, "6.12");
  EXPECT_THAT(comparison.sides[2].inputs, ElementsAre(1));
  ASSERT_THAT(comparison.rows, SizeIs(1));
  EXPECT_EQ(cell_of(comparison, 0, 2).outcome, Outcome::baseline);
}

TEST(Comparison, PairsEventsOfOneCodeWhateverTheirNames) {
  Measurement named = of_offsets(counts({{1, 100}}), {.event = "mem_inst_retired.all_loads"});
  named.event.type = 4;
  named.event.config = 0x81d0;
  Measurement coded = named;
  coded.event.label = "r81d0";
  Measurement other_code = named, other_modes = named, other_cpu = named;
  other_code.event.label = other_modes.event.label = other_cpu.event.label = "another";
  other_code.event.config = 0x82d0;
  other_modes.event.excluded = {"kernel"};
  other_cpu.cpu.model = 85;
  const auto rows_with = [&](const Measurement& there) {
    return one_each({named, there}).compare().rows;
  };
  ASSERT_THAT(rows_with(coded), SizeIs(1));
  EXPECT_EQ(rows_with(coded)[0].event, "mem_inst_retired.all_loads");
  EXPECT_TRUE(rows_with(coded)[0].missing.empty());
  for (const Measurement& there : {other_code, other_modes, other_cpu}) {
    EXPECT_THAT(rows_with(there), SizeIs(2));
  }
}

TEST(Comparison, ByMachineTakesInputsOfOneMachineAsRepeats) {
  const Measurement here = of_offsets(counts({{1, 1000}, {2, 500}}), {.event = "e"});
  Measurement there = here;
  there.cpu.microcode = "0xff";
  const Compared four = one_each({here, there, here, there});
  const Comparison comparison = four.compare({.by = SideBy::machine});
  EXPECT_THAT(test::mapped(comparison.sides, &Side::inputs),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(cell_of(comparison, 0, 0).runs, SizeIs(2));
  EXPECT_TRUE(cell_of(comparison, 0, 1).over_runs);
}

TEST(Comparison, RoundingOfEqualRunsIsNoDifference) {
  // Summed as fifteenths, 15 times 1 is a little less than 1, and 45 times a little more.
  for (const std::int64_t offset : {0, 1}) {
    const Measurement equal = of_offsets(counts({{offset, 200}}), {.event = "e", .level = 1});
    const Compared runs = Compared().input("a").add(equal, 15).input("b").add(equal, 45);
    const Comparison comparison = runs.compare();
    const ComparisonCell& cell = cell_of(comparison, 0, 1);
    EXPECT_TRUE(cell.over_runs);
    EXPECT_EQ(cell.hit_ratio->value, offset == 0 ? 1.0 : 0.0);
    EXPECT_EQ(cell.mean->value, static_cast<double>(offset));
    for (const auto& difference : cell.differences) {
      if (!difference.p) continue;
      EXPECT_EQ(difference.difference, 0.0) << name_of(difference.statistic);
      EXPECT_EQ(difference.p.value(), 1.0) << name_of(difference.statistic);
    }
  }
}

TEST(Comparison, RefusesWhatLeavesNothingToCompare) {
  const Measurement measurement = of_offsets(counts({{1, 10}}), {.event = "e"});
  const auto refusal = [](const Compared& inputs, const ComparisonChoices& choices) {
    return test::message_of([&] { return inputs.compare(choices); });
  };
  const Compared one = one_each({measurement}), same = one_each({measurement, measurement});
  const Compared twice = Compared(one).input("a").add(measurement),
                 empty = Compared(one).input("b");
  EXPECT_THAT(refusal(one, {}), HasSubstr("a: a single run"));
  EXPECT_EQ(refusal(twice, {}), "no error");
  EXPECT_THAT(refusal(same, {.by = SideBy::machine}), HasSubstr("of one machine"));
  EXPECT_THAT(refusal(empty, {}), HasSubstr("nothing to compare with"));
  EXPECT_THAT(refusal(empty, {.baseline = 1}), HasSubstr("b: the baseline has no measurement"));
}

TEST(Comparison, KeepsEventsThatOnlySomeSidesHave) {
  const OffsetCounts offsets = counts({{1, 1000}});
  Compared compared;
  compared.input("a").add(of_offsets(offsets, {.event = "both", .level = 2}));
  compared.add(of_offsets(offsets, {.event = "both", .level = 0}));
  compared.add(of_offsets(offsets, {.event = "gone"}));
  compared.input("b").add(of_offsets(offsets, {.event = "new"}));
  compared.add(of_offsets(offsets, {.event = "both", .level = 2}));
  const Comparison comparison = compared.compare();
  ASSERT_THAT(comparison.rows, SizeIs(4));
  EXPECT_EQ(comparison.rows[0].event, "both");
  EXPECT_EQ(comparison.rows[0].level, 0);
  EXPECT_THAT(comparison.rows[0].missing, ElementsAre(1));
  EXPECT_EQ(comparison.rows[1].level, 2);
  EXPECT_THAT(comparison.rows[1].missing, IsEmpty());
  EXPECT_EQ(comparison.rows[2].event, "gone");
  EXPECT_EQ(comparison.rows[3].event, "new");
  EXPECT_FALSE(comparison.rows[3].in_baseline);
  EXPECT_EQ(cell_of(comparison, 3, 1).outcome, Outcome::only_here);
  const Regressions regressions = regressions_of(comparison);
  EXPECT_EQ(regressions.missing, 2u);
  EXPECT_EQ(regressions.worse, 0u);
}

TEST(Comparison, ConcludesFromWhatDiffers) {
  struct Case {
    Example example;
    OffsetCounts a, b;
    ComparisonChoices choices;
    Outcome outcome;
    std::size_t worse = 0;
    bool broke = false, fixed = false;
  };
  const Example judged{.event = "e", .level = 2}, unconstrained{.event = "e"};
  const Example timer{.event = "clock", .not_judged = NotJudged::timer};
  const OffsetCounts sound = counts({{0, 5000}}), broken = counts({{0, 4500}, {7, 500}});
  const OffsetCounts near = counts({{0, 9500}, {100, 500}}), far = counts({{0, 500}, {100, 9500}});
  const OffsetCounts many = counts({{0, 8'000'000}, {9, 2'000'000}});
  const OffsetCounts almost_as_many = counts({{0, 7'970'000}, {9, 2'030'000}});
  const ComparisonChoices lenient{.least_share = 0.01, .least_instructions = 1};
  for (const Case& c :
       std::vector<Case>{{judged, sound, broken, {}, Outcome::worse, 1, true},
                         {judged, broken, sound, {}, Outcome::better, 0, false, true},
                         {judged, broken, broken, {}, Outcome::no_difference},
                         {judged, sound, counts({{0, 10}}), {}, Outcome::too_few},
                         // However sure a small difference is.
                         {unconstrained, many, almost_as_many, {}, Outcome::worse, 1},
                         {unconstrained, many, almost_as_many, lenient, Outcome::no_difference},
                         // As far away, on the other side: the same constraint kept.
                         {{.event = "e", .level = 1},
                          counts({{3, 5000}}),
                          counts({{-3, 5000}}),
                          {},
                          Outcome::different},
                         {timer, near, far, {}, Outcome::different},
                         {timer, far, near, {}, Outcome::different}}) {
    const Compared compared = pair_of(c.example, c.a, c.b);
    const Comparison comparison = compared.compare(c.choices);
    const ComparisonCell& cell = cell_of(comparison, 0, 1);
    EXPECT_EQ(cell.outcome, c.outcome);
    EXPECT_EQ(cell.contract_broke, c.broke);
    EXPECT_EQ(cell.contract_fixed, c.fixed);
    EXPECT_EQ(regressions_of(comparison).sum(), c.worse);
    EXPECT_EQ(marks_any(comparison),
              c.outcome != Outcome::no_difference && c.outcome != Outcome::too_few);
    EXPECT_EQ(difference_of(cell, Statistic::hit_ratio)->p.has_value(),
              c.example.not_judged == NotJudged::none);
  }
}

TEST(Comparison, HasTheDifferencesWithTheirIntervals) {
  const Compared compared =
      pair_of({.event = "e", .level = 2}, counts({{0, 5000}}), counts({{0, 4500}, {7, 500}}));
  const Comparison comparison = compared.compare();
  const ComparisonCell& cell = cell_of(comparison, 0, 1);
  const StatisticDifference& hits = *difference_of(cell, Statistic::hit_ratio);
  EXPECT_TRUE(hits.marked);
  EXPECT_DOUBLE_EQ(hits.difference, -0.1);
  EXPECT_LT(hits.low.value(), -0.1);
  EXPECT_GT(hits.high.value(), -0.1);
  ASSERT_TRUE(cell.distances);
  EXPECT_DOUBLE_EQ(cell.distances->wasserstein, 0.7);
  EXPECT_DOUBLE_EQ(cell.distances->total_variation, 0.1);
}

TEST(Comparison, QuantilesAmongTheCensoredAreAtLeastAndNotTested) {
  // From 950 on all is censored: the 99th percentiles are unknown, the medians are not.
  const OffsetCounts a = counts({{10, 5000}, {960, 300}}), b = counts({{20, 5000}, {990, 300}});
  const Compared compared = pair_of({.event = "e", .level = 0}, a, b);
  const Comparison comparison = compared.compare();
  const ComparisonCell& cell = cell_of(comparison, 0, 1);
  EXPECT_TRUE(cell.p99->at_least);
  EXPECT_FALSE(cell.median->at_least);
  EXPECT_FALSE(difference_of(cell, Statistic::p99)->p);
  EXPECT_EQ(difference_of(cell, Statistic::p99)->untested, Untested::censored);
  EXPECT_TRUE(difference_of(cell, Statistic::median)->marked);
  // Beyond the end of the shorter runway nothing is told apart.
  EXPECT_NEAR(difference_of(cell, Statistic::mean)->difference, 10.0 * 5000 / 5300, 1e-9);
  EXPECT_NEAR(cell.distances->wasserstein, 10.0 * 5000 / 5300, 1e-9);
  EXPECT_THAT(output::caveat_texts(cell), Contains(HasSubstr("longer than the runway")));
}

TEST(Comparison, TheSameNameOfAnotherThingIsNotTested) {
  const Measurement sound = of_offsets(counts({{0, 5000}}), {.event = "e", .level = 2});
  Measurement substituted = of_offsets(counts({{50, 5000}}), {.event = "e", .level = 2});
  Measurement stored = substituted;
  substituted.event.substituted = true;
  substituted.event.recorded = "cpu-clock:pp";
  substituted.event.type = 1;
  stored.trigger->kind = "store";
  for (const Measurement& other : {substituted, stored}) {
    const Compared against_other = one_each({sound, other});
    const Compared runs_of_both = Compared().input("a").add(sound).add(other).input("b").add(sound);
    for (const auto& [inputs, reason] :
         {std::pair{against_other, "another"}, std::pair{runs_of_both, "the baseline's runs"}}) {
      const Comparison comparison = inputs.compare();
      const ComparisonCell& cell = cell_of(comparison, 0, 1);
      EXPECT_EQ(cell.outcome, Outcome::not_compared);
      EXPECT_THAT(cell.differences, IsEmpty());
      EXPECT_THAT(output::caveat_texts(cell), ElementsAre(HasSubstr(reason)));
      EXPECT_EQ(comparison.tests, 0u);
      EXPECT_EQ(regressions_of(comparison).not_compared, 1u);
    }
  }
  // Substituted on both sides for the same event, it can be compared.
  const Compared both = one_each({substituted, substituted});
  EXPECT_EQ(cell_of(both.compare(), 0, 1).outcome, Outcome::no_difference);
}

TEST(Comparison, TellsOfAnotherPeriodRunwayAndLevel) {
  Measurement other = of_offsets(counts({{1, 5000}}), {.event = "e", .level = 0}, {.highest = 500});
  other.period.requested = 1000;
  other.precise.recorded = 1;
  other.path->frequency = 4000;
  const Compared both =
      one_each({of_offsets(counts({{1, 5000}}), {.event = "e", .level = 0}), other});
  const Comparison comparison = both.compare();
  const ComparisonCell& cell = cell_of(comparison, 0, 1);
  EXPECT_THAT(output::caveat_texts(cell), Contains(HasSubstr("another period: 1000 here, 100 in")));
  EXPECT_THAT(output::caveat_texts(cell),
              Contains("another path of recording: 4000 samples a second here, "
                       "fixed period in the baseline"));
  EXPECT_THAT(output::caveat_texts(cell), Contains(HasSubstr("another runway")));
  EXPECT_THAT(output::caveat_texts(cell),
              Contains(HasSubstr("another precise level: 1 here, 0 in")));
  EXPECT_THAT(cell.differences, SizeIs(5));
}

TEST(Comparison, SidesWithoutAJudgedSampleOrAMeasurementFailTheGate) {
  const Example example{.event = "e", .level = 2};
  const OffsetCounts offsets = counts({{0, 5000}});
  const Compared unjudged = pair_of(example, offsets, {});
  const Comparison comparison = unjudged.compare();
  EXPECT_EQ(cell_of(comparison, 0, 1).outcome, Outcome::too_few);
  EXPECT_THAT(output::caveat_texts(cell_of(comparison, 0, 1)), Contains("no judged sample here"));
  EXPECT_EQ(regressions_of(comparison).not_compared, 1u);
  const Compared neither = pair_of(example, {}, {});
  EXPECT_EQ(regressions_of(neither.compare()).not_compared, 1u);
  const Compared in_baseline = pair_of(example, {}, offsets);
  EXPECT_THAT(output::caveat_texts(cell_of(in_baseline.compare(), 0, 1)),
              Contains("no judged sample in the baseline"));
  EXPECT_EQ(regressions_of(in_baseline.compare()).not_compared, 1u);

  Compared empty = pair_of(example, offsets, offsets);
  EXPECT_EQ(regressions_of(empty.compare()).sum(), 0u);
  empty.input("empty");
  const Comparison with_empty = empty.compare();
  EXPECT_THAT(with_empty.empty, ElementsAre(2));
  EXPECT_THAT(with_empty.sides, SizeIs(2));
  EXPECT_EQ(regressions_of(with_empty).missing, 1u);
}

/// A measurement of IBS: most operations are NOPs, wherever those at the trigger are.
Measurement tagged(std::uint64_t hits, std::uint64_t others, int level) {
  Measurement m =
      of_offsets(counts({{0, hits}, {1, others}, {500, 20'000}}),
                 {.event = "ibs_op//", .level = level, .not_judged = NotJudged::every_instruction});
  auto& addresses = m.basis.addresses.emplace();
  addresses.source = AddressSource::tagged;
  addresses.declared = {{true, {0x1000, 0x1008}}};
  addresses.samples.trigger.trigger = hits;
  addresses.samples.successor.trigger = others;
  addresses.samples.elsewhere.none = 20'000;
  complete(m);
  return m;
}

TEST(Comparison, HoldsIbsAgainstTheLevelThatRequestsNoSkid) {
  for (const bool ibs_is_baseline : {false, true}) {
    std::vector<Measurement> pebs;
    for (int level = 0; level <= 3; ++level) {
      pebs.push_back(
          of_offsets(counts({{level < 2 ? 1 : 0, 6000}}), {.event = "ibs_op//", .level = level}));
    }
    const std::vector<Measurement> ibs{tagged(5809, 291, 0)};
    Compared compared;
    for (const bool is_first : {true, false}) {
      compared.input(is_first ? "a" : "b");
      for (const Measurement& m : is_first == ibs_is_baseline ? ibs : pebs) compared.add(m);
    }
    const Comparison comparison = compared.compare();
    ASSERT_EQ(comparison.rows.size(), 4u);
    for (const ComparisonRow& row : comparison.rows) {
      EXPECT_EQ(row.cells.size(), row.level == 2 ? 2u : 1u) << row.level;
    }
    const ComparisonCell& other = cell_of(comparison, 2, 1);
    EXPECT_EQ(other.outcome, ibs_is_baseline ? Outcome::better : Outcome::worse);
    EXPECT_EQ(other.differences.size(), 1u) << "the distances are not of the same";
    EXPECT_FALSE(cell_of(comparison, 2, ibs_is_baseline ? 0 : 1).median);
    EXPECT_TRUE(cell_of(comparison, 2, ibs_is_baseline ? 1 : 0).median);
  }
}

TEST(Comparison, DoesNotHoldIbsAgainstALevelThatAllowsSkid) {
  for (const int level : {0, 1}) {
    const Compared compared =
        one_each({of_offsets(counts({{1, 6000}}), {.event = "ibs_op//", .level = level}),
                  tagged(6000, 0, level)});
    const Comparison comparison = compared.compare();
    const ComparisonCell& cell = cell_of(comparison, 0, 1);
    EXPECT_EQ(cell.outcome, Outcome::not_compared);
    EXPECT_THAT(output::caveat_texts(cell),
                ElementsAre(HasSubstr("requests skid 0 only from level 2 on")));
  }
}

TEST(Comparison, OfTaggedOperationsIsOfThoseThatAccessTheTriggersData) {
  for (const int level : {0, 1, 2}) {
    const Compared late = one_each({tagged(6021, 0, level), tagged(5809, 291, level)});
    const Comparison comparison = late.compare();
    const ComparisonCell& cell = cell_of(comparison, 0, 1);
    EXPECT_EQ(cell.outcome, Outcome::worse);
    EXPECT_TRUE(cell.contract_broke);
    EXPECT_EQ(cell.judged, 6100u);
    EXPECT_DOUBLE_EQ(cell.hit_ratio->value, 5809.0 / 6100);
    EXPECT_EQ(regressions_of(comparison).worse, 1u);
    const Compared fewer_nops = one_each({tagged(6021, 0, level), tagged(3900, 0, level)});
    EXPECT_NE(cell_of(fewer_nops.compare(), 0, 1).outcome, Outcome::worse);
  }
}

TEST(Comparison, OverRunsAFewEqualSamplesAreNotCertain) {
  Compared runs;
  for (const std::int64_t offset : {3, 7}) {
    runs.input(std::to_string(offset));
    runs.add(of_offsets(counts({{offset, 2}}), {.event = "e", .level = 0}), 2);
  }
  const Comparison comparison = runs.compare();
  const ComparisonCell& cell = cell_of(comparison, 0, 1);
  EXPECT_TRUE(cell.over_runs);
  for (const Statistic statistic : {Statistic::mean, Statistic::median, Statistic::p99}) {
    // Of the 70 ways to divide eight samples so, two are as extreme.
    EXPECT_NEAR(difference_of(cell, statistic)->p.value(), 2.0 / 70, 1e-12);
    EXPECT_FALSE(difference_of(cell, statistic)->marked);
  }
}

TEST(Comparison, IntervalsThatReachTheCensoredHaveNoUpperEnd) {
  // 0.9% of a are beyond the end: its p99 is before it, the upper end of its interval is not.
  const OffsetCounts a = counts({{10, 9000}, {900, 930}, {960, 90}}),
                     b = counts({{10, 9900}, {900, 100}});
  const Compared compared = pair_of({.event = "e", .level = 0}, a, b);
  const Comparison comparison = compared.compare();
  const ComparisonCell& baseline = cell_of(comparison, 0, 0);
  ASSERT_FALSE(baseline.p99->at_least);
  EXPECT_EQ(baseline.p99->value, 900);
  EXPECT_TRUE(baseline.p99->low);
  EXPECT_FALSE(baseline.p99->high);
  // b - a: how far a reaches is not known, so neither is how much smaller b may be.
  const StatisticDifference& p99 = *difference_of(cell_of(comparison, 0, 1), Statistic::p99);
  EXPECT_FALSE(p99.low);
  EXPECT_TRUE(p99.high);
  EXPECT_TRUE(p99.p);
}

TEST(Comparison, OfAThousandInputsHoldsEachAgainstTheBaselineAlone) {
  Compared compared;
  for (int i = 0; i < 1000; ++i) {
    compared.input("input " + std::to_string(i))
        .add(of_offsets(counts({{0, 100}, {1 + i % 3, 100}}), {.event = "e", .level = 2}));
    compared.add(of_offsets(counts({{0, 100}}), {.event = "own " + std::to_string(i)}));
  }
  const Comparison comparison = compared.compare();
  EXPECT_THAT(comparison.sides, SizeIs(1000));
  EXPECT_THAT(comparison.rows, SizeIs(1001));
  std::size_t cells = 0, missing = 0;
  for (const ComparisonRow& row : comparison.rows) {
    cells += row.cells.size();
    missing += row.missing.size();
  }
  EXPECT_EQ(cells, 2000u);
  EXPECT_EQ(missing, 999u);  // of the baseline's own event
  EXPECT_EQ(comparison.tests, 999u * 5);
}

}  // namespace
}  // namespace skid::analysis
