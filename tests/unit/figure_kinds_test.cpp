// The content of each kind of figure.
#include "plots/figure.h"
#include "plots/layout.h"
#include "tests/support/error_message.h"
#include "tests/unit/compared_measurements.h"
#include "tests/unit/example_measurements.h"

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::plots {
namespace {

using analysis::Measurement;
using analysis::SampleClass;
using examples::make;
using examples::Offsets;
using examples::uniform;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

/// All texts of a laid out figure.
std::vector<std::string> texts_of(Figure figure) {
  lay_out(figure, Fonts::of_viewers);
  std::vector<std::string> texts;
  for (const PlacedText& text : figure.texts) texts.push_back(text.text);
  return texts;
}

/// A figure refers to no measurement, so that these may be temporary.
template <typename... Rest>
Figure drawn(Figure (*figure)(const Machines&, Rest...), const std::vector<Measurement>& list,
             std::type_identity_t<Rest>... rest) {
  return figure(output::group(list), rest...);
}

const Panel& only_panel(const Figure& figure) {
  return figure.blocks.at(0).panels.at(0);
}

OffsetAxis axis_of(const std::vector<Measurement>& list, std::int64_t most_bins = 100) {
  std::vector<output::Column> columns;
  for (const Measurement& m : list) columns.push_back({&m, 0, ""});
  return choose_axis(columns, most_bins);
}

TEST(OffsetAxis, HoldsTheTriggerAndAllButAFewFarSamples) {
  struct Case {
    std::vector<Offsets> levels;
    std::int64_t lowest, highest;  ///< of the axis, or farther out by `slack` at most
    std::int64_t slack, most_bins;
  };
  for (const Case& c : std::vector<Case>{{{{{1, 5000}}}, 0, 1, 12, 13},
                                         {{uniform(-200, 5000)}, -200, 5000, 100, 101},
                                         {{{{1, 9998}, {4000, 2}}}, 0, 1, 20, 20},
                                         {{{{0, 5000}}, uniform(1, 900)}, 0, 900, 20, 101}}) {
    std::vector<Measurement> list;
    for (const Offsets& offsets : c.levels) list.push_back(make({.offsets = offsets}));
    const OffsetAxis axis = axis_of(list);
    EXPECT_LE(axis.lowest, c.lowest);
    EXPECT_GE(axis.lowest, c.lowest - c.slack);
    EXPECT_GE(axis.highest, c.highest);
    EXPECT_LE(axis.highest, c.highest + c.slack);
    EXPECT_LE((axis.highest - axis.lowest + 1) / axis.width, c.most_bins);
  }
  const Measurement far = make({.offsets = {{1, 9998}, {4000, 2}}});
  EXPECT_EQ(bars_of(far, axis_of({far})).beyond, 2u);
  EXPECT_EQ(axis_of({make({.offsets = {{0, 9}}, .bin_width = 7})}).width, 7);
}

TEST(RoundUpNicely, GivesOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_EQ(round_up_nicely(0.0), 1);
  EXPECT_EQ(round_up_nicely(1.01), 2);
  EXPECT_EQ(round_up_nicely(51), 100);
  EXPECT_EQ(round_up_nicely(150000), 200000);
}

/// Samples of the bars by class: hit, skid, before, censored.
std::array<std::uint64_t, 4> samples_by_class(const Bars& bars) {
  std::array<std::uint64_t, 4> samples{};
  for (const Bar& bar : bars.bars)
    samples.at(static_cast<std::size_t>(bar.sample_class)) += bar.count;
  return samples;
}

TEST(Bars, HaveEverySampleOnceInItsClass) {
  Offsets offsets = uniform(-200, 5000);
  offsets[0] = 700;
  const Measurement m = make({.offsets = offsets});
  const OffsetAxis axis = axis_of({m});
  const Bars bars = bars_of(m, axis);
  EXPECT_THAT(samples_by_class(bars), ElementsAre(700u, 4750u, 200u, 250u));
  for (const Bar& bar : bars.bars) {
    EXPECT_EQ(bar.lo % axis.width, 0);
    EXPECT_LE(bar.bottom + bar.count, bars.highest);
  }
  EXPECT_EQ(bars.beyond, 0u);
}

TEST(Bars, OfHitsAreAloneAtTheLeftOfTheirBin) {
  const Measurement m = make({.offsets = {{-3, 7}, {0, 40}, {1, 30}, {9, 5}, {25, 4}}});
  const Bars bars = bars_of(m, {-20, 29, 10});
  ASSERT_EQ(bars.bars.size(), 4u);
  const auto sides = [&bars](std::size_t i) {
    return std::pair(bars.bars[i].left, bars.bars[i].right);
  };
  EXPECT_EQ(sides(0), std::pair(-10.5, -0.5));
  EXPECT_EQ(bars.bars[1].sample_class, SampleClass::hit);
  EXPECT_EQ(sides(1), std::pair(-0.5, 0.5));
  EXPECT_EQ(bars.bars[2].sample_class, SampleClass::skid);
  EXPECT_EQ(bars.bars[2].count, 35u);
  EXPECT_EQ(sides(2), std::pair(0.5, 9.5));
  EXPECT_EQ(sides(3), std::pair(19.5, 29.5));
  EXPECT_EQ(bars.bars[2].bottom, 0u) << "beside the hits, not on them";
  EXPECT_EQ(bars.highest, 40u);
  EXPECT_EQ(end_of_hits({-200, 799, 50}), 7.5) << "wide enough to be visible";
  EXPECT_EQ(end_of_hits({0, 4999, 50}), 24.5) << "half of the bin at most";
  // In bins of one instruction hits fill theirs.
  const Bars narrow = bars_of(m, {-3, 9, 1});
  EXPECT_EQ(std::pair(narrow.bars[1].left, narrow.bars[1].right), std::pair(-0.5, 0.5));
  EXPECT_EQ(narrow.beyond, 4u);
}

/// Triggers with `nops` after each.
Measurement several_triggers(const std::vector<std::size_t>& nops,
                             const std::vector<std::pair<std::size_t, Offsets>>& samples) {
  std::vector<analysis::TriggerBlock> blocks;
  std::vector<std::uint64_t> triggers;
  std::uint64_t next = 0x1000;
  for (const std::size_t count : nops) {
    blocks.push_back({examples::code_of(next, 1), examples::code_of(next + 1, count)});
    triggers.push_back(next);
    next += count + 1;
  }
  const auto map = analysis::TargetMap::of_target({}, blocks, {0x1000, next}, {});
  std::vector<analysis::LocatedCount> counts;
  for (const auto& [trigger, offsets] : samples) {
    for (const auto& [offset, count] : offsets) {
      const auto address = triggers.at(trigger) + static_cast<std::uint64_t>(offset);
      counts.push_back({analysis::Place::target, address, count, false});
    }
  }
  Measurement m = examples::begin({});
  examples::count(counts, &map, m.basis);
  complete(m);
  return m;
}

TEST(Bars, OfSeveralTriggersHaveTheCountsOfTheBreakdown) {
  // The runways are censored from 96, 191 and 951 on.
  const Measurement m = several_triggers(
      {100, 200, 1000},
      {{0, {{0, 5}, {95, 6}, {96, 7}}}, {1, {{96, 80}, {195, 9}}}, {2, {{96, 300}, {990, 2}}}});
  ASSERT_EQ(m.censored_from, 96);
  ASSERT_EQ(m.samples[SampleClass::censored], 18u);
  for (const std::int64_t width : {1, 10, 500}) {
    EXPECT_THAT(samples_by_class(bars_of(m, {0, 1499, width})), ElementsAre(5u, 386u, 0u, 18u))
        << width;
  }
}

TEST(HistogramFigure, StacksTheClassesOfABin) {
  const Figure figure = drawn(histogram_figure, {make({.offsets = {{0, 70}, {3, 20}}})}, {});
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.boxes, SizeIs(2));
  EXPECT_EQ(panel.boxes[0].fill.color, Color::green);
  EXPECT_EQ(panel.boxes[0].boxes.at(0).top, 70);
  EXPECT_EQ(panel.boxes[1].boxes.at(0).meaning.place, "none, offset +3");
  EXPECT_EQ(panel.boxes[1].boxes.at(0).meaning.value, "20 samples (22.22% of the located), skid");
  EXPECT_THAT(texts_of(figure), IsSupersetOf({"hit", "skid", "access"}));
}

TEST(HistogramFigure, OutlinesHitsApart) {
  const Figure figure = drawn(histogram_figure, {make({.offsets = {{0, 70}, {3, 20}, {900, 500}}})},
                              {Arrangement::overlaid});
  const auto& points = only_panel(figure).curves.at(0).points;
  EXPECT_THAT(points, IsSupersetOf({std::pair(-0.5, 70.0), std::pair(4.5, 70.0),
                                    std::pair(4.5, 20.0), std::pair(9.5, 20.0)}));
}

TEST(HistogramFigure, BeginsALogarithmicAxisBelowASingleSample) {
  const std::vector<Measurement> list{make({.offsets = {{0, 1000}, {3, 1}}})};
  const Figure bars = drawn(histogram_figure, list, {.logarithmic = true});
  EXPECT_TRUE(only_panel(bars).y.logarithmic);
  EXPECT_EQ(only_panel(bars).y.low, 0.5);
  EXPECT_EQ(only_panel(bars).boxes.at(1).boxes.at(0).bottom, 0.5);
  EXPECT_FALSE(only_panel(drawn(histogram_figure, list, {})).y.logarithmic);
  // Lines end on the axis where no sample is: 0 has no logarithm.
  const Figure overlaid = drawn(histogram_figure, list, {Arrangement::overlaid, true});
  EXPECT_THAT(only_panel(overlaid).curves.at(0).points,
              IsSupersetOf({std::pair(2.5, 0.5), std::pair(2.5, 1.0), std::pair(3.5, 1.0),
                            std::pair(3.5, 0.5)}));
}

using Points2D = std::vector<std::pair<double, double>>;

TEST(CdfFigure, RisesAtEachOffsetByItsShare) {
  const Figure figure =
      drawn(cdf_figure, {make({.offsets = {{-2, 10}, {0, 20}, {1, 40}, {400, 30}}})});
  const auto& points = only_panel(figure).curves.at(0).points;
  const Points2D steps{{-2, 0}, {-2, 10}, {0, 10},   {0, 30},
                       {1, 30}, {1, 70},  {400, 70}, {400, 100}};
  EXPECT_THAT(points, IsSupersetOf(steps));
  const Figure nothing = drawn(cdf_figure, {make({.kernel_samples = 12})});
  EXPECT_THAT(only_panel(nothing).curves, IsEmpty());
  EXPECT_EQ(only_panel(nothing).notes.at(0).text, "no located samples");
}

TEST(CdfFigure, RisesInWideBinsAtTheirLastOffset) {
  // Hits are known to be at 0 whatever the bin.
  const Figure figure =
      drawn(cdf_figure, {make({.offsets = {{0, 30}, {3, 20}, {12, 50}}, .bin_width = 10})});
  const Points2D steps{{0, 30}, {9, 30}, {9, 50}, {19, 50}, {19, 100}};
  EXPECT_THAT(only_panel(figure).curves.at(0).points, IsSupersetOf(steps));
}

TEST(CdfFigure, CountsSamplesOutsideTheAxis) {
  const auto figure = drawn(cdf_figure, {make({.offsets = {{-150, 30}, {1, 99940}, {400, 30}}})});
  const auto& points = only_panel(figure).curves.at(0).points;
  EXPECT_NEAR(points.front().second, 0.03, 1e-9);
  EXPECT_NEAR(points.back().second, 99.97, 1e-9);
  EXPECT_THAT(only_panel(figure).captions.at(0).text, HasSubstr(", 60 beyond"));
}

TEST(CdfFigure, DotsTheLineFromTheCensoredOffsetOn) {
  const std::vector<Measurement> list{make({.offsets = {{0, 30}, {4751, 20}, {4900, 50}}})};
  ASSERT_EQ(list[0].censored_from, 4751);
  const Figure figure = drawn(cdf_figure, list);
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.curves, SizeIs(2));
  EXPECT_EQ(panel.curves[0].points.back(), std::pair(4751.0, 30.0));
  EXPECT_THAT(panel.curves[1].points,
              IsSupersetOf(Points2D{{4751, 30}, {4751, 50}, {4900, 50}, {4900, 100}}));
  EXPECT_FALSE(panel.curves[1].style.dashes.empty());
  EXPECT_EQ(panel.notes.at(0).text, " censored ");
  EXPECT_EQ(panel.notes.at(0).x, 4751);
  EXPECT_EQ(panel.captions.at(0).text, "none:  100 samples, period 100, 70 censored");
}

TEST(BreakdownFigure, FillsBarsInTheOrderOfTheClasses) {
  auto m = make({.offsets = {{0, 50}, {-1, 125}}, .kernel_samples = 25});
  const Figure figure = drawn(breakdown_figure, {m});
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.boxes, SizeIs(3));
  EXPECT_EQ(panel.boxes[0].fill.color, fill_of(SampleClass::hit).color);
  EXPECT_EQ(panel.boxes[0].boxes.at(0).left, 0);
  EXPECT_EQ(panel.boxes[0].boxes.at(0).right, 25);
  EXPECT_EQ(panel.boxes[1].boxes.at(0).right, 87.5);
  EXPECT_EQ(panel.boxes[2].boxes.at(0).left, 87.5);
  EXPECT_EQ(panel.boxes[2].boxes.at(0).right, 100);
  EXPECT_EQ(panel.boxes[2].boxes.at(0).meaning.value, "25 samples (12.50% of those read)");
  EXPECT_THAT(only_panel(drawn(breakdown_figure, {make({})})).boxes, IsEmpty());
}

TEST(ClassFills, AreAllDifferent) {
  std::set<std::pair<Color, int>> fills;
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const Fill fill = fill_of(static_cast<SampleClass>(i));
    fills.emplace(fill.color, fill.pattern);
  }
  EXPECT_THAT(fills, SizeIs(analysis::kSampleClasses));
}

/// Two machines with an event in common, and one that only the second has.
std::vector<Measurement> two_machines() {
  std::vector<Measurement> list;
  for (const int level : {0, 2}) list.push_back(make({.level = level, .offsets = {{1, 100}}}));
  for (const int level : {0, 2}) {
    list.push_back(make({.level = level, .offsets = {{0, 100}}}));
    list.back().cpu.model_name = "Another CPU";
  }
  list.push_back(make({.event = "faults", .offsets = {{0, 9}}}));
  list.back().cpu.model_name = "Another CPU";
  return list;
}

TEST(FigureRows, AreOrderedByEventThenLevelThenMachine) {
  const auto list = two_machines();
  const auto events = rows_by_event(output::group(list));
  ASSERT_THAT(events, SizeIs(2));
  std::vector<std::string> labels;
  for (const Row& row : events[0].rows) labels.push_back(row.label);
  EXPECT_THAT(labels, ElementsAre("none  CPU 1", "none  CPU 2", "pp  CPU 1", "pp  CPU 2"));
  EXPECT_EQ(events[1].event, "faults");
  const std::vector<Measurement> one{list[0]};
  EXPECT_EQ(rows_by_event(output::group(one)).at(0).rows.at(0).label, "none");
}

TEST(FigureKinds, AreFoundByTheirNames) {
  for (const Kind kind : kKinds) EXPECT_EQ(kind_from(name_of(kind)), kind);
  EXPECT_FALSE(kind_from("pie"));
}

TEST(ForestFigure, ShowsRatiosAndWhatIsNotJudged) {
  auto list = two_machines();
  list.push_back(make({.level = 3, .kernel_samples = 5}));
  EXPECT_THAT(
      texts_of(drawn(forest_figure, list)),
      AllOf(Contains(StartsWith("CPU 2: Another CPU")), Contains(StartsWith("100%, 100 samples")),
            Contains("no judged sample, 5 samples, period 100")));
}

TEST(ForestFigure, HasTheIntervalAroundTheRatio) {
  const Figure figure = drawn(forest_figure, {make({.offsets = {{0, 50}, {1, 50}}})});
  const Point& point = only_panel(figure).points.at(0).points.at(0);
  EXPECT_DOUBLE_EQ(point.x, 50);
  EXPECT_NEAR(point.x - point.low, point.high - point.x, 1e-9);
  EXPECT_EQ(point.meaning.place, "access, none");
  EXPECT_EQ(point.meaning.value, "hit ratio 50.00% (40.38% to 59.62%)");
}

TEST(ForestFigure, OfAComparisonNamesSidesWithSamplesAndPeriods) {
  examples::Compared compared;
  compared.input("old.run").add(make({.offsets = {{0, 900}, {1, 100}}, .kernel_samples = 7}));
  compared.input("new.run");
  for (const int repeat : {1, 2}) {
    auto m = make({.offsets = {{0, 500}, {1, 500}}});
    m.repeat = repeat;
    m.synthetic = true;
    m.run = "new.run";
    if (repeat == 2) m.period.requested = 5000;
    compared.add(m);
  }
  EXPECT_THAT(
      texts_of(forest_figure(compared.compare(), compared.inputs)),
      AllOf(Contains(HasSubstr("1007 samples, period 100")), Contains("Hit ratios (SYNTHETIC)"),
            Contains(HasSubstr("2 runs, 2000 samples, several periods")),
            Contains(StartsWith("a old.run (baseline): Intel")),
            Contains(StartsWith("b new.run, synthetic: "))));
}

TEST(ForestFigure, OfAComparisonHasEverySideOrOfManyThoseThatDiffer) {
  const auto texts = [](const examples::Compared& compared) {
    return texts_of(forest_figure(compared.compare(), compared.inputs));
  };
  EXPECT_THAT(texts(examples::differing(16)),
              AllOf(Contains("Hit ratios (SYNTHETIC)"), Contains(HasSubstr("side-15.run")),
                    Contains("missing"), Contains("none  p"), Contains(HasSubstr("(worse)"))));
  EXPECT_THAT(texts(examples::differing(300)),
              AllOf(Contains(HasSubstr("of 300 sides at most 12")), Contains(EndsWith("  all")),
                    Contains(HasSubstr("side-299.run")), Contains(StartsWith("300 sides, ")),
                    Contains(HasSubstr("(worse)")), Not(Contains(HasSubstr("side-150.run")))));
  const Measurement nothing = make({.offsets = {}});
  EXPECT_THAT(texts(examples::one_each({nothing, nothing})),
              Contains(HasSubstr("no judged sample")));
}

TEST(BiasFigure, IsRefusedWithoutSeveralTriggers) {
  EXPECT_THAT(test::message_of<UsageError>([] {
                return drawn(bias_figure, {make({.offsets = {{0, 100}}})});
              }),
              AllOf(HasSubstr("--kind bias: no measurement with several triggers"),
                    HasSubstr("--triggers")));
}

TEST(DelayFigure, StepsUpAtTheDelaysOfRecords) {
  Measurement m = make({.level = 2, .offsets = {{0, 100}}});
  EXPECT_THROW(drawn(delay_figure, {m}), UsageError);
  m.basis.sample_pairs = analysis::SamplePairs{.iteration = 20, .delays = {}};
  for (const auto& [delay, count] : {std::pair(4, 90), {9, 10}}) {
    m.basis.sample_pairs->delays.add(delay, static_cast<std::uint64_t>(count));
  }
  m.delay = analysis::Delay{.low = 4, .high = 4, .predicted = 0.9, .p95 = 9};
  const Figure figure = drawn(delay_figure, {m, make({.offsets = {{0, 100}}})});
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.curves, SizeIs(1));
  EXPECT_THAT(panel.curves[0].points, ElementsAre(Pair(0, 0), Pair(4, 0), Pair(4, 90), Pair(9, 90),
                                                  Pair(9, 100), Pair(panel.x.high, 100)));
  EXPECT_GT(panel.x.high, 9);
}

/// Triggers that are directly after one another, after 3 instructions, and after 1023.
Measurement three_distances(int level, const std::vector<analysis::TriggerCount>& triggers) {
  Measurement m = make({.level = level, .offsets = {{0, 100}}});
  m.triggers = triggers;
  m.trigger_addresses = {1, 2, 3};
  m.basis.geometry->trigger_distances = {1, 4, 1024};
  return m;
}

TEST(BiasFigure, ShowsSharesByDistanceTheEvenOneAndTheModel) {
  Measurement pp = three_distances(2, {{40, 50}, {0, 0}, {50, 50}});
  pp.delay = analysis::Delay{.low = 2, .high = 4};
  const Measurement ppp = three_distances(3, {{30, 30}, {35, 35}, {35, 35}});
  const Figure figure = drawn(bias_figure, {pp, ppp, make({.level = 1, .offsets = {{0, 100}}})});
  ASSERT_THAT(figure.blocks.at(0).panels, SizeIs(1)) << "one for all levels of the event";
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.points, SizeIs(2));
  EXPECT_NE(panel.points[0].color, panel.points[1].color);
  EXPECT_TRUE(panel.points[0].upright);
  std::vector<double> shares;
  for (const Point& point : panel.points[0].points) {
    EXPECT_LE(point.low, point.y);
    EXPECT_GT(point.high, point.y);
    shares.push_back(point.y);
  }
  EXPECT_THAT(shares, ElementsAre(50, 0, 50));
  // log2(1 + instructions between), beside the other level.
  EXPECT_NEAR(panel.points[0].points.at(0).x, 10, 0.1);
  EXPECT_NEAR(panel.points[0].points.at(1).x, 0, 0.1);
  EXPECT_NEAR(panel.points[0].points.at(2).x, 2, 0.1);
  EXPECT_LT(panel.points[0].points.at(2).x, panel.points[1].points.at(2).x);
  EXPECT_EQ(panel.points[0].points.at(0).meaning.place,
            "pp, trigger 1, 1023 instructions after the one before");
  EXPECT_EQ(panel.points[0].points.at(0).meaning.value,
            "50 samples (50.00% of all), 40 of them hits");
  ASSERT_THAT(panel.curves, SizeIs(1)) << "of the level with a delay";
  EXPECT_THAT(panel.curves[0].points,
              ElementsAre(Pair(0, DoubleNear(0, 1e-9)), Pair(2, DoubleNear(200 / 3.0, 1e-9)),
                          Pair(10, DoubleNear(100 / 3.0, 1e-9))));
  ASSERT_THAT(panel.rules, SizeIs(1));
  EXPECT_NEAR(panel.rules[0].y1, 100 / 3.0, 1e-9);
  EXPECT_EQ(panel.x.tics.front().label, "0");
  EXPECT_EQ(panel.x.tics.front().at, 0);
  EXPECT_THAT(texts_of(figure), Contains("Which trigger samples fall on"));
  EXPECT_THAT(figure.remark, HasSubstr("without 1 measurement of one trigger"));
}

TEST(BiasFigure, HasNoEvenShareWhereTriggersAreUnequal) {
  Measurement m = three_distances(2, {{40, 50}, {0, 0}, {50, 50}});
  m.basis.equal_triggers = false;
  const Figure figure = drawn(bias_figure, {m});
  EXPECT_THAT(only_panel(figure).rules, IsEmpty());
  EXPECT_THAT(only_panel(figure).captions.at(0).text, HasSubstr("unequal rates"));
}

TEST(BiasFigure, ShowsThatNothingIsLocated) {
  const Figure figure = drawn(bias_figure, {three_distances(2, {{0, 0}, {0, 0}, {0, 0}})});
  EXPECT_THAT(only_panel(figure).points, IsEmpty());
  EXPECT_THAT(only_panel(figure).notes, SizeIs(1));
}

TEST(FigureHeads, NumberSeveralMachinesAndListTheirRuns) {
  auto list = two_machines();
  for (int i = 0; i < 16; ++i) {
    list.push_back(make({.offsets = {{1, 100}}}));
    list.back().run = "a-directory-with-a-long-name/of-many-runs/number-" + std::to_string(i);
  }
  for (Measurement& m : list) {
    m.triggers = {{10, 30}, {20, 70}};
    m.trigger_addresses = {1, 2};
    m.basis.geometry->trigger_distances = {5, 500};
  }
  const Machines machines = output::group(list);
  for (const Figure& figure :
       {histogram_figure(machines, {}), cdf_figure(machines), bias_figure(machines)}) {
    const auto texts = texts_of(figure);
    EXPECT_THAT(texts, AllOf(Contains(StartsWith("CPU 1: Intel(R) Core(TM) i7-6700HQ")),
                             Contains("CPU 1:  access"), Contains(StartsWith("CPU 2: Another CPU")),
                             Contains("CPU 2:  faults")));
    std::string all;
    for (const std::string& text : texts) all += text + "\n";
    for (int i = 0; i < 16; ++i) {
      EXPECT_THAT(all,
                  ::testing::ContainsRegex("of-many-runs/number-" + std::to_string(i) + "[;\n]"));
    }
  }
  const std::vector<Measurement> one{list[0]};
  EXPECT_THAT(texts_of(drawn(histogram_figure, one, {})), ::testing::Each(Not(HasSubstr("CPU 1"))));
}

}  // namespace
}  // namespace skid::plots
