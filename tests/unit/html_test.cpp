#include "analysis/comparison.h"
#include "analysis/measurement.h"
#include "src/audit/audit.h"
#include "src/commands/output_files.h"
#include "src/output/audit/audit.h"
#include "src/output/comparison/comparison.h"
#include "src/output/html/document.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/report.h"
#include "src/output/table.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"
#include "tests/unit/example_measurements.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using examples::make;

constexpr const char* kScript = "</script><script>alert(1)</script>";
const Page kPage{.unicode = false, .html = true};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string report_page(const std::vector<Measurement>& measurements,
                        const html::Origin& origin = {"1", {}}) {
  return html::document("skidscan report", report_text(measurements, kPage), origin);
}

analysis::Comparison comparison_of(const std::vector<std::string>& inputs,
                                   const std::vector<Measurement>& measurements,
                                   const std::vector<std::size_t>& input_of) {
  return analysis::compare({inputs, measurements, input_of}, {});
}

/// The words of a text, without lines and bars.
std::multiset<std::string> words_of(const std::string& text) {
  std::multiset<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (word.find_first_not_of("#-.:=+*@") != std::string::npos) words.insert(word);
  }
  return words;
}

/// A page's text without its markup.
std::string shown(std::string page) {
  page = std::regex_replace(page, std::regex("<[^>]*>"), " ");
  for (const auto& [entity, character] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    page = std::regex_replace(page, std::regex(entity), character);
  }
  return page;
}

/// The words of `text` that `page` does not have, or not as often.
std::vector<std::string> missing_words(const std::string& text, const std::string& page) {
  std::vector<std::string> missing;
  std::ranges::set_difference(words_of(text), words_of(shown(page)), std::back_inserter(missing));
  return missing;
}

/// A terminal of unbroken lines.
const Page kText{.width = 1000, .unicode = false};

TEST(HtmlElements, EscapeText) {
  EXPECT_EQ(html::escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(html::escaped("red\x1b[31m\n"), "red\\x1b[31m\\x0a");
  EXPECT_EQ(html::escaped("Größe"), "Größe");
  EXPECT_EQ(html::painted("<y>", Ink::red), "<span class=\"bad\">&lt;y&gt;</span>\n");
}

TEST(HtmlElements, ListsCanBeSortedIfEachColumnHasATitle) {
  List list{{{"event", ListColumn::Kind::text}, {"p99", ListColumn::Kind::number, 2}}};
  EXPECT_THAT(kPage.list(list), AllOf(HasSubstr("\"sortable\""), HasSubstr("number rank2\">p99")));
  list.columns[0].title.clear();
  EXPECT_THAT(kPage.list(list), Not(HasSubstr("sortable")));
  list.columns[1].shown = false;
  EXPECT_THAT(kPage.list(list), Not(HasSubstr("p99")));
}

TEST(ReportPage, ContainsTheWordsOfTheText) {
  Measurement triggers = make({.event = "access", .level = 3, .offsets = {{1, 5000}, {7, 20}}});
  triggers.warnings = {"a <warning>"};
  Measurement other = make({.event = "execute", .level = 1, .offsets = {{0, 11}}});
  other.cpu.model_name = "another";
  other.event.substituted = true;
  const std::vector<Measurement> measurements{
      make({.event = "access", .level = 0, .offsets = examples::uniform(-3, 3000)}), triggers,
      make({.event = "nothing", .level = 2, .kernel_samples = 77}), other};
  EXPECT_THAT(missing_words(report_text(measurements, kText), report_text(measurements, kPage)),
              IsEmpty());
}

TEST(ReportPage, ListsTheBinsOfWideDistributions) {
  const std::string page =
      report_page({make({.event = "access", .level = 0, .offsets = examples::uniform(1, 3000)})});
  EXPECT_THAT(
      page, AllOf(HasSubstr(">+1 to +63<"), HasSubstr(">+2944 to +3007<"), Not(HasSubstr(">+2<"))));
}

TEST(ReportPage, BeginsWithTheVerdict) {
  const std::vector<Measurement> measurements{
      make({.event = "access", .level = 2, .offsets = {{3, 5000}}, .ignores_level = false})};
  EXPECT_THAT(report_page(measurements),
              HasSubstr("<body>\n<h1 class=\"bad\">" + report_answer(measurements) + "</h1>"));
}

TEST(ReportPage, IsOneFileUnderAPolicy) {
  const std::string page =
      report_page({make({.event = "access", .level = 1, .offsets = {{1, 5}}})},
                  {"1.2.3", {"skidscan", "report"}, {{"skidscan", "record", "-e", "a b"}}, 2});
  EXPECT_THAT(page, AllOf(HasSubstr("Content-Security-Policy\" content=\"default-src 'none'"),
                          HasSubstr("<pre>skidscan record -e &#39;a b&#39;</pre>"),
                          HasSubstr("and 2 command lines more, which"),
                          HasSubstr("<pre>skidscan report</pre>"), HasSubstr("skidscan 1.2.3")));
  EXPECT_THAT(page,
              AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")), Not(HasSubstr(" src=")),
                    Not(HasSubstr(" style=")), Not(HasSubstr("@import")), Not(HasSubstr("url("))));
  EXPECT_EQ(count_of(page, "<script"), 1U);
  EXPECT_EQ(count_of(page, "<style"), 1U);
}

TEST(EveryPage, HasNoMarkupOfARecording) {
  const Measurement named = examples::named_everywhere(kScript);
  const std::vector<std::string> inputs{kScript, kScript};
  for (const std::string& page :
       {report_page({named}, {"1", {kScript}, {{kScript}}}),
        html::document(
            "skidscan compare",
            comparison_text(comparison_of(inputs, {named, named}, {0, 1}), inputs, kPage),
            {"1", {kScript}})}) {
    EXPECT_EQ(count_of(page, "<script"), 1U);
    EXPECT_EQ(count_of(page, "</script"), 1U);
    EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
  }
}

TEST(PageOrigin, ListsEachRecordingCommandOnce) {
  std::vector<Measurement> measurements;
  for (int i = 0; i < 60; ++i) {
    Measurement m = make({.event = "access", .level = 1, .offsets = {{1, 50}}});
    m.command_lines = {{"/opt/bin/skidscan", "record", "-o", std::to_string(i / 2 * 2)}, {}};
    measurements.push_back(m);
  }
  const html::Origin origin = commands::page_origin(measurements);
  ASSERT_EQ(origin.recorded.size(), 30U);
  EXPECT_THAT(origin.recorded[1], ElementsAre("skidscan", "record", "-o", "2"));
  EXPECT_EQ(origin.left_out, 0U);
  for (std::size_t i = 0; i < 60; ++i)
    measurements[i].command_lines[0].push_back(std::to_string(i));
  EXPECT_EQ(commands::page_origin(measurements).recorded.size(), 50U);
  EXPECT_EQ(commands::page_origin(measurements).left_out, 10U);
}

/// The page that write_page() makes of a report, with `draw`.
std::string written_page(const std::vector<Measurement>& measurements,
                         const commands::DrawSvg& draw) {
  const test::TemporaryDirectory directory;
  const std::string file = (directory / "written.html").string();
  commands::write_page(
      file, "t", measurements, [&](const Page& page) { return report_text(measurements, page); },
      draw);
  return read_file(file, 1'000'000);
}

TEST(WritePage, ShowsFiguresOfMeasurementsAndEvents) {
  const std::vector<Measurement> measurements{
      make({.event = "access", .level = 1, .offsets = {{1, 5}}}),
      make({.event = "execute", .level = 1, .offsets = {{0, 5}}})};
  std::vector<std::string> drawn;
  const std::string page = written_page(measurements, [&](auto kind, const auto* of, const auto&) {
    drawn.push_back(std::string(kind) + ' ' + of->events.front().event + ' ' +
                    std::to_string(of->events.size()));
    return "<svg>" + drawn.back() + "</svg>";
  });
  EXPECT_THAT(drawn, ElementsAre("forest access 2", "histogram access 1", "breakdown access 1",
                                 "histogram execute 1", "breakdown execute 1"));
  for (const std::string& figure : drawn) {
    EXPECT_THAT(page, HasSubstr("<figure tabindex=\"0\"><svg>" + figure + "</svg></figure>"));
  }
}

TEST(WritePage, StatesOnceWhyThereIsNoFigure) {
  const std::string page = written_page(
      {make({.event = "access", .level = 1, .offsets = {{1, 5}}})},
      [](auto, auto, const auto&) -> std::string { throw Error("gnuplot: <missing>"); });
  EXPECT_EQ(count_of(page, ">no figure: gnuplot: &lt;missing&gt;<"), 1U);
  EXPECT_THAT(page, Not(HasSubstr("<figure")));
}

TEST(ComparisonPage, ContainsTheWordsOfTheText) {
  const std::vector<std::string> inputs{"good.run", "<bad>.run"};
  const std::vector<Measurement> measurements{
      make({.event = "access", .level = 1, .offsets = {{1, 5000}}}),
      make({.event = "execute", .level = 2, .offsets = {{0, 5000}}, .ignores_level = false}),
      make({.event = "execute", .level = 2, .offsets = {{3, 5000}}, .ignores_level = false})};
  const analysis::Comparison comparison = comparison_of(inputs, measurements, {0, 0, 1});
  const std::string page = comparison_text(comparison, inputs, kPage);
  EXPECT_THAT(missing_words(comparison_text(comparison, inputs, kText), page), IsEmpty());
  // The hit ratios come before the tests.
  EXPECT_LT(page.find("<h1 class=\"bad\">1 comparison with a"), page.find("hit ratio -100.00"));
  EXPECT_LT(page.find("hit ratio -100.00"), page.find("p &lt; "));
}

TEST(ReportPage, MarksSyntheticMachines) {
  Measurement made = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  made.synthetic = true;
  made.cpu.model_name = "a model";
  const Measurement real = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  const std::string page = report_page({real, made});
  EXPECT_EQ(count_of(page, "SYNTHETIC"), 1U);
  EXPECT_GT(page.find("SYNTHETIC"), page.find("<h2>CPU 2: a model</h2>"));
  EXPECT_EQ(count_of(report_page({real}), "SYNTHETIC"), 0U);
}

TEST(ReportPage, HasNoHeadingTwice) {
  Measurement other = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  other.kernel = "another one, on the same model";
  const std::string page =
      report_page({make({.event = "access", .level = 1, .offsets = {{1, 5000}}}), other});
  std::set<std::string> headings;
  std::size_t count = 0;
  for (std::size_t at = 0; (at = page.find("<h2", at)) != std::string::npos; ++at, ++count) {
    headings.insert(page.substr(at, page.find("</h2>", at) - at));
  }
  EXPECT_GE(count, 6U);
  EXPECT_EQ(headings.size(), count) << fmt::format("{}", fmt::join(headings, "\n"));
}

TEST(EveryOutput, MarksEmulatedCpus) {
  Measurement emulated = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  emulated.cpu.model_name = "QEMU TCG CPU (Skylake-Client)";
  const Measurement real = make({.event = "access", .level = 1, .offsets = {{1, 5000}}});
  EXPECT_GT(count_of(report_page({emulated}), "EMULATED"), 0U);
  EXPECT_GT(count_of(report_text({emulated}, {}), "EMULATED"), 0U);
  EXPECT_GT(count_of(report_json({emulated}), "\"emulated\": true"), 0U);
  EXPECT_GT(count_of(report_csv({emulated}), ",true,"), 0U);
  EXPECT_EQ(count_of(report_page({real}) + report_text({real}, {}), "EMULATED"), 0U);
  EXPECT_EQ(count_of(report_json({real}), "\"emulated\": true"), 0U);
  audit::Audit audit;
  audit.cpu = emulated.cpu;
  audit.events.emplace_back().identity.label = "access";
  EXPECT_GT(count_of(audit_text({audit}, {}), "EMULATED"), 0U);
}

}  // namespace
}  // namespace skid::output
