// The content of each kind of figure, as its gnuplot script has it.
#include "analysis/basis.h"
#include "analysis/delay.h"
#include "analysis/measurement.h"
#include "analysis/sample_class.h"
#include "plots/axes.h"
#include "plots/drawing.h"
#include "plots/figure.h"
#include "plots/figure_kind.h"
#include "plots/figure_options.h"
#include "plots/kinds.h"
#include "plots/labels.h"
#include "plots/selection.h"
#include "src/audit/audit.h"
#include "src/audit/block_bias.h"
#include "src/measure/run_comparison.h"
#include "src/output/report/grouping.h"
#include "src/support/error.h"
#include "tests/support/error_message.h"
#include "tests/support/text.h"
#include "tests/unit/compared_measurements.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
namespace skid::plots {
namespace {

using analysis::Measurement;
using namespace examples;
using ::testing::DoubleNear;

Figure drawn(Figure (*kind)(const Machines&, const FigureOptions&),
             const std::vector<Measurement>& measurements, const FigureOptions& options = {}) {
  return kind(output::group(measurements), options);
}

const Panel& only_panel(const Figure& figure) {
  EXPECT_THAT(figure.panels, SizeIs(1));
  return figure.panels.at(0);
}

/// The rows of data in which there are located samples.
Rows filled(const Panel& panel) {
  Rows rows = panel.series.at(0).rows;
  std::erase_if(rows, [](const auto& row) {
    return std::all_of(row.begin() + 1, row.begin() + 1 + analysis::kLocatedClasses,
                       [](double samples) { return samples == 0; });
  });
  return rows;
}

std::vector<Measurement> two_machines() {
  std::vector<Measurement> list;
  for (const int level : {0, 2}) list.push_back(make({.level = level, .offsets = {{1, 100}}}));
  for (const int level : {0, 2, 3}) {
    list.push_back(make({.level = level, .offsets = {{0, 100}, {1500, 100}}}));
    list.back().cpu.model_name = "Another CPU";
  }
  list.push_back(make({.event = "faults", .offsets = {{0, 9}}}));
  list.back().cpu.model_name = "Another CPU";
  return list;
}

TEST(HistogramFigure, HasBarsOfItsSamplesByClass) {
  const Figure figure = drawn(histogram_figure, {make({.offsets = {{-2, 10}, {0, 70}, {3, 20}}})});
  // The left side, then hits, skids, and samples before the trigger; last the right side.
  EXPECT_THAT(filled(only_panel(figure)),
              ElementsAre(ElementsAre(-2.5, 0, 0, 10, 0, -1.5), ElementsAre(-0.5, 70, 0, 0, 0, 0.5),
                          ElementsAre(2.5, 0, 20, 0, 0, 3.5)));
  EXPECT_THAT(figure.keys, SizeIs(3));
}

TEST(HistogramFigure, HasBinsOfWholeRetirementGroups) {
  Offsets groups;
  for (int offset = 4; offset < 400; offset += 4) {
    groups[offset] = static_cast<std::uint64_t>(20000 - (offset - 200) * (offset - 200) / 2);
  }
  const Measurement m = make({.offsets = groups});
  ASSERT_TRUE(m.retirement_groups && m.retirement_groups->strongest == 4);
  for (const double width : {300.0, 400.0, 900.0, 2000.0}) {
    const Figure figure = drawn(histogram_figure, {m}, {.width = width});
    const Rows& bins = only_panel(figure).series.at(0).rows;
    const double bin = bins.back()[5] - bins.back()[0];
    EXPECT_EQ(static_cast<int>(bin) % 4, 0) << width << ": " << bin;
  }
}

TEST(HistogramFigure, KeepsBinsThatWereChosen) {
  const Figure figure =
      drawn(histogram_figure, {make({.offsets = uniform(1, 4000), .bin_width = 80})});
  EXPECT_THAT(filled(only_panel(figure)), SizeIs(51));
  EXPECT_THAT(only_panel(figure).title, StartsWith("access, bins of 80\n"));
}

TEST(HistogramFigure, NamesTheBinsOfEachEvent) {
  const Figure figure =
      drawn(histogram_figure, {make({.event = "access", .offsets = {{1, 100}}}),
                               make({.event = "cpu-clock", .offsets = uniform(-20, 4000)})});
  ASSERT_THAT(figure.panels, SizeIs(2));
  EXPECT_THAT(figure.panels[0].title, StartsWith("access\n"));
  EXPECT_THAT(figure.panels[1].title, StartsWith("cpu-clock, bins of "));
}

TEST(HistogramFigure, PlacesLevelsOfMachinesSideBySideOnOneAxis) {
  const Figure figure = drawn(histogram_figure, two_machines());
  ASSERT_EQ(figure.columns, 2u);
  ASSERT_THAT(figure.panels, SizeIs(8));
  EXPECT_THAT(figure.panels[0].title, StartsWith(" \nCPU 1\nnone:"));
  EXPECT_THAT(figure.panels[1].title, StartsWith(" \nCPU 2\nnone:"));
  EXPECT_THAT(figure.panels[0].marks, Contains(HasSubstr("'access, bins of 20'")));
  EXPECT_EQ(figure.panels[0].commands[1], figure.panels[3].commands[1]);
  EXPECT_THAT(figure.panels[0].commands[1], StartsWith("set xrange"));
  EXPECT_THAT(figure.panels[2].title, StartsWith("pp:"));
  // The first machine has no level 3, and no faults.
  EXPECT_THAT(figure.panels[4].marks, ElementsAre(HasSubstr("'not measured'")));
  EXPECT_THAT(figure.panels[5].title, StartsWith("ppp:"));
  EXPECT_THAT(figure.panels[6].marks,
              ElementsAre(HasSubstr("'not measured'"), HasSubstr("'faults' at character 3")));
  EXPECT_THAT(figure.panels[7].title, StartsWith(" \nCPU 2\nnone:"));
}

TEST(HistogramFigure, OverlaysLevelsAsOutlinesWithTheirNames) {
  const Figure figure = drawn(histogram_figure,
                              {make({.level = 0, .offsets = {{1, 50}, {2, 100}}}),
                               make({.level = 2, .offsets = {{0, 200}}})},
                              {.arrangement = Arrangement::overlaid, .caption = false});
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.series, SizeIs(2));
  EXPECT_THAT(panel.series[0].rows, IsSupersetOf(Rows{{0.5, 0, 50, 0, 0}, {1.5, 0, 100, 0, 0}}));
  EXPECT_THAT(panel.series[1].rows, IsSupersetOf(Rows{{-0.5, 200, 0, 0, 0}, {0.5, 0, 0, 0, 0}}));
  EXPECT_THAT(panel.series[0].plot, EndsWith("ls 1 lw 1.8")) << "wider than what is over it";
  EXPECT_THAT(panel.series[1].plot, EndsWith("ls 3"));
  EXPECT_EQ(panel.title, "access");
  EXPECT_THAT(panel.marks,
              Contains(AllOf(StartsWith("set label 'pp' at graph "), HasSubstr("tc rgb ink[3]"))));
}

TEST(HistogramFigure, HasABarOfItsOwnForHits) {
  const Figure figure =
      drawn(histogram_figure, {make({.offsets = {{0, 50}, {1, 9}, {2, 7}}, .bin_width = 2})});
  EXPECT_THAT(filled(only_panel(figure)),
              ElementsAre(ElementsAre(-0.5, 50, 0, 0, 0, 0.5), ElementsAre(0.5, 0, 9, 0, 0, 1.5),
                          ElementsAre(1.5, 0, 7, 0, 0, 3.5)));
}

TEST(HistogramFigure, HasTwoLevelsInARowOnNarrowPaper) {
  std::vector<Measurement> levels;
  for (int level = 0; level < 4; ++level)
    levels.push_back(make({.level = level, .offsets = {{0, 9}}}));
  const Figure narrow = drawn(histogram_figure, levels, {.width = 317});
  EXPECT_EQ(narrow.columns, 2U);
  ASSERT_THAT(narrow.panels, SizeIs(4));
  EXPECT_THAT(narrow.panels[0].title, StartsWith(" \nnone:"));
  EXPECT_THAT(narrow.panels[0].marks, Contains(HasSubstr("'access' at character 3")));
  EXPECT_THAT(narrow.panels[1].title, StartsWith(" \np:"));
  EXPECT_THAT(narrow.panels[2].title, StartsWith("pp:  hits 100%\n9 samples"));
  EXPECT_EQ(drawn(histogram_figure, levels).columns, 1U);
  EXPECT_EQ(drawn(histogram_figure, levels, {.width = 250}).columns, 1U) << "no room for two";
  levels.pop_back();
  EXPECT_THAT(drawn(histogram_figure, levels, {.width = 317}).panels, SizeIs(4)) << "one empty";
  levels.pop_back();
  EXPECT_EQ(drawn(histogram_figure, levels, {.width = 317}).columns, 1U);
}

TEST(HistogramFigure, OverlaysLevelsThatDoNotFitOnAPageBelowEachOther) {
  std::vector<Measurement> list;
  for (const char* event : {"access", "execute", "faults", "r20d1", "r81d0"}) {
    for (int level = 0; level < 4; ++level)
      list.push_back(make({.event = event, .level = level, .offsets = {{0, 9}}}));
  }
  EXPECT_THAT(drawn(histogram_figure, list, {.width = 640}).panels, SizeIs(6)) << "one empty";
  EXPECT_THAT(
      drawn(histogram_figure, list, {.arrangement = Arrangement::panels, .width = 640}).panels,
      SizeIs(24));
  list.resize(16);
  EXPECT_THAT(drawn(histogram_figure, list, {.width = 640}).panels, SizeIs(16));
}

TEST(HistogramFigure, OutlinesHitsApartFromTheirBin) {
  const Figure figure =
      drawn(histogram_figure, {make({.offsets = {{0, 50}, {1, 9}, {4000, 1}}, .bin_width = 80})},
            {.arrangement = Arrangement::overlaid});
  EXPECT_THAT(only_panel(figure).series.at(0).rows,
              IsSupersetOf(Rows{{-0.5, 50, 0, 0, 0}, {0.5, 0, 9, 0, 0}, {79.5, 0, 0, 0, 0}}));
}

TEST(HistogramFigure, ShowsFarOffsetsOnALogarithmicAxisOfBothSigns) {
  const Figure figure = drawn(
      histogram_figure,
      {examples::of_offsets(examples::counts({{-1'000'000, 5000}, {0, 5000}, {1'000'000, 5000}}),
                            {}, {-2'000'000, 2'000'000, 1'900'000})},
      {.arrangement = Arrangement::overlaid});
  const Panel& panel = only_panel(figure);
  EXPECT_THAT(panel.commands.at(0), HasSubstr("set nonlinear x"));
  EXPECT_THAT(panel.commands.at(1), HasSubstr("[-"));
  EXPECT_THAT(panel.commands.at(2), HasSubstr("xtics add (10.**k, -10.**k)"));
}

TEST(CdfFigure, RisesToAllSamplesAndMarksCensoredOnes) {
  const Figure figure = drawn(cdf_figure, {make({.offsets = {{0, 30}, {3, 40}, {4900, 30}}})});
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.series, SizeIs(1));
  EXPECT_THAT(panel.series[0].plot, HasSubstr("with steps ls 1"));
  EXPECT_THAT(panel.series[0].rows, IsSupersetOf(Rows{{0, 30}, {3, 70}, {4900, 100}}));
  EXPECT_THAT(panel.marks, Contains(HasSubstr("set label 'censored' at ")));
  EXPECT_THAT(panel.title, HasSubstr("30 censored"));
  EXPECT_THAT(panel.marks, Not(Contains(HasSubstr("set label 'none'")))) << "there is no other";
  EXPECT_THAT(only_panel(drawn(cdf_figure, {make({.kernel_samples = 12})})).series, IsEmpty());
}

TEST(CdfFigure, NamesEachLineBesideItAndNoneOverAnother) {
  // Levels 2 and 3 are one line at 0, from which 0 and 1 are far.
  const Offsets early{{100, 60}, {200, 140}}, late{{5000, 60}, {9000, 140}};
  const Figure figure =
      drawn(cdf_figure,
            {make({.level = 0, .offsets = early}), make({.level = 1, .offsets = late}),
             make({.level = 2, .offsets = {{0, 200}}}), make({.level = 3, .offsets = {{0, 200}}})});
  const Panel& panel = only_panel(figure);
  Axis axis{.logarithmic = true};
  ASSERT_EQ(
      std::sscanf(panel.commands.at(1).c_str(), "set xrange [%lf:%lf]", &axis.low, &axis.high), 2);
  struct Name {
    double left, right, up;
  };
  std::map<std::string, Name> names;
  for (const std::string& mark : panel.marks) {
    char name[8] = {}, side[8] = {};
    double across = 0, up = 0;
    constexpr double kWidth = 0.03;
    if (std::sscanf(mark.c_str(), "set label '%7[a-z]' at graph %lf,graph %lf %7s", name, &across,
                    &up, side) == 4) {
      const bool is_left = std::string_view(side) == "left";
      names[name] = {is_left ? across : across - kWidth, is_left ? across + kWidth : across, up};
    }
  }
  ASSERT_THAT(names, SizeIs(4));
  EXPECT_NEAR(names["pp"].left, axis.place_of(0), 0.05);
  EXPECT_NEAR(names["ppp"].left, axis.place_of(0), 0.05);
  EXPECT_NEAR(names["none"].left, axis.place_of(150), 0.1);
  EXPECT_NEAR(names["p"].left, axis.place_of(7000), 0.1);
  for (const auto& [name, one] : names) {
    for (const auto& [text, other] : names) {
      const bool is_apart =
          one.left >= other.right || other.left >= one.right || std::abs(one.up - other.up) > 0.06;
      EXPECT_TRUE(name == text || is_apart) << name << ' ' << text;
    }
  }
}

TEST(CdfFigure, RisesInWideBinsAtTheirLastOffset) {
  // Hits are known to be at 0 whatever the bin.
  const Figure figure =
      drawn(cdf_figure, {make({.offsets = {{0, 30}, {3, 20}, {12, 50}}, .bin_width = 10})});
  EXPECT_THAT(only_panel(figure).series.at(0).rows,
              IsSupersetOf(Rows{{0, 30}, {9, 50}, {19, 100}}));
}

TEST(CdfFigure, CountsSamplesOutsideTheAxis) {
  const auto figure = drawn(cdf_figure, {make({.offsets = {{-150, 30}, {1, 99940}, {400, 30}}})});
  const Rows& points = only_panel(figure).series.at(0).rows;
  EXPECT_NEAR(points.front()[1], 0.03, 1e-9);
  EXPECT_NEAR(points.back()[1], 99.97, 1e-9);
  EXPECT_THAT(only_panel(figure).title, HasSubstr(", 60 beyond"));
}

TEST(BreakdownFigure, FillsBarsInTheOrderOfTheClasses) {
  auto m = make({.offsets = {{0, 50}, {-1, 125}}, .kernel_samples = 25});
  const Figure figure = drawn(breakdown_figure, {m});
  EXPECT_THAT(filled(only_panel(figure)),
              ElementsAre(ElementsAre(2, 50, 0, 125, 0, 0, 0, 0, 25, 0, 0)));
  ASSERT_THAT(figure.keys, SizeIs(3)) << "those that there are";
  EXPECT_EQ(figure.keys[1].name, "before the trigger");
  EXPECT_THAT(figure.keys[1].style, HasSubstr("class[3]"));
  EXPECT_THAT(drawn(breakdown_figure, {make({})}).keys, IsEmpty());
}

TEST(ForestFigure, FillsMarksThatHaveAVerdict) {
  auto none = make({.event = "loads", .level = 0, .offsets = {{0, 5000}, {1, 5000}}});
  auto pp = make({.event = "loads", .level = 2, .offsets = {{0, 10000}}});
  ASSERT_EQ(verdict_of(none), analysis::Verdict::not_judged);
  ASSERT_EQ(verdict_of(pp), analysis::Verdict::kept);
  const Figure figure = drawn(forest_figure, {none, pp});
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.series, SizeIs(2));
  EXPECT_THAT(panel.series[0].plot, HasSubstr("pt 6"));
  const auto& mark = panel.series[0].rows.at(0);
  EXPECT_EQ(mark[0], 50);
  EXPECT_NEAR(mark[0] - mark[2], mark[3] - mark[0], 1e-9);
  EXPECT_THAT(panel.series[1].plot, HasSubstr("pt 7"));
  EXPECT_EQ(panel.series[1].rows.at(0)[0], 100);
}

TEST(ForestFigure, OfAComparisonHasEverySideOrOfManyThoseThatDiffer) {
  const auto texts = [](const examples::Compared& compared) {
    std::string all;
    const Figure figure = forest_figure(compared.compare(), compared.inputs, {});
    for (const std::string& mark : only_panel(figure).marks) all += mark + '\n';
    for (const std::string& paragraph : figure.head) all += paragraph + '\n';
    return all + figure.note;
  };
  EXPECT_THAT(texts(examples::differing(16)),
              AllOf(HasSubstr("side-15.run"), HasSubstr("'not measured'"), HasSubstr("'none  p'"),
                    HasSubstr("(worse)"), Not(HasSubstr("'none'"))));
  EXPECT_THAT(texts(examples::differing(300)),
              AllOf(HasSubstr("side-299.run"), HasSubstr("of 300 sides at most 12"),
                    Not(HasSubstr("side-150.run"))));
  const Measurement nothing = make({.offsets = {}});
  EXPECT_THAT(texts(examples::one_each({nothing, nothing})), HasSubstr("no judged sample"));
}

TEST(ForestFigure, ShowsWholePartsOfTextsAndFewerTicsOnSmallPaper) {
  const examples::Compared compared = examples::differing(2);
  const auto drawn_at = [&](double width) {
    const Figure figure =
        forest_figure(compared.compare(), compared.inputs, {.width = width, .height = {}});
    std::string all;
    for (const std::string& mark : only_panel(figure).marks) all += mark + '\n';
    for (const std::string& command : figure.commands) all += command + '\n';
    return all;
  };
  EXPECT_THAT(drawn_at(900), AllOf(HasSubstr("samples, period"), HasSubstr("set xtics 20")));
  EXPECT_THAT(drawn_at(576),
              AllOf(HasSubstr("%, median"), Not(HasSubstr("period")), Not(HasSubstr("…"))));
  EXPECT_THAT(drawn_at(200), HasSubstr("set xtics 50"));
}

TEST(FigureSelection, KeepsTheEventsAndLevelsThatAreNamed) {
  auto list = two_machines();
  const Machines machines = group_selected(list, {.events = {"access"}, .levels = {2}});
  ASSERT_THAT(machines, SizeIs(2));
  ASSERT_THAT(machines[1].events, SizeIs(1));
  ASSERT_THAT(machines[1].events[0].columns, SizeIs(1));
  EXPECT_EQ(machines[1].events[0].columns[0].level, 2);
  EXPECT_THROW(group_selected(list, {.events = {"cycles"}}), Error);
  std::vector<Measurement> none;
  EXPECT_THROW(group_selected(none, {}), Error);
}

TEST(FigureSelection, LeavesOutMeasurementsWithoutASample) {
  const Measurement empty = make({.event = "execute", .offsets = {}});
  auto list = two_machines();
  list.push_back(empty);
  const Machines machines = group_selected(list, {});
  EXPECT_THAT(test::mapped(machines[0].events, &output::EventGroup::event), ElementsAre("access"));
  EXPECT_THAT(test::mapped(machines[0].unsampled, &output::EventGroup::event),
              ElementsAre("execute"));
  std::vector unsampled{empty};
  EXPECT_THAT(test::message_of([&] { group_selected(unsampled, {}); }),
              HasSubstr("no measurement has a sample"));
}

TEST(FigureSelection, NamesRawCodesAsTheCatalogueDoes) {
  auto m = make({.event = "r81d0", .offsets = {{0, 5}}});
  m.event.type = 4;
  m.event.name = "MEM_INST_RETIRED.ALL_LOADS";
  EXPECT_EQ(event_name(m), "MEM_INST_RETIRED.ALL_LOADS");
  std::vector list{m};
  EXPECT_THAT(group_selected(list, {.events = {"MEM_INST_RETIRED.ALL_LOADS"}}), SizeIs(1));
  m.event.name.clear();
  EXPECT_EQ(event_name(m), "r81d0");
  m.event.label = "resource_stalls.any:u";
  m.event.name = "RESOURCE_STALLS.ANY";
  EXPECT_EQ(event_name(m), "resource_stalls.any:u");
  EXPECT_EQ(event_name(make({.offsets = {{0, 5}}})), "access");
}

TEST(FigureHeads, NumberSeveralMachinesAndListTheirRuns) {
  auto list = two_machines();
  list.push_back(make({.offsets = {{1, 100}}}));
  list.back().run = "other.run";
  const Figure figure = drawn(cdf_figure, list);
  EXPECT_THAT(figure.head, ElementsAre(AllOf(StartsWith("CPU 1: Intel(R) Core(TM) i7-6700HQ"),
                                             HasSubstr("b: other.run")),
                                       StartsWith("CPU 2: Another CPU")));
  list.front().synthetic = true;
  EXPECT_EQ(drawn(cdf_figure, list, {.title = "mine"}).title, "mine (SYNTHETIC)");
}

TEST(FigureKinds, AreFoundByTheirNames) {
  for (const Kind kind : kKinds) EXPECT_EQ(value_named<Kind>(name_of(kind)), kind);
  EXPECT_FALSE(value_named<Kind>("pie"));
}

TEST(DelayFigure, StepsUpAtTheDelaysOfRecords) {
  Measurement m = make({.level = 2, .offsets = {{0, 100}}});
  EXPECT_THROW(drawn(delay_figure, {m}), ValueError);
  m.basis.sample_pairs = analysis::SamplePairs{.iteration = 20, .delays = {}};
  for (const auto& [delay, count] : {std::pair(4, 90), {9, 10}}) {
    m.basis.sample_pairs->delays.add(delay, static_cast<std::uint64_t>(count));
  }
  m.delay = analysis::Delay{.low = 4, .high = 4, .predicted = 0.9, .p95 = 9};
  const Figure figure = drawn(delay_figure, {m, make({.offsets = {{0, 100}}})});
  ASSERT_THAT(only_panel(figure).series, SizeIs(1));
  EXPECT_THAT(only_panel(figure).series[0].rows, IsSupersetOf(Rows{{0, 0}, {4, 90}, {9, 100}}));
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
  const Figure figure = drawn(bias_figure, {pp, make({.level = 1, .offsets = {{0, 100}}})});
  const Panel& panel = only_panel(figure);
  ASSERT_THAT(panel.series, SizeIs(2)) << "points, and the line of the delay";
  // Instructions between, share, ends of its interval.
  EXPECT_THAT(panel.series[0].rows,
              ElementsAre(ElementsAre(1023, 50, DoubleNear(40.4, 0.1), DoubleNear(59.6, 0.1)),
                          ElementsAre(0, 0, 0, DoubleNear(3.7, 0.1)),
                          ElementsAre(3, 50, DoubleNear(40.4, 0.1), DoubleNear(59.6, 0.1))));
  EXPECT_THAT(panel.series[1].rows, ElementsAre(ElementsAre(1023, DoubleNear(100 / 3.0, 1e-9)),
                                                ElementsAre(0, DoubleNear(0, 1e-9)),
                                                ElementsAre(3, DoubleNear(200 / 3.0, 1e-9))));
  EXPECT_THAT(panel.marks, Contains(HasSubstr("first 33.33333333 to")));
  EXPECT_THAT(figure.note, HasSubstr("without 1 measurement of one trigger"));
}

TEST(BiasFigure, HasNoEvenShareWhereTriggersAreUnequal) {
  Measurement m = three_distances(2, {{40, 50}, {0, 0}, {50, 50}});
  m.basis.equal_triggers = false;
  const Figure figure = drawn(bias_figure, {m});
  EXPECT_THAT(only_panel(figure).marks, IsEmpty());
  EXPECT_THAT(only_panel(figure).title, HasSubstr("unequal rates"));
  EXPECT_THAT(test::message_of<ValueError>([] {
                return drawn(bias_figure, {make({.offsets = {{0, 100}}})});
              }),
              "figure bias: no measurement with several triggers at known distances (1 other); "
              "record a target with several");
}

/// An audit of one event with blocks of these counts.
audit::Audit audit_of(const std::vector<std::vector<std::uint64_t>>& counts) {
  std::vector<audit::BlockFinding> blocks;
  std::uint64_t address = 0x1000;
  for (const auto& of_block : counts) {
    audit::BlockFinding& block = blocks.emplace_back();
    block.function = "work";
    block.samples.range = {address, address + 0x100};
    for (const std::uint64_t samples : of_block) {
      block.samples.places.push_back({address += 8, samples});
    }
  }
  audit::Audit audit;
  audit.cpu.model_name = "a CPU";
  audit::EventAudit& event = audit.events.emplace_back();
  event.identity.label = "all_loads";
  event.level = 2;
  event.bias = audit::judge_blocks(std::move(blocks), {{}}, 100);
  return audit;
}

TEST(AuditFigure, ShowsTheSamplesOfABlockAgainstTheEvenCount) {
  const Figure figure = audit_figure({audit_of({{51, 1614, 3341, 1, 0, 0, 0}, {100, 100}})}, {});
  ASSERT_THAT(figure.panels, SizeIs(2));
  const Panel& panel = figure.panels[0];
  EXPECT_THAT(panel.title, AllOf(HasSubstr("all_loads, pp\nwork at 0x1000"), HasSubstr("biased")));
  EXPECT_THAT(figure.panels[1].title, StartsWith("work")) << "of the same event";
  EXPECT_THAT(panel.series.at(0).rows,
              IsSupersetOf(Rows{{1, 51}, {2, 1614}, {3, 3341}, {4, 1}, {5, 0}}));
  EXPECT_THAT(panel.marks.at(0), HasSubstr("first 715.2857143 to"));
  EXPECT_THAT(panel.commands, Contains(HasSubstr("'0x1008' 1")));
}

TEST(AuditFigure, IsRefusedWithoutJudgedBlocks) {
  EXPECT_THROW(audit_figure({audit_of({})}, {}), Error);
}

}  // namespace
}  // namespace skid::plots
