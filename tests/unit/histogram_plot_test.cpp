#include "plots/characters.h"
#include "plots/figure.h"
#include "plots/figure_bins.h"
#include "plots/gnuplot_session.h"
#include "src/output/escape.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "tests/unit/example_measurements.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gnuplot-iostream.h>
#include <gtest/gtest.h>

namespace skid::plots {
namespace {

namespace fs = std::filesystem;
using analysis::Measurement;
using examples::make;
using examples::Offsets;
using examples::uniform;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A directory of the test's own, gone with it.
class HistogramPlot : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "skidscan-plot-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  fs::path directory_;
};

#define NEEDS_GNUPLOT() \
  if (!find_program("gnuplot")) GTEST_SKIP() << "gnuplot is not in PATH"

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void plot_histograms(const std::vector<Measurement>& list, const fs::path& file,
                     Arrangement arrangement = Arrangement::panels) {
  draw_figure(list, {.files = {file, {}}, .arrangement = arrangement});
}

std::vector<Measurement> four_levels() {
  std::vector<Measurement> list;
  list.push_back(make({.level = 0, .offsets = uniform(-20, 4900)}));
  list.push_back(make({.level = 1, .offsets = {{1, 5000}}}));
  list.push_back(make({.level = 2, .offsets = {{0, 4000}, {3, 1000}}}));
  list.push_back(make({.level = 3, .kernel_samples = 12}));
  return list;
}

TEST_F(HistogramPlot, DrawsEachFormatInBothArrangements) {
  NEEDS_GNUPLOT();
  const std::vector<std::pair<std::string, std::string>> formats{
      {".png", "\x89PNG\r\n\x1a\n"}, {".svg", "<?xml"}, {".pdf", "%PDF-"}};
  for (const auto& [extension, signature] : formats) {
    for (const Arrangement arrangement : {Arrangement::panels, Arrangement::overlaid}) {
      const fs::path file = directory_ / ("figure" + extension);
      plot_histograms(four_levels(), file, arrangement);
      EXPECT_THAT(content(file), StartsWith(signature));
      EXPECT_GT(fs::file_size(file), 5000u);
    }
  }
}

TEST_F(HistogramPlot, SaysWhatItShows) {
  NEEDS_GNUPLOT();
  const fs::path file = directory_ / "figure.svg";
  auto list = four_levels();
  list[1].synthetic = true;
  plot_histograms(list, file);
  const std::string svg = content(file);
  for (const char* text :
       {"access", "i7-6700HQ", "6.1.0-18-amd64", "period 100", "5000 samples", "synthetic",
        "offset from trigger (instructions)", "samples", "no located samples"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
}

TEST_F(HistogramPlot, NamesFromRecordingsRunNothing) {
  NEEDS_GNUPLOT();
  const std::string touch = "touch " + (directory_ / "owned").string();
  const std::vector<std::string> hostile{"`" + touch + "`",
                                         "'; system('" + touch + "'); '",
                                         "'\nsystem('" + touch + "')\n'",
                                         "'\n!" + touch + "\n",
                                         "\"; system(\"" + touch + "\")",
                                         "@macro \\' ''' \\",
                                         "x' at 0,0; set output '|" + touch + "'; #",
                                         "<script>&amp;</script>"};
  for (const std::string& name : hostile) {
    auto list = four_levels();
    for (Measurement& m : list) {
      m.event.label = m.event.recorded = m.cpu.model_name = m.kernel = m.run = name;
      m.cpu.hypervisor = name;
    }
    list[0].run = "other";
    for (const Arrangement arrangement : {Arrangement::panels, Arrangement::overlaid}) {
      plot_histograms(list, directory_ / "figure.svg", arrangement);
      EXPECT_THAT(files(), ::testing::ElementsAre("figure.svg")) << name;
      EXPECT_THAT(content(directory_ / "figure.svg"), Not(HasSubstr("<script>")));
    }
  }
}

TEST_F(HistogramPlot, PathsOfTheFigureRunNothing) {
  NEEDS_GNUPLOT();
  const fs::path file = directory_ / "fig'\n!touch owned\nure`touch owned`.png";
  plot_histograms(four_levels(), file);
  EXPECT_THAT(files(), ::testing::ElementsAre(file.filename().string()));
}

TEST_F(HistogramPlot, ReplacesAnOlderFigure) {
  NEEDS_GNUPLOT();
  const fs::path file = directory_ / "figure.png";
  std::ofstream(file) << "older";
  plot_histograms(four_levels(), file);
  EXPECT_THAT(content(file), StartsWith("\x89PNG"));
}

TEST_F(HistogramPlot, RefusesOtherFormats) {
  try {
    plot_histograms(four_levels(), directory_ / "figure.gif");
    FAIL() << "drawn";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(".png, .svg and .pdf"));
  }
}

TEST_F(HistogramPlot, LeavesNothingWhereItCannotWrite) {
  NEEDS_GNUPLOT();
  EXPECT_THROW(plot_histograms(four_levels(), directory_ / "missing" / "figure.png"), Error);
  EXPECT_THROW(plot_histograms({}, directory_ / "figure.png"), Error);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(HistogramPlot, RefusesMoreThanAnImageHolds) {
  std::vector<Measurement> list(400, make({.offsets = {{1, 5}}}));
  EXPECT_THROW(plot_histograms(list, directory_ / "figure.png"), Error);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(HistogramPlot, NamesThePackageWhenGnuplotIsMissing) {
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  ASSERT_EQ(setenv("PATH", directory_.c_str(), 1), 0);
  try {
    plot_histograms(four_levels(), directory_ / "figure.png");
    ADD_FAILURE() << "drawn";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("gnuplot-nox"));
  }
  ASSERT_EQ(setenv("PATH", path.c_str(), 1), 0);
}

TEST(GnuplotSession, PassesOnWhatGnuplotSays) {
  NEEDS_GNUPLOT();
  try {
    draw({"svg", ""}, [](gnuplotio::Gnuplot& gnuplot) { gnuplot << "plot nonsense(x)\n"; });
    FAIL() << "drawn";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("undefined function"));
  }
}

TEST(GnuplotSession, SurvivesAGnuplotThatEndsEarly) {
  NEEDS_GNUPLOT();
  const auto write = [](gnuplotio::Gnuplot& gnuplot) {
    gnuplot << "exit status 7\n";
    for (int i = 0; i < 100000 && gnuplot; ++i) gnuplot << "set title 'more and more'\n";
    gnuplot.flush();
  };
  try {
    draw({"svg", ""}, write);
    FAIL() << "drawn";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("exit status 7"));
  }
}

TEST(GnuplotSession, NamesAMissingTerminal) {
  NEEDS_GNUPLOT();
  try {
    draw({"nosuchterminal", ""}, [](gnuplotio::Gnuplot& gnuplot) { gnuplot << "plot x\n"; });
    FAIL() << "drawn";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no terminal nosuchterminal"));
  }
}

TEST(GnuplotString, HoldsNoQuoteThatCouldEndIt) {
  EXPECT_EQ(gnuplot_string("it's"), "'it\u2019s'");
  EXPECT_EQ(gnuplot_string("'; plot"), "'\u2019; plot'");
  EXPECT_EQ(gnuplot_string("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(gnuplot_string("a]]>b>"), "'a]]\\x3eb>'");
}

TEST(GnuplotString, HoldsNoCharacterThatXmlForbids) {
  EXPECT_EQ(gnuplot_string("a\ufffeb\uffffc"), "'a\\u{FFFE}b\\u{FFFF}c'");
}

TEST(DrawableText, IsEscapedWhereTheFontsLackACharacter) {
  const std::string seldom = "\u4e2d\U0001f9ff\U00013080\u0e01";
  EXPECT_EQ(drawable(seldom, Fonts::of_viewers), seldom);
  EXPECT_EQ(drawable(seldom, Fonts::of_drawers), "\\u{4E2D}\\u{1F9FF}\\u{13080}\\u{0E01}");
  const std::string usual = "a\u00e9\u03b1\u0436\u05d0\u0645\u2019\u2026\u2265\u2588 ~";
  EXPECT_EQ(drawable(usual, Fonts::of_drawers), usual);
  // Of these nobody has an agreed picture.
  for (const Fonts fonts : {Fonts::of_viewers, Fonts::of_drawers}) {
    EXPECT_EQ(drawable("\ue000\U0010fffd\ufdd0\U0001ffff\n", fonts),
              "\\u{E000}\\u{10FFFD}\\u{FDD0}\\u{1FFFF}\\x0a");
    EXPECT_EQ(drawable(drawable("\ue000\xff\u4e2d", fonts), fonts),
              drawable("\ue000\xff\u4e2d", fonts));
  }
}

// Strings of the characters that mean something to gnuplot, in no order a person would think of.
TEST(GnuplotString, IsOneStringToGnuplotWhateverItHolds) {
  NEEDS_GNUPLOT();
  const std::string alphabet = "'\"`\\@{}$#!;|\n\r\t%&^_~<> ax0";
  std::mt19937 random(17);
  std::vector<std::string> names{"'", "''", "'''", "\\", "\\'", "'\\", "`", "\"", "#", ""};
  for (int i = 0; i < 300; ++i) {
    std::string name;
    for (unsigned long length = random() % 12; length > 0; --length) {
      name += alphabet[random() % alphabet.size()];
    }
    names.push_back(name);
  }
  // gnuplot fails at the first that is anything but one string of that length.
  const auto write = [&names](gnuplotio::Gnuplot& gnuplot) {
    for (const std::string& name : names) {
      const std::string text = gnuplot_string(name);
      gnuplot << "set label " << text << " at 0,0 noenhanced\nunset label\n"
              << "text = " << text << "\nif (strlen(text) != " << output::display_width(text) - 2
              << ") exit status 9\n";
    }
    gnuplot << "plot x\n";
  };
  EXPECT_NO_THROW(draw({"svg", "noenhanced"}, write));
}

OffsetAxis axis_of(const std::vector<Measurement>& list, std::int64_t most_bins = 100) {
  std::vector<output::Column> columns;
  columns.reserve(list.size());
  for (const Measurement& m : list) columns.push_back({&m, 0, ""});
  return choose_axis(columns, most_bins);
}

TEST(FigureAxis, OfOneOffsetIsNarrowAndHoldsTheTrigger) {
  const OffsetAxis axis = axis_of({make({.offsets = {{1, 5000}}})});
  EXPECT_EQ(axis.width, 1);
  EXPECT_LE(axis.lowest, 0);
  EXPECT_GE(axis.highest, 1);
  EXPECT_LE(axis.highest - axis.lowest, 12);
}

TEST(FigureAxis, OfAFullRunwayHoldsItInFewBins) {
  const OffsetAxis axis = axis_of({make({.offsets = uniform(-200, 5000)})});
  EXPECT_LE(axis.lowest, -200);
  EXPECT_GE(axis.highest, 5000);
  EXPECT_LE((axis.highest - axis.lowest + 1) / axis.width, 101);
}

TEST(FigureAxis, LeavesOutAFewFarSamplesAndCountsThem) {
  const Measurement m = make({.offsets = {{1, 9998}, {4000, 2}}});
  const OffsetAxis axis = axis_of({m});
  EXPECT_LT(axis.highest, 20);
  EXPECT_EQ(bars_of(m, axis).beyond, 2u);
}

TEST(FigureAxis, IsSharedByTheLevels) {
  const OffsetAxis axis =
      axis_of({make({.offsets = {{0, 5000}}}), make({.level = 1, .offsets = uniform(1, 900)})});
  EXPECT_GE(axis.highest, 900);
}

TEST(FigureBars, HoldEverySampleOnceAndKeepClassesApart) {
  Offsets offsets = uniform(-200, 5000);
  offsets[0] = 700;
  const Measurement m = make({.offsets = offsets});
  const OffsetAxis axis = axis_of({m});
  const Bars bars = bars_of(m, axis);
  std::uint64_t by_class[kBarClasses] = {};
  for (const Bar& bar : bars.bars) {
    by_class[static_cast<std::size_t>(bar.bar_class)] += bar.count;
    EXPECT_EQ(bar.lo % axis.width, 0);
    EXPECT_LE(bar.bottom + bar.count, bars.highest);
  }
  EXPECT_EQ(by_class[static_cast<std::size_t>(BarClass::before)], 200u);
  EXPECT_EQ(by_class[static_cast<std::size_t>(BarClass::hit)], 700u);
  EXPECT_EQ(by_class[static_cast<std::size_t>(BarClass::skid)], 4750u);
  EXPECT_EQ(by_class[static_cast<std::size_t>(BarClass::censored)], 250u);
  EXPECT_EQ(bars.beyond, 0u);
}

TEST(FigureBars, OfWideRecordedBinsStillShowTheHits) {
  const Measurement m = make({.offsets = {{0, 30}, {3, 20}, {12, 5}}, .bin_width = 10});
  const Bars bars = bars_of(m, axis_of({m}));
  ASSERT_EQ(bars.bars.size(), 3u);
  EXPECT_EQ(bars.bars[0].bar_class, BarClass::hit);
  EXPECT_EQ(bars.bars[0].count, 30u);
  EXPECT_EQ(bars.bars[1].bottom, 0u) << "beside the hits";
  EXPECT_EQ(bars.bars[1].count, 20u);
  EXPECT_EQ(bars.bars[2].lo, 10);
  EXPECT_EQ(bars.highest, 30u) << "hits and skids do not add up to a bar";
}

TEST(FigureBars, OfHitsStandAloneAtTheLeftOfTheirBin) {
  const Measurement m = make({.offsets = {{-3, 7}, {0, 40}, {1, 30}, {9, 5}, {25, 4}}});
  const Bars bars = bars_of(m, {-20, 29, 10});
  ASSERT_EQ(bars.bars.size(), 4u);
  const auto sides = [&bars](std::size_t i) {
    return std::pair(bars.bars[i].left, bars.bars[i].right);
  };
  EXPECT_EQ(sides(0), std::pair(-10.5, -0.5));
  EXPECT_EQ(bars.bars[1].bar_class, BarClass::hit);
  EXPECT_EQ(sides(1), std::pair(-0.5, 0.5));
  EXPECT_EQ(bars.bars[2].bar_class, BarClass::skid);
  EXPECT_EQ(bars.bars[2].count, 35u);
  EXPECT_EQ(sides(2), std::pair(0.5, 9.5));
  EXPECT_EQ(sides(3), std::pair(19.5, 29.5));
  EXPECT_EQ(end_of_hits({-200, 799, 50}), 7.5) << "as far as can be seen";
  EXPECT_EQ(end_of_hits({0, 4999, 50}), 24.5) << "half of the bin at most";
  // Of bins of one instruction hits fill theirs.
  const Bars narrow = bars_of(m, {-3, 9, 1});
  EXPECT_EQ(std::pair(narrow.bars[1].left, narrow.bars[1].right), std::pair(-0.5, 0.5));
  EXPECT_EQ(narrow.beyond, 4u);
}

/// Triggers with `nops` behind each, one after the other.
Measurement several_triggers(const std::vector<std::size_t>& nops,
                             const std::vector<std::pair<std::size_t, Offsets>>& samples) {
  const auto code = [](std::uint64_t begin, std::size_t count) {
    analysis::CodeRegion region;
    region.range = {begin, begin + count};
    for (std::size_t i = 0; i < count; ++i) region.starts.push_back(begin + i);
    return region;
  };
  std::vector<analysis::TriggerBlock> trigger_blocks;
  std::vector<std::uint64_t> triggers;
  std::uint64_t next = 0x1000;
  for (const std::size_t count : nops) {
    trigger_blocks.push_back({code(next, 1), code(next + 1, count)});
    triggers.push_back(next);
    next += count + 1;
  }
  const auto map = analysis::TargetMap::of_target({}, trigger_blocks, {0x1000, next}, {});
  std::vector<analysis::LocatedCount> counts;
  for (const auto& [trigger, offsets] : samples) {
    for (const auto& [offset, count] : offsets) {
      const auto address = triggers.at(trigger) + static_cast<std::uint64_t>(offset);
      counts.push_back({analysis::Place::target, address, count, false});
    }
  }
  Measurement m = examples::begin({});
  complete(m, examples::tally(counts, &map), &map, analysis::NotJudged::none, false, std::nullopt,
           1);
  return m;
}

TEST(FigureBars, OfSeveralTriggersHoldAsManyOfEachClassAsTheLedger) {
  // The runways are censored from 96, 191 and 951 on.
  const Measurement m = several_triggers(
      {100, 200, 1000},
      {{0, {{0, 5}, {95, 6}, {96, 7}}}, {1, {{96, 80}, {195, 9}}}, {2, {{96, 300}, {990, 2}}}});
  ASSERT_EQ(m.censored_from, 96);
  ASSERT_EQ(m.samples[analysis::SampleClass::censored], 18u);
  for (const std::int64_t width : {1, 10, 500}) {
    std::uint64_t by_class[kBarClasses] = {};
    for (const Bar& bar : bars_of(m, {0, 1499, width}).bars) {
      by_class[static_cast<std::size_t>(bar.bar_class)] += bar.count;
    }
    EXPECT_EQ(by_class[static_cast<std::size_t>(BarClass::hit)], 5u) << width;
    EXPECT_EQ(by_class[static_cast<std::size_t>(BarClass::skid)], 386u) << width;
    EXPECT_EQ(by_class[static_cast<std::size_t>(BarClass::censored)], 18u) << width;
  }
}

TEST(RoundUpNicely, GivesOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_EQ(round_up_nicely(0.0), 1);
  EXPECT_EQ(round_up_nicely(1.01), 2);
  EXPECT_EQ(round_up_nicely(51), 100);
  EXPECT_EQ(round_up_nicely(150000), 200000);
}

}  // namespace
}  // namespace skid::plots
