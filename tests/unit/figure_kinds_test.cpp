// The numbers behind each kind of figure, and scripts of figures.
#include "plots/bias_plot.h"
#include "plots/cdf_plot.h"
#include "plots/class_fill.h"
#include "plots/cumulative.h"
#include "plots/figure.h"
#include "plots/figure_rows.h"
#include "plots/forest_plot.h"
#include "plots/heatmap_plot.h"
#include "plots/histogram_plot.h"
#include "plots/ledger_plot.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/compared_measurements.h"
#include "tests/unit/example_measurements.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::plots {
namespace {

using analysis::Ledger;
using analysis::Measurement;
using analysis::SampleClass;
using examples::make;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<std::pair<std::int64_t, double>> steps_of(const Measurement& measurement) {
  std::vector<std::pair<std::int64_t, double>> steps;
  for (const Step& step : cumulative_shares(measurement)) {
    steps.emplace_back(step.offset, step.share);
  }
  return steps;
}

TEST(CumulativeShares, RiseAtEachOffsetByItsShare) {
  const auto m = make({.offsets = {{-2, 10}, {0, 20}, {1, 40}, {4900, 30}}});
  EXPECT_THAT(steps_of(m), ElementsAre(Pair(-2, 0.1), Pair(0, 0.3), Pair(1, 0.7), Pair(4900, 1.0)));
  EXPECT_THAT(steps_of(make({.kernel_samples = 12})), IsEmpty());
}

TEST(CumulativeShares, OfWideBinsHoldFromTheirLastOffsetOn) {
  // Hits are known to lie at 0 whatever the bin.
  const auto m = make({.offsets = {{0, 30}, {3, 20}, {12, 50}}, .bin_width = 10});
  EXPECT_THAT(steps_of(m), ElementsAre(Pair(0, 0.3), Pair(9, 0.5), Pair(19, 1.0)));
}

TEST(CumulativeShares, CountWhatLiesOutsideTheHistogram) {
  auto m = make({.offsets = {{1, 50}}});
  m.histogram.underflow = 30;
  m.histogram.overflow = 20;
  EXPECT_THAT(steps_of(m), ElementsAre(Pair(m.lowest_offset, 0.3), Pair(1, 0.8)));
}

TEST(CumulativeFigure, DotsTheLineFromTheCensoredOffsetOn) {
  const std::vector<Measurement> list{make({.offsets = {{0, 30}, {4751, 20}, {4900, 50}}})};
  ASSERT_EQ(list[0].censored_from, 4751);
  const std::string commands = draw_cumulative(output::group(list)).commands;
  EXPECT_NE(commands.find("\n0 30\n4751 30\ne\n4751 30\n4751 50\n4900 100\n"), std::string::npos);
  EXPECT_NE(commands.find("set label 'censored' at 4751,"), std::string::npos);
  EXPECT_NE(commands.find("100 samples, period 100, 70 censored'"), std::string::npos);
}

TEST(Heat, IsTheShareOfAllLocatedSamplesAlsoOfThoseBeyond) {
  const auto m = make({.offsets = {{-5, 1}, {0, 10}, {1, 20}, {3, 19}, {4000, 50}}});
  const OffsetAxis axis{-10, 9, 2};
  const auto heat = heat_of(m, axis);
  ASSERT_THAT(heat, SizeIs(3));
  EXPECT_EQ(heat[0].lo, -6);
  EXPECT_DOUBLE_EQ(heat[0].share, 0.01);
  EXPECT_EQ(heat[1].lo, 0);
  EXPECT_DOUBLE_EQ(heat[1].share, 0.3);
  EXPECT_EQ(heat[2].lo, 2);
  EXPECT_DOUBLE_EQ(heat[2].share, 0.19);
  EXPECT_THAT(heat_of(make({.kernel_samples = 3}), axis), IsEmpty());
}

TEST(ClassShares, FillTheBarInTheOrderOfTheClasses) {
  Ledger ledger;
  ledger.add(SampleClass::kernel, 25);
  ledger.add(SampleClass::hit, 50);
  ledger.add(SampleClass::before, 125);
  const auto shares = class_shares(ledger);
  ASSERT_THAT(shares, SizeIs(3));
  EXPECT_EQ(shares[0].sample_class, SampleClass::hit);
  EXPECT_DOUBLE_EQ(shares[0].from, 0);
  EXPECT_DOUBLE_EQ(shares[0].to, 0.25);
  EXPECT_EQ(shares[1].sample_class, SampleClass::before);
  EXPECT_DOUBLE_EQ(shares[1].to, 0.875);
  EXPECT_EQ(shares[2].sample_class, SampleClass::kernel);
  EXPECT_DOUBLE_EQ(shares[2].from, 0.875);
  EXPECT_DOUBLE_EQ(shares[2].to, 1);
  EXPECT_THAT(class_shares({}), IsEmpty());
}

TEST(ClassFills, AreAllDifferent) {
  std::set<std::pair<std::string, int>> fills;
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

TEST(FigureRows, LieByEventThenLevelThenMachine) {
  const auto list = two_machines();
  const auto machines = output::group(list);
  const auto events = rows_by_event(machines);
  ASSERT_THAT(events, SizeIs(2));
  std::vector<std::string> labels;
  for (const Row& row : events[0].rows) labels.push_back(row_label(row, false));
  EXPECT_THAT(labels, ElementsAre("none  CPU 1", "none  CPU 2", "pp  CPU 1", "pp  CPU 2"));
  EXPECT_EQ(events[1].event, "faults");
  EXPECT_EQ(row_label(events[1].rows.at(0), true), "none");
}

TEST(FigureKinds, HaveTheNamesThatTheyAreFoundBy) {
  for (const Kind kind : kKinds) EXPECT_EQ(kind_from(name_of(kind)), kind);
  EXPECT_FALSE(kind_from("pie"));
}

TEST(LogarithmicHistogram, BeginsBelowASingleSample) {
  const std::vector<Measurement> list{make({.offsets = {{0, 1000}, {3, 1}}})};
  const auto machines = output::group(list);
  const std::string commands = draw_histograms(machines, {.logarithmic = true}).commands;
  EXPECT_THAT(commands, AllOf(HasSubstr("set logscale y"), HasSubstr("set yrange [0.5:")));
  EXPECT_THAT(draw_histograms(machines, {}).commands, Not(HasSubstr("logscale")));
  // Lines go down to the axis where no sample is: a logarithm of 0 would break them.
  const std::string overlaid = draw_histograms(machines, {Arrangement::overlaid, true}).commands;
  EXPECT_NE(overlaid.find("\n2.5 0.5\n2.5 1\n3.5 1\n3.5 0.5\n"), std::string::npos);
}

TEST(ForestOfMeasurements, TellsRatiosAndWhatIsNotJudged) {
  auto list = two_machines();
  list.push_back(make({.level = 3, .kernel_samples = 5}));
  const std::string commands = draw_forest(output::group(list)).commands;
  EXPECT_THAT(commands, AllOf(HasSubstr("'CPU 2: Another CPU"), HasSubstr("'100%, 100 samples"),
                              HasSubstr("'no judged sample, 5 samples, period 100'")));
}

TEST(BiasFigure, IsRefusedWithoutSeveralTriggers) {
  const std::vector<Measurement> list{make({.offsets = {{0, 100}}})};
  try {
    draw_figure(list, {.files = {"figure.png", {}}, .kind = Kind::bias});
    FAIL() << "drawn";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("--kind bias: found 1 measurement with one trigger"),
                                    HasSubstr("--triggers")));
  }
  EXPECT_FALSE(std::filesystem::exists("figure.png"));
}

TEST(BiasFigure, HoldsSharesAndTheEvenOne) {
  auto m = make({.offsets = {{0, 100}}});
  m.triggers = {{10, 30}, {20, 70}, {0, 0}, {100, 100}};
  m.trigger_addresses = {1, 2, 3, 4};
  const std::vector<Measurement> list{m, make({.level = 1, .offsets = {{0, 100}}})};
  test::TemporaryDirectory directory;
  draw_figure(list, {.files = {{}, directory / "bias.gp"}, .kind = Kind::bias});
  std::ifstream file(directory / "bias.gp");
  const std::string script{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(script, AllOf(HasSubstr("\n1 15 0.8\n2 35 0.8\n4 50 0.8\ne\n"),
                            HasSubstr("\n1 5 0.8\n2 10 0.8\n4 50 0.8\ne\n"),
                            HasSubstr("first 25.00000 to graph 1, first 25.00000")));
  EXPECT_THAT(script, AllOf(Not(HasSubstr("'p:  ")), HasSubstr("'Which trigger samples fall on'"),
                            HasSubstr("'without 1 measurement of one trigger'")));
}

TEST(BlockFigures, NumberSeveralMachinesAndTellAllOfTheirRuns) {
  auto list = two_machines();
  for (int i = 0; i < 16; ++i) {
    list.push_back(make({.offsets = {{1, 100}}}));
    list.back().run = "a-directory-with-a-long-name/of-many-runs/number-" + std::to_string(i);
  }
  for (Measurement& m : list) {
    m.triggers = {{10, 30}, {20, 70}};
    m.trigger_addresses = {1, 2};
  }
  const auto machines = output::group(list);
  for (const Drawing& drawing :
       {draw_histograms(machines, {}), draw_cumulative(machines), draw_bias(machines)}) {
    EXPECT_THAT(
        drawing.commands,
        AllOf(HasSubstr("'CPU 1: Intel(R) Core(TM) i7-6700HQ"), HasSubstr("'CPU 1:  access'"),
              HasSubstr("'CPU 2: Another CPU"), HasSubstr("'CPU 2:  faults'")));
    // A line ends between words, so that a name may begin the next.
    for (int i = 0; i < 16; ++i) {
      const std::string name = "of-many-runs/number-" + std::to_string(i);
      EXPECT_TRUE(drawing.commands.find(name + ";") != std::string::npos ||
                  drawing.commands.find(name + "'") != std::string::npos)
          << name;
    }
  }
  const std::vector<Measurement> one{list[0]};
  EXPECT_THAT(draw_histograms(output::group(one), {}).commands, Not(HasSubstr("'CPU 1")));
}

TEST(HistogramFigure, OutlinesHitsApart) {
  const std::vector<Measurement> list{make({.offsets = {{0, 70}, {3, 20}, {900, 500}}})};
  const std::string overlaid =
      draw_histograms(output::group(list), {Arrangement::overlaid}).commands;
  EXPECT_NE(overlaid.find("\n-0.5 70\n4.5 70\n4.5 20\n9.5 20\n"), std::string::npos);
}

TEST(ForestOfAComparison, TellsSamplesPeriodsAndWhichSidesAreSynthetic) {
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
  const std::string commands = draw_forest(compared.compare(), compared.inputs).commands;
  EXPECT_THAT(
      commands,
      AllOf(HasSubstr("1007 samples, period 100'"), HasSubstr("'Hit ratios (SYNTHETIC)'"),
            HasSubstr("2 runs, 2000 samples, several periods'"),
            HasSubstr("'a old.run (baseline): Intel"), HasSubstr("'b new.run, synthetic: ")));
}

/// What a script holds beyond ASCII, but for what figures write themselves.
std::string foreign_text(std::string script) {
  for (const std::string own : {"\u2019", "\u2026"}) {
    for (std::size_t at = 0; (at = script.find(own, at)) != std::string::npos;) {
      script.erase(at, own.size());
    }
  }
  std::erase_if(script, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return script;
}

TEST(FigureKinds, HoldInPngAndPdfNoCharacterThatFontsMayLack) {
  const std::string name = "\u4e2d\U0001f9ff\U00013080\ue000\uffff";
  examples::Compared compared;
  for (int i = 0; i < 4; ++i) {
    auto m = make({.event = name, .offsets = {{0, 900}, {1, 100}}});
    m.run = m.kernel = m.cpu.model_name = name + std::to_string(i % 3);
    m.cpu.hypervisor = m.cpu.microcode = name;
    m.triggers = {{10, 30}, {20, 70}};
    m.trigger_addresses = {1, 2};
    compared.input(m.run).add(m);
  }
  test::TemporaryDirectory directory;
  const auto script = [&directory] {
    std::ifstream file(directory / "figure.gp");
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  const FigureFiles files{{}, directory / "figure.gp"};
  for (const Kind kind : kKinds) {
    draw_figure(compared.measurements, {.files = files, .kind = kind});
    EXPECT_EQ(foreign_text(script()), "") << name_of(kind);
    EXPECT_NE(script().find("\\u{4E2D}\\u{1F9FF}\\u{13080}\\u{E000}\\u{FFFF}"), std::string::npos)
        << name_of(kind);
  }
  draw_comparison(compared.compare(), compared.inputs, files);
  EXPECT_EQ(foreign_text(script()), "");
}

TEST(FigureScript, NamesTheOutputSoThatGnuplotOpensAFile) {
  const Drawing drawing{100, 50, "plot x"};
  EXPECT_THAT(script_of(drawing, "skid.svg"),
              AllOf(StartsWith("#"), HasSubstr("\nset terminal svg "),
                    HasSubstr("\nset output './skid.svg'\n"), HasSubstr("\nplot x\n")));
  EXPECT_THAT(script_of(drawing, "|touch owned.png"),
              HasSubstr("\nset output './|touch owned.png'\n"));
  EXPECT_THAT(script_of(drawing, "/tmp/a'\n!b.pdf"),
              AllOf(HasSubstr("\nset terminal pdfcairo "),
                    HasSubstr("\nset output './a\u2019\\x0a!b.pdf'\n")));
}

TEST(FigureScript, TakesNoGnuplotAndNoNameOfAFigure) {
  const auto list = two_machines();
  test::TemporaryDirectory directory;
  EXPECT_THROW(draw_figure(list, {.files = {{}, directory / "figure.png"}}), UsageError);
  EXPECT_FALSE(std::filesystem::exists(directory / "figure.png"));
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  ASSERT_EQ(setenv("PATH", directory.path().c_str(), 1), 0);
  EXPECT_NO_THROW(draw_figure(list, {.files = {{}, directory / "figure.gp"}}));
  ASSERT_EQ(setenv("PATH", path.c_str(), 1), 0);
  EXPECT_TRUE(std::filesystem::exists(directory / "figure.gp"));
}

TEST(FigureKinds, RefuseMoreThanAnImageHolds) {
  std::vector<Measurement> list;
  for (int i = 0; i < 2500; ++i) {
    list.push_back(make({.event = "e" + std::to_string(i % 3), .offsets = {{1, 5}}}));
    list.back().triggers = {{1, 1}, {1, 1}};
  }
  for (const Kind kind : kKinds) {
    EXPECT_THROW(draw_figure(list, {.files = {{}, "figure.gp"}, .kind = kind}), Error)
        << name_of(kind);
  }
  EXPECT_FALSE(std::filesystem::exists("figure.gp"));
}

}  // namespace
}  // namespace skid::plots
