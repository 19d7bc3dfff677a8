// Figures as files: formats, scripts, names of recordings, and failures of gnuplot.
#include "analysis/delay.h"
#include "analysis/measurement.h"
#include "plots/figure.h"
#include "plots/figure_kind.h"
#include "plots/figure_options.h"
#include "plots/gnuplot_text.h"
#include "src/machine/file_tree.h"
#include "src/measure/run_comparison.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/support/only_path.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/compared_measurements.h"

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Measurement;
using namespace examples;
using ::testing::UnorderedElementsAre;

class FigureFile : public ::testing::Test {
 protected:
  std::vector<std::string> files() const { return test::names_in(directory_.path()); }
  std::string content(const std::string& name) const {
    return read_file(directory_ / name, 1 << 24);
  }
  FigureFiles named(const std::string& plot, const std::string& script = {}) const {
    return {plot.empty() ? fs::path() : directory_ / plot,
            script.empty() ? fs::path() : directory_ / script};
  }
  /// The message of the error that draws nothing.
  std::string error_of(const std::vector<Measurement>& list, const std::string& plot) const {
    return test::message_of([&] { draw_figure(list, {.files = named(plot)}); });
  }

  test::TemporaryDirectory directory_;
};

/// The same with gnuplot.
class DrawnFigure : public FigureFile {
 protected:
  void SetUp() override { SKIP_WITHOUT("gnuplot"); }
};

void draw(const examples::Compared& compared, const FigureFiles& files) {
  draw_figure(compared.compare(), compared.inputs, {.files = files});
}

/// So that each kind of figure shows it.
void suit_all_kinds(Measurement& m) {
  m.triggers = {{10, 30}, {20, 70}};
  m.trigger_addresses = {1, 2};
  m.basis.geometry->trigger_distances = {1, 500};
  m.basis.sample_pairs = analysis::SamplePairs{.distances = {1, 500}, .counts = {0, 9, 1, 0}};
  m.delay = analysis::Delay{.low = 1, .high = 1, .p95 = 500};
}

std::vector<Measurement> four_levels() {
  std::vector<Measurement> list{make({.level = 0, .offsets = uniform(-20, 4900)}),
                                make({.level = 1, .offsets = {{1, 5000}}}),
                                make({.level = 2, .offsets = {{0, 4000}, {3, 1000}}}),
                                make({.level = 3, .kernel_samples = 12})};
  for (Measurement& m : list) suit_all_kinds(m);
  return list;
}

TEST_F(DrawnFigure, HasTheFormatOfItsExtension) {
  for (const auto& [name, signature] : {std::pair{"f.png", "\x89PNG\r\n\x1a\n"},
                                        std::pair{"f.svg", "<?xml"}, std::pair{"f.pdf", "%PDF-"}}) {
    draw_figure(four_levels(), {.files = named(name)});
    EXPECT_THAT(content(name), StartsWith(signature));
    EXPECT_GT(content(name).size(), 5000u);
    draw(examples::differing(2), named(name));
    EXPECT_THAT(content(name), StartsWith(signature));
  }
}

TEST_F(DrawnFigure, MayHaveATitleOfSpaces) {
  draw_figure(four_levels(), {.files = named("f.svg"), .title = " "});
  EXPECT_THAT(content("f.svg"), StartsWith("<?xml"));
}

TEST_F(DrawnFigure, HasTheTextsOfItsModel) {
  auto list = four_levels();
  list[1].synthetic = true;
  draw_figure(list,
              {.files = named("f.svg"), .arrangement = Arrangement::overlaid, .logarithmic = true});
  const std::string overlaid = content("f.svg");
  draw_figure(list, {.files = named("f.svg")});
  for (const std::string& svg : {overlaid, content("f.svg")}) {
    for (const char* text : {"access", "i7-6700HQ", "6.1.0-18-amd64", "period 100", "5000 samples",
                             "synthetic", "offset from trigger (instructions)", ">samples<"}) {
      EXPECT_NE(svg.find(text), std::string::npos) << text;
    }
  }
  EXPECT_THAT(content("f.svg"), HasSubstr("no located samples"));
}

TEST_F(DrawnFigure, EqualsTheFigureOfItsScript) {
  for (const Kind kind : kKinds) {
    draw_figure(four_levels(),
                {.files = named("f.png", "f.gp"), .kind = kind, .logarithmic = true});
    const std::string png = content("f.png");
    fs::remove(directory_ / "f.png");
    const auto redrawn = run_program({"gnuplot", "f.gp"}, directory_.path());
    EXPECT_TRUE(redrawn.code.success()) << name_of(kind) << ": " << redrawn.err;
    EXPECT_EQ(redrawn.err, "") << name_of(kind);
    EXPECT_TRUE(content("f.png") == png) << name_of(kind);
  }
}

/// The relative luminance of a colour, as WCAG 2.1 defines it.
double luminance(unsigned color) {
  double sum = 0;
  for (const auto& [shift, weight] : {std::pair{16, 0.2126}, {8, 0.7152}, {0, 0.0722}}) {
    const double part = (color >> shift & 0xffU) / 255.0;
    sum += weight * (part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

TEST_F(FigureFile, HasNamesOfLinesThatCanBeReadOnWhite) {
  draw_figure(four_levels(), {.files = named("", "f.gp")});
  const std::string script = content("f.gp");
  const std::size_t begin = script.find("array ink[5] = ");
  ASSERT_NE(begin, std::string::npos);
  const std::string inks = script.substr(begin, script.find('\n', begin) - begin);
  std::size_t colors = 0;
  for (std::size_t at = 0; (at = inks.find('#', at)) != std::string::npos; ++colors, ++at) {
    const auto color = static_cast<unsigned>(std::stoul(inks.substr(at + 1, 6), nullptr, 16));
    EXPECT_GE(1.05 / (luminance(color) + 0.05), 4.5) << inks.substr(at, 7);
  }
  EXPECT_EQ(colors, 4U) << "and black";
}

TEST_F(FigureFile, IsNotWrittenWithNothingInIt) {
  auto nothing_located = four_levels();
  nothing_located.erase(nothing_located.begin(), nothing_located.begin() + 3);
  EXPECT_THAT(error_of(nothing_located, "f.svg"),
              HasSubstr("nothing to draw: no sample has an offset"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(DrawnFigure, OfAPageNamesItsEventAndCpu) {
  const auto list = four_levels();
  EXPECT_THAT(svg_of(output::group(list), {.kind = Kind::forest, .id_prefix = "x-"}),
              HasSubstr("<title>Hit ratios: access, " + list.front().cpu.model_name + "</title>"));
}

TEST_F(DrawnFigure, IsAnElementOfAPageWithItsOwnIds) {
  auto list = four_levels();
  list[0].event.label = list[1].event.label = "a <b> & fill=\"black\"";
  for (const Kind kind : kKinds) {
    const std::string svg = svg_of(output::group(list),
                                   {.kind = kind, .title = "loads & <stores>", .id_prefix = "x7-"});
    EXPECT_THAT(svg, StartsWith("<svg"));
    EXPECT_NE(svg.find("<title>loads &amp; &lt;stores></title>"), std::string::npos);
    EXPECT_EQ(svg.find("gnuplot_"), std::string::npos) << name_of(kind);
    EXPECT_EQ(svg.find("'#gp"), std::string::npos) << name_of(kind);
    for (const char* own : {" id='gp", " style=", "<script", "<?xml"}) {
      EXPECT_EQ(svg.find(own), std::string::npos) << name_of(kind) << own;
    }
    if (!find_program("xmllint")) continue;
    directory_.write("page.html", "<html>" + svg + "</html>");
    const auto parsed = run_program({"xmllint", "--noout", "page.html"}, directory_.path());
    EXPECT_EQ(parsed.err, "") << name_of(kind);
  }
}

TEST_F(DrawnFigure, RunsNothingFromNames) {
  const std::vector<std::string> hostile{"`touch owned`",
                                         "'; system('touch owned'); '",
                                         "'\nsystem('touch owned')\n'",
                                         "'\n!touch owned\n",
                                         "\"; system(\"touch owned\")",
                                         "@macro \\' ''' \\",
                                         "x\\",
                                         "@m {/=50 big} x_2 %s",
                                         "x' at 0,0; set output '|touch owned'; #",
                                         "e\ne\n!touch owned",
                                         "<script>&amp;</script>",
                                         "\ufffe\uffff\ue000\u4e2d",
                                         "\x1b[31m\u202e$d << EOD"};
  examples::Compared compared;
  for (const std::string& name : hostile) {
    auto m = examples::named_everywhere(name);
    suit_all_kinds(m);
    compared.input(name).add(m);
    m.run = "other";
    compared.input("other").add(m);
  }
  const auto check = [&](const std::string& what) {
    const std::string svg = content("f.svg");
    EXPECT_THAT(svg, AllOf(Not(HasSubstr("<script>")), Not(HasSubstr("\x1b")),
                           Not(HasSubstr("\u202e")), Not(HasSubstr("\uffff"))))
        << what;
    EXPECT_NE(svg.find("$d &lt;&lt; EOD"), std::string::npos) << what;
    const auto redrawn = run_program({"gnuplot", "f.gp"}, directory_.path());
    EXPECT_TRUE(redrawn.code.success()) << what << ": " << redrawn.err;
    EXPECT_THAT(files(), UnorderedElementsAre("f.svg", "f.gp")) << what;
  };
  for (const Kind kind : kKinds) {
    draw_figure(compared.measurements, {.files = named("f.svg", "f.gp"), .kind = kind});
    check(std::string(name_of(kind)));
  }
  draw(compared, named("f.svg", "f.gp"));
  check("comparison");
}

TEST_F(DrawnFigure, RunsNothingFromItsPath) {
  const std::string name = "|fig'\n!touch owned\nure`touch owned`";
  draw_figure(four_levels(), {.files = named(name + ".png", name + ".gp")});
  EXPECT_THAT(files(), UnorderedElementsAre(name + ".png", name + ".gp"));
  EXPECT_TRUE(run_program({"gnuplot", "./" + name + ".gp"}, directory_.path()).code.success());
  EXPECT_FALSE(fs::exists(directory_ / "owned"));
}

TEST_F(DrawnFigure, IsNotLeftWhereItCannotBeWritten) {
  EXPECT_THROW(draw_figure(four_levels(), {.files = named("missing/figure.png")}), Error);
  EXPECT_THROW(draw_figure(std::vector<Measurement>(), {.files = named("figure.png")}), Error);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(FigureFile, RefusesOtherExtensions) {
  EXPECT_THROW(draw_figure(four_levels(), {.files = named("f.gif")}), ValueError);
  EXPECT_THROW(draw(examples::differing(2), named("f.gif")), ValueError);
  for (const char* name : {"f.gif", "directory"}) {
    EXPECT_THAT(error_of(four_levels(), name),
                HasSubstr("not the name of a figure; expected .png, .svg or .pdf"));
  }
  EXPECT_THROW(draw_figure(four_levels(), {.files = named("", "figure.png")}), ValueError);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(FigureFile, RefusesMoreThanAnImageHolds) {
  std::vector<Measurement> list;
  for (int i = 0; i < 2500; ++i) {
    list.push_back(make({.offsets = {{1, 5}}}));
    suit_all_kinds(list.back());
  }
  for (const Kind kind : kKinds) {
    EXPECT_THROW(draw_figure(list, {.files = named("", "figure.gp"), .kind = kind}), Error)
        << name_of(kind);
  }
  examples::Compared compared;
  for (const char* input : {"a", "b"}) {
    compared.input(input);
    for (int i = 0; i < 1000; ++i) {
      compared.add(make({.event = "e" + std::to_string(i), .offsets = {{0, 10}}}));
    }
  }
  EXPECT_THROW(draw(compared, named("", "figure.gp")), Error);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(FigureFile, NeedsGnuplotForPlotsOnly) {
  const test::OnlyPath nothing(directory_.path());
  draw_figure(four_levels(), {.files = named("", "f.gp")});
  EXPECT_THAT(content("f.gp"), HasSubstr("\nset output './f.png'\n"));
  EXPECT_THAT(error_of(four_levels(), "figure.png"), HasSubstr("gnuplot-nox"));
  EXPECT_THAT(files(), ElementsAre("f.gp"));
}

TEST_F(FigureFile, ReportsTheMessageOfAFailedGnuplot) {
  const test::TemporaryDirectory programs;
  const auto error_of_gnuplot = [&](const std::string& commands) {
    fs::permissions(programs.write("gnuplot", "#!/bin/sh\n" + commands), fs::perms::owner_all);
    const test::OnlyPath only(programs.path());
    return error_of(four_levels(), "figure.svg");
  };
  EXPECT_THAT(error_of_gnuplot("echo 'plot nonsense(x)\n     ^\n\"figure.gp\" line 7: undefined "
                               "function: nonsense' >&2; exit 1"),
              AllOf(HasSubstr("exit status 1"), HasSubstr("line 7: undefined function: nonsense")));
  EXPECT_THAT(error_of_gnuplot("echo '\"f.gp\" line 5: unknown or ambiguous terminal type' >&2"),
              HasSubstr("cannot draw .svg files; install the package gnuplot-nox"));
  EXPECT_THAT(error_of_gnuplot("printf half > figure.svg; exit 7"), HasSubstr("exit status 7"));
  EXPECT_THAT(error_of_gnuplot("exit 0"), HasSubstr("drew nothing"));
  EXPECT_THAT(files(), IsEmpty());
}

/// A script without the characters that figures write themselves and those of ASCII.
std::string foreign_text(std::string script) {
  for (const std::string own : {"\u2019", "\u2026"}) {
    for (std::size_t at = 0; (at = script.find(own, at)) != std::string::npos;) {
      script.erase(at, own.size());
    }
  }
  std::erase_if(script, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return script;
}

TEST_F(FigureFile, EscapesInPngAndPdfWhatFontsMayLack) {
  const std::string name = "\u4e2d\U0001f9ff\U00013080\ue000\uffff";
  examples::Compared compared;
  for (int i = 0; i < 4; ++i) {
    auto m = examples::named_everywhere(name);
    m.run = m.kernel = m.cpu.model_name = name + std::to_string(i % 3);
    suit_all_kinds(m);
    compared.input(m.run).add(m);
  }
  for (const Kind kind : kKinds) {
    draw_figure(compared.measurements, {.files = named("", "f.gp"), .kind = kind});
    EXPECT_EQ(foreign_text(content("f.gp")), "") << name_of(kind);
    EXPECT_NE(content("f.gp").find("\\u{4E2D}\\u{1F9FF}\\u{13080}\\u{E000}\\u{FFFF}"),
              std::string::npos)
        << name_of(kind);
  }
  draw(compared, named("", "f.gp"));
  EXPECT_EQ(foreign_text(content("f.gp")), "");
}

TEST(GnuplotString, HasNoQuoteThatCouldEndIt) {
  EXPECT_EQ(gnuplot_string("it's", true), "'it\u2019s'");
  EXPECT_EQ(gnuplot_string("'; plot", true), "'\u2019; plot'");
  EXPECT_EQ(gnuplot_string("a\nb", true), "'a\\x0ab'");
}

TEST(GnuplotString, HasNoTextThatXmlForbids) {
  EXPECT_EQ(gnuplot_string("a]]>b>", true), "'a]]\\x3eb>'");
  EXPECT_EQ(gnuplot_string("a\ufffeb\uffffc", true), "'a\\u{FFFE}b\\u{FFFF}c'");
}

// Random strings of the characters that have a meaning in gnuplot.
TEST_F(DrawnFigure, PassesAnyStringAsOneString) {
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
  std::string script = "set encoding utf8\n";
  for (const std::string& name : names) {
    const std::string text = gnuplot_string(name, true);
    script += fmt::format(
        "set label {0} at 0,0 noenhanced\nunset label\ntext = {0}\nif (strlen(text) != {1}) exit "
        "status 9\n",
        text, display_width(text) - 2);
  }
  directory_.write("strings.gp", script);
  const auto result = run_program({"gnuplot", "-d", "strings.gp"}, directory_.path());
  EXPECT_TRUE(result.code.success()) << result.err;
}

TEST(DrawableText, IsEscapedWhereTheFontsLackACharacter) {
  const std::string seldom = "\u4e2d\U0001f9ff\U00013080\u0e01";
  EXPECT_EQ(drawable(seldom, true), seldom);
  EXPECT_EQ(drawable(seldom, false), "\\u{4E2D}\\u{1F9FF}\\u{13080}\\u{0E01}");
  const std::string usual = "a\u00e9\u03b1\u0436\u05d0\u0645\u2019\u2026\u2265\u2588 ~";
  EXPECT_EQ(drawable(usual, false), usual);
  // These have no agreed picture.
  for (const bool fonts : {true, false}) {
    EXPECT_EQ(drawable("\ue000\U0010fffd\ufdd0\U0001ffff\n", fonts),
              "\\u{E000}\\u{10FFFD}\\u{FDD0}\\u{1FFFF}\\x0a");
    EXPECT_EQ(drawable(drawable("\ue000\xff\u4e2d", fonts), fonts),
              drawable("\ue000\xff\u4e2d", fonts));
  }
}

}  // namespace
}  // namespace skid::plots
