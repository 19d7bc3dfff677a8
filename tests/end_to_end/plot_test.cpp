// Figures of `skidscan report` and `skidscan compare` as a user draws them.
#include "src/support/process.h"
#include "tests/support/exit_statuses.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
      {"forest", {"Hit ratios", "hit ratio", "95% intervals"}},
      {"bias", {"Which trigger", "max/min 9.03", "share of samples", "even share"}}};
  for (const auto& [kind, expected] : texts) {
    const auto drawn = skidscan({"report", run("pebs-shadow"), "--kind", kind, "--plot", "f.svg"});
    ASSERT_EQ(drawn.code.status, kDone) << kind << ": " << drawn.err;
    const std::string svg = content("f.svg");
    std::vector<std::string> all{"(SYNTHETIC)",
                                 "r81d0",
                                 "10000 samples",
                                 "period 10007",
                                 "a model of a Sapphire Rapids",
                                 "the skid constraint of precise_ip is "};
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
