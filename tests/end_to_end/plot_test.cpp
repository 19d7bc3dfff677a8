// Figures of `skidscan report` and `skidscan compare` as a user draws them.
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using test::kDone;
using test::kUsage;

/// Runs of models with several triggers and with one, made once for all tests.
const test::TemporaryDirectory& runs() {
  static const test::TemporaryDirectory directory;
  static const bool made = [] {
    for (const std::string model : {"pebs-shadow", "vm-broken"}) {
      const auto result = test::skidscan(
          {"synth", "--like", model, "--all-levels", "-o", model + ".run"}, directory.path());
      EXPECT_EQ(result.code.status, kDone) << result.err;
    }
    return true;
  }();
  static_cast<void>(made);
  return directory;
}

class Plot : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("cc")) GTEST_SKIP() << "no cc in PATH";
    if (!find_program("gnuplot")) GTEST_SKIP() << "gnuplot is not installed";
  }
  static std::string run(const std::string& model) { return (runs() / (model + ".run")).string(); }

  Completed skidscan(const std::vector<std::string>& arguments) const {
    return test::skidscan(arguments, directory_.path());
  }
  std::string content(const std::string& name) const { return test::content_of(directory_ / name); }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Plot, DrawsEachKindWithItsTexts) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> texts{
      {"histogram", {"Where samples land", "samples", "offset from trigger (instructions)"}},
      {"cdf", {"How far samples land", "located samples up to here", "censored"}},
      {"breakdown", {"by class", "share of the samples read", "skid", "hit"}},
      {"forest", {"Hit ratios", "hit ratio", "95% interval"}},
      {"bias", {"Which trigger", "max/min 9.03", "share of samples", "even share"}}};
  for (const auto& [kind, expected] : texts) {
    const auto drawn = skidscan({"report", run("pebs-shadow"), "--kind", kind, "--plot", "f.svg"});
    ASSERT_EQ(drawn.code.status, kDone) << kind << ": " << drawn.err;
    const std::string svg = content("f.svg");
    std::vector<std::string> all{
        "(SYNTHETIC)",  "MEM_INST_RETIRED.ALL_LOADS",   "10000 samples",
        "period 10007", "a model of a Sapphire Rapids", "the skid constraint of precise_ip is "};
    all.insert(all.end(), expected.begin(), expected.end());
    // Not by a matcher, which would print the figure.
    for (const std::string& text : all) {
      EXPECT_NE(svg.find(text), std::string::npos) << kind << " lacks " << text;
    }
    const auto compared = skidscan(
        {"compare", run("pebs-shadow"), run("vm-broken"), "--kind", kind, "--plot-script", "f.gp"});
    EXPECT_EQ(compared.code.status, kDone) << kind << ": " << compared.err;
    EXPECT_NE(content("f.gp").find("a model of a Sapphire Rapids"), std::string::npos) << kind;
  }
}

TEST_F(Plot, DefaultsToTheKindOfItsCommand) {
  ASSERT_EQ(skidscan({"report", run("vm-broken"), "--plot", "f.svg"}).code.status, kDone);
  EXPECT_THAT(content("f.svg"), HasSubstr("Where samples land"));
  ASSERT_EQ(
      skidscan({"compare", run("vm-broken"), run("pebs-shadow"), "--plot", "f.svg"}).code.status,
      kDone);
  EXPECT_THAT(content("f.svg"), AllOf(HasSubstr("Hit ratios"), HasSubstr("(baseline)")));
}

TEST_F(Plot, HasTheSizeFontAndPartsThatAreChosen) {
  directory_.write("look.gp", "set style line 3 lc rgb '#123456'\n");
  const auto drawn = skidscan({"report", run("pebs-shadow"), "--kind", "cdf", "-e", "r81d0", "-p",
                               "pp,ppp", "--size", "3.3inx5.08cm", "--font", "Serif,8", "--title",
                               "Loads", "--plot-settings", "look.gp", "--plot", "f.svg"});
  ASSERT_EQ(drawn.code.status, kDone) << drawn.err;
  EXPECT_THAT(content("f.svg"),
              AllOf(HasSubstr("width=\"317\" height=\"192\""), HasSubstr("\"Serif\""),
                    HasSubstr("<title>Loads (SYNTHETIC)</title>"), HasSubstr("rgb( 18,  52,  86)"),
                    HasSubstr(">ppp<"), Not(HasSubstr(">none<")), Not(HasSubstr("gnuplot_plot"))));
  ASSERT_EQ(skidscan({"report", run("pebs-shadow"), "--no-caption", "--plot", "f.svg"}).code.status,
            kDone);
  EXPECT_THAT(content("f.svg"), AllOf(Not(HasSubstr("<text>Where samples land")),
                                      Not(HasSubstr("Sapphire Rapids")), HasSubstr(">ppp<")));
  const auto none = skidscan({"report", run("pebs-shadow"), "-e", "cycles", "--plot", "f.png"});
  EXPECT_EQ(none.code.status, kUsage);
  EXPECT_THAT(none.err, HasSubstr("nothing was measured of these events"));
}

TEST_F(Plot, HasAShortScriptBesideItsData) {
  ASSERT_EQ(skidscan({"report", run("pebs-shadow"), "--plot-script", "f.gp"}).code.status, kDone);
  std::istringstream script(content("f.gp"));
  int lines = 0;
  for (std::string line; std::getline(script, line);) {
    if (line.find_first_not_of("0123456789.e+- ") != std::string::npos && line != "e" &&
        line[0] != '$') {
      ++lines;
    }
  }
  EXPECT_LT(lines, 60);
}

TEST_F(Plot, RefusesOptionsOfOtherKinds) {
  const auto expect_usage = [&](std::vector<std::string> arguments, const std::string& message) {
    arguments.insert(arguments.begin(), {"report", run("vm-broken")});
    const auto drawn = skidscan(arguments);
    EXPECT_EQ(drawn.code.status, kUsage) << message;
    EXPECT_THAT(drawn.err, HasSubstr(message));
    EXPECT_EQ(drawn.out, "") << message;
    EXPECT_TRUE(files().empty()) << message;
  };
  expect_usage({"--plot", "f.png", "--kind", "pie"}, "histogram");
  for (const std::string kind : {"cdf", "breakdown", "forest", "bias", "delay"}) {
    expect_usage({"--plot", "f.png", "--kind", kind, "--log"},
                 "--log: is for histograms, the figure is of kind " + kind);
    expect_usage({"--plot", "f.png", "--kind", kind, "--plot-style", "overlaid"},
                 "--plot-style: is for histograms, the figure is of kind " + kind);
  }
  expect_usage({"--kind", "cdf"}, "--kind: no figure is drawn; add --plot FILE");
  expect_usage({"--log"}, "--log: no figure is drawn");
  expect_usage({"--plot-style", "overlaid"}, "--plot-style: no figure is drawn");
  expect_usage({"--size", "3in"}, "--size: no figure is drawn");
  for (const std::string size : {"3", "0in", "3inx", "3ft", "3inx4ft", "99999px"}) {
    expect_usage({"--plot", "f.png", "--size", size}, "--size " + size + ": expected a width");
  }
  expect_usage({"--plot", "f.png", "--font", "Sans,1000"}, "--font Sans,1000: expected points");
  expect_usage({"--plot", "f.png", "-p", "pppp"}, "pppp");
  expect_usage({"--plot", "f.bmp"}, "expected .png, .svg or .pdf");
  expect_usage({"--plot-script", "f.pdf"}, "f.pdf: is the name of a figure");
  const auto compared =
      skidscan({"compare", run("vm-broken"), run("pebs-shadow"), "--plot", "f.png", "--log"});
  EXPECT_EQ(compared.code.status, kUsage);
  EXPECT_THAT(compared.err, HasSubstr("--log: is for histograms, the figure is of kind forest"));

  const auto one = skidscan({"report", run("vm-broken"), "--kind", "bias", "--plot", "f.png"});
  EXPECT_EQ(one.code.status, kUsage);
  EXPECT_THAT(
      one.err,
      HasSubstr("--kind bias: no measurement with several triggers at known distances (6 others)"));
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace skid
