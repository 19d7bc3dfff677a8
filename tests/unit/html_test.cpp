#include "plots/kinds.h"
#include "src/commands/output_files.h"
#include "src/html/document.h"
#include "src/html/markup.h"
#include "src/html/pages.h"
#include "src/html/svg.h"
#include "src/output/audit/audit.h"
#include "src/output/report/grouping.h"
#include "src/output/report/report.h"
#include "tests/unit/example_measurements.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::html {
namespace {

using analysis::Measurement;
using examples::make;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kScript = "</script><script>alert(1)</script>";

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// Samples in the values of a histogram, by the label of their panel.
std::map<std::string, std::uint64_t> samples_of(const std::string& figure) {
  std::map<std::string, std::uint64_t> samples;
  const std::regex value("data-value=\"([^,\"]*), offset [^:]*: ([0-9]+) samples? ");
  for (std::sregex_iterator found(figure.begin(), figure.end(), value), end; found != end;
       ++found) {
    samples[(*found)[1]] += std::stoull((*found)[2]);
  }
  return samples;
}

TEST(Markup, EscapesText) {
  EXPECT_EQ(Markup::text("a<b>&\"c'").string(), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(Markup::text("red\x1b[31m\n").string(), "red\\x1b[31m\\x0a");
  EXPECT_EQ(Markup::text("Größe").string(), "Größe");
  EXPECT_EQ(element("p", {{"title", "\"><x"}}, "<y>").string(),
            "<p title=\"&quot;&gt;&lt;x\">&lt;y&gt;</p>");
  EXPECT_EQ(element("ul", element("li", "1") + element("li", "2")).string(),
            "<ul><li>1</li><li>2</li></ul>");
}

std::string histogram_of(const std::vector<Measurement>& measurements) {
  return svg_figure("offsets", plots::histogram_figure(output::group(measurements), {})).string();
}

TEST(SvgFigure, ShowsEachLocatedSampleOnce) {
  const std::vector<Measurement> measurements{
      make({.event = "access", .level = 0, .offsets = {{-3, 7}, {0, 11}, {1, 4982}}}),
      make({.event = "access", .level = 1, .offsets = examples::uniform(1, 3000)})};
  const std::string figure = histogram_of(measurements);
  const std::map<std::string, std::uint64_t> expected{{"none", measurements[0].samples.located()},
                                                      {"p", measurements[1].samples.located()}};
  EXPECT_EQ(samples_of(figure), expected);
  EXPECT_THAT(figure, HasSubstr("none, offset 0: 11 samples (0.22% of the located), hit"));
  EXPECT_THAT(figure, HasSubstr("<td>11 samples (0.22% of the located), hit</td>"));
}

TEST(SvgFigure, LeavesTitleAndMachinesToThePage) {
  const std::string figure = histogram_of({make({.offsets = {{0, 11}}})});
  EXPECT_THAT(figure, AllOf(Not(HasSubstr("Where samples land")), Not(HasSubstr("i7-6700HQ")),
                            HasSubstr("<title>offsets</title>")));
}

TEST(SvgFigure, ShowsWhereNothingIsLocated) {
  const std::vector<Measurement> measurements{
      make({.event = "nothing", .level = 2, .kernel_samples = 77})};
  const std::string figure = histogram_of(measurements);
  EXPECT_THAT(figure, HasSubstr("no located samples"));
  EXPECT_THAT(samples_of(figure), IsEmpty());
  EXPECT_THAT(svg_figure("classes", plots::breakdown_figure(output::group(measurements))).string(),
              HasSubstr("pp, kernel: 77 samples (100% of those read)"));
}

TEST(SvgFigure, PlacesMarksOnTheirAxes) {
  plots::Panel panel{.height = 100,
                     .x = {.low = 0, .high = 10},
                     .y = {.low = 1, .high = 100, .logarithmic = true},
                     .boxes = {{.boxes = {{2, 4, 1, 10, {"a", "b"}}}}},
                     .points = {{plots::Color::blue, plots::Shape::ring, {{5, 10, 4, 6, {}}}}}};
  plots::Figure figure{.title = "t", .blocks = {{"", {panel}}}, .plot_width = 1000};
  const std::string svg = svg_figure("t", figure).string();
  // The panel begins at 84, 14; ten is half of two decades.
  EXPECT_THAT(svg, HasSubstr("<rect x=\"284.00\" y=\"64.00\" width=\"200.00\" height=\"50.00\""));
  EXPECT_THAT(svg, HasSubstr("<line x1=\"484.00\" y1=\"64.00\" x2=\"684.00\" y2=\"64.00\""));
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"584.00\" cy=\"64.00\""));
}

TEST(ReportPage, IsOneFileUnderAPolicy) {
  const std::vector<Measurement> measurements{
      make({.event = "access", .level = 1, .offsets = {{1, 5000}}})};
  const std::string page = report_page(measurements, {"1.2.3", {"skidscan", "report", "a b"}});
  EXPECT_THAT(page, AllOf(HasSubstr("Content-Security-Policy\" content=\"default-src 'none'"),
                          HasSubstr("skidscan 1.2.3"), HasSubstr("&#39;a b&#39;")));
  EXPECT_THAT(page,
              AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")), Not(HasSubstr(" src=")),
                    Not(HasSubstr(" style=")), Not(HasSubstr("@import")), Not(HasSubstr("url("))));
  EXPECT_EQ(count_of(page, "<script"), 1U);
  EXPECT_EQ(count_of(page, "<style"), 1U);
  EXPECT_THAT(page, HasSubstr(Markup::text(measurements[0].contract.evidence).string()));
}

TEST(ReportPage, StatesWhySkidInEventsIsNotDerived) {
  Measurement m = make({.event = "cycles", .level = 2, .offsets = {{1, 5000}}});
  EXPECT_THAT(report_page({m}, {"1", {}}), Not(HasSubstr("Skid in events")));
  m.basis.skid_in_events.emplace().refused = "a timer <takes> them";
  EXPECT_THAT(report_page({m}, {"1", {}}),
              HasSubstr("<h4>Skid in events</h4><ul><li>pp: " +
                        Markup::text(describe(*m.basis.skid_in_events)).string() + "</li></ul>"));
}

TEST(ReportPage, HasNoMarkupOfARecording) {
  const std::string page =
      report_page({examples::named_everywhere(kScript)}, {"1", {kScript}, {{kScript}}});
  EXPECT_EQ(count_of(page, "<script"), 1U);
  EXPECT_EQ(count_of(page, "</script"), 1U);
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
}

TEST(ReportPage, ShowsCommandLinesOfRecorders) {
  const Measurement m = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  const std::string page =
      report_page({m}, {"1", {"skidscan", "report"}, {{"skidscan", "record", "-e", "a b"}}, 2});
  EXPECT_THAT(page, AllOf(HasSubstr("<code>skidscan record -e &#39;a b&#39;</code>"),
                          HasSubstr("and 2 command lines more, which"), HasSubstr("shown by")));
  EXPECT_THAT(report_page({m}, {"1", {"skidscan", "report"}}),
              Not(HasSubstr("Recorded, according")));
}

TEST(PageOrigin, ListsEachRecordingCommandOnce) {
  std::vector<Measurement> measurements;
  for (int i = 0; i < 60; ++i) {
    Measurement m = make({.event = "access", .level = 1, .offsets = {{1, 50}}});
    m.command_lines = {{"/opt/bin/skidscan", "record", "-o", std::to_string(i / 2 * 2)}, {}};
    measurements.push_back(m);
  }
  const Origin origin = commands::page_origin(measurements);
  ASSERT_EQ(origin.recorded.size(), 30U);
  EXPECT_THAT(origin.recorded[1], ElementsAre("skidscan", "record", "-o", "2"));
  EXPECT_EQ(origin.left_out, 0U);
  for (std::size_t i = 0; i < 60; ++i)
    measurements[i].command_lines[0].push_back(std::to_string(i));
  EXPECT_EQ(commands::page_origin(measurements).recorded.size(), 50U);
  EXPECT_EQ(commands::page_origin(measurements).left_out, 10U);
}

TEST(ReportPage, ShowsWarningsOfARecordingOnce) {
  const auto warnings =
      std::make_shared<const std::vector<std::string>>(1, "the recording was cut off");
  std::vector<Measurement> measurements{
      make({.event = "access", .level = 0, .offsets = {{1, 5000}}}),
      make({.event = "execute", .level = 0, .offsets = {{0, 5000}}})};
  for (Measurement& m : measurements) m.recording_warnings = warnings;
  EXPECT_EQ(count_of(report_page(measurements, {"1", {}}), "the recording was cut off"), 1U);
}

TEST(ComparisonPage, ShowsDifferencesAndMissingMeasurements) {
  const std::vector<std::string> inputs{"good.run", kScript};
  std::vector<Measurement> measurements{
      make({.event = "access", .level = 1, .offsets = {{1, 5000}}}),
      make({.event = "execute", .level = 2, .offsets = {{0, 5000}}, .exact = true}),
      make({.event = "execute", .level = 2, .offsets = {{3, 5000}}, .exact = true})};
  const std::vector<std::size_t> input_of{0, 0, 1};
  const analysis::Comparison comparison =
      analysis::compare({inputs, measurements, input_of}, analysis::ComparisonChoices{});
  const std::string page = comparison_page(comparison, inputs, {"1", {"skidscan", "compare"}});
  EXPECT_EQ(count_of(page, "<script"), 1U);
  EXPECT_THAT(page,
              AllOf(HasSubstr("good.run"), HasSubstr(">worse<"), HasSubstr("missing in b"),
                    HasSubstr(">-100.00 points<"), HasSubstr("execute, pp  b: hit ratio 0%")));
}

TEST(ComparisonPage, ShowsBrokenContractsWhereNothingIsMarked) {
  const std::vector<std::string> inputs{"a", "b"};
  const std::vector<Measurement> measurements{
      make({.event = "access", .level = 2, .offsets = {{0, 5000}}, .ignores_level = false}),
      make({.event = "access", .level = 2, .offsets = {{3, 5000}}, .ignores_level = false})};
  const std::vector<std::size_t> input_of{0, 1};
  analysis::ComparisonChoices choices;
  choices.least_share = 1;
  choices.least_instructions = 1e9;
  const analysis::Comparison comparison =
      analysis::compare({inputs, measurements, input_of}, choices);
  EXPECT_THAT(comparison_page(comparison, inputs, {"1", {}}),
              AllOf(HasSubstr("No difference is marked"),
                    HasSubstr("the contract was kept in the baseline and is broken here")));
}

TEST(ReportPage, MarksSyntheticMachines) {
  Measurement made = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  made.synthetic = true;
  made.cpu.model_name = "a model";
  const Measurement real = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  const std::string page = report_page({real, made}, {"1", {}});
  EXPECT_EQ(count_of(page, "SYNTHETIC"), 1U);
  EXPECT_GT(page.find("SYNTHETIC"), page.find("Machine 2"));
  EXPECT_EQ(count_of(report_page({real}, {"1", {}}), "SYNTHETIC"), 0U);
}

TEST(EveryOutput, MarksEmulatedCpus) {
  Measurement emulated = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  emulated.cpu.model_name = "QEMU TCG CPU (Skylake-Client)";
  const Measurement real = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  EXPECT_GT(count_of(report_page({emulated}, {"1", {}}), "EMULATED"), 0U);
  EXPECT_GT(count_of(output::report_text({emulated}, {}), "EMULATED"), 0U);
  EXPECT_GT(count_of(output::report_json({emulated}), "\"emulated\": true"), 0U);
  EXPECT_GT(count_of(output::report_csv({emulated}), ",true,"), 0U);
  EXPECT_EQ(count_of(report_page({real}, {"1", {}}) + output::report_text({real}, {}), "EMULATED"),
            0U);
  EXPECT_EQ(count_of(output::report_json({real}), "\"emulated\": true"), 0U);
  audit::Audit audit;
  audit.cpu = emulated.cpu;
  audit.events.emplace_back().event = "access";
  EXPECT_GT(count_of(output::audit_text({audit}, {}), "EMULATED"), 0U);
}

}  // namespace
}  // namespace skid::html
