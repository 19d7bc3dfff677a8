// Comparisons as text, JSON and CSV.
#include "analysis/comparison.h"
#include "analysis/evenness.h"
#include "src/measure/run_comparison.h"
#include "src/output/comparison/comparison.h"
#include "src/output/page.h"
#include "src/support/escape.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"
#include "tests/unit/compared_measurements.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Comparison;
using namespace examples;
using test::lines_of;

constexpr const char* kHostile = "r\x1b[31m,\"\n\xff; rm";

TEST(ComparisonText, FitsTheTerminal) {
  for (const std::size_t sides : {2u, 4u, 16u, 40u, 300u}) {
    const Compared compared = differing(sides);
    const Comparison comparison = compared.compare();
    for (const std::size_t width : {60u, 80u, 120u}) {
      for (const bool details : {true, false}) {
        const std::string text =
            comparison_text(comparison, compared.inputs, {.width = width, .details = details});
        for (const std::string& line : lines_of(text)) {
          EXPECT_LE(display_width(line), width) << line;
        }
        if (!details) {
          EXPECT_LE(lines_of(text).size(), 100U) << text;
        }
      }
    }
  }
}

/// 40 sides, each of which is worse than those before it.
Compared worse_and_worse() {
  Compared compared;
  for (std::uint64_t i = 0; i < 40; ++i) {
    compared.input("node" + std::to_string(i) + ".run")
        .add(of_offsets(counts({{0, 5000 - 100 * i}, {7, 100 * i}}), {.event = "e", .level = 2}));
  }
  return compared;
}

TEST(ComparisonText, IsThatOfItsGoldenTexts) {
  // Of 300 sides the test of the hit ratio over runs does not survive Holm's procedure; those that
  // differ are listed under the letters that they have in the whole.
  const Compared two = differing(2), many = differing(300), worse = worse_and_worse();
  for (const auto& [name, compared] :
       {std::pair{"two", &two}, std::pair{"many", &many}, std::pair{"worse", &worse}}) {
    std::string text;
    for (const bool details : {false, true}) {
      text += comparison_text(compared->compare(), compared->inputs,
                              {.width = 120, .details = details});
    }
    test::expect_golden(fmt::format("compare_{}.txt", name), text);
  }
}

TEST(ComparisonText, ListsWhatDoesNotDifferAsFarAsThereIsRoomAndNamesTheRest) {
  const auto sound = counts({{0, 5000}});
  Compared compared;
  for (const char* input : {"a", "b"}) {
    compared.input(input);
    const std::string alone = "only in " + std::string(input);
    compared.add(of_offsets(sound, {.event = alone, .level = 1}));
    for (int event = 0; event < 10; ++event) {
      for (const int level : {1, 2}) {
        const bool is_late = event == 9 && level == 2 && *input == 'b';
        compared.add(of_offsets(is_late ? counts({{0, 2500}, {7, 2500}}) : sound,
                                {.event = "e" + std::to_string(event), .level = level}));
      }
    }
  }
  const std::string text =
      comparison_text(compared.compare(), compared.inputs, {.width = 200, .details = false});
  EXPECT_THAT(text, HasSubstr("14 of 42 lines are not shown"));
  EXPECT_THAT(text,
              HasSubstr("not shown, as no difference was found: e6 pp; e7 p, pp; e8 p, pp; e9 p"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("only in [ab] +p"))) << "listed elsewhere";
  // With the 26 lines of e0 to e6, what differs is there.
  EXPECT_THAT(text, testing::ContainsRegex("e6 +p +a"));
  EXPECT_THAT(text, testing::ContainsRegex("e9 +pp +a.*baseline\n.*worse"));
}

TEST(ComparisonText, NamesWhetherRunsOrSamplesWereCompared) {
  const auto text_of = [](std::size_t repeats) {
    const auto run = of_offsets(counts({{0, 5000}}), {.event = "e"});
    const Compared compared = Compared().input("a").add(run, repeats).input("b").add(run, repeats);
    return comparison_text(compared.compare(), compared.inputs, {.width = 1000, .details = true});
  };
  EXPECT_THAT(text_of(1),
              AllOf(HasSubstr("Samples were compared; runs vary more"), Not(HasSubstr("Student"))));
  EXPECT_THAT(text_of(3), AllOf(HasSubstr("were compared over runs (Student's t)"),
                                Not(HasSubstr("Samples were compared"))));
}

TEST(ComparisonText, ListsInputsWithoutMeasurement) {
  Compared compared = differing(2);
  EXPECT_THAT(comparison_text(compared.compare(), compared.inputs, {}),
              Not(HasSubstr("no measurement at all")));
  compared.input("nothing.run");
  const Comparison comparison = compared.compare();
  EXPECT_THAT(comparison_text(comparison, compared.inputs, {}),
              HasSubstr("nothing.run: no measurement at all"));
  const auto json = nlohmann::json::parse(comparison_json(comparison, compared.inputs));
  EXPECT_EQ(json["inputs_without_measurement"], nlohmann::json({"nothing.run"}));
}

TEST(ComparisonText, EscapesHostileNames) {
  Compared compared;
  for (const std::string& name : {std::string(kHostile), "b" + std::string(kHostile)}) {
    auto measurement = examples::named_everywhere(name);
    measurement.event.label = kHostile;
    measurement.event.substituted = compared.inputs.empty();
    measurement.event.type = compared.inputs.empty() ? 0 : 4;
    compared.input(name).add(measurement);
  }
  const Comparison comparison = compared.compare();
  for (const std::string& text : {comparison_text(comparison, compared.inputs, {}),
                                  comparison_csv(comparison, compared.inputs),
                                  comparison_json(comparison, compared.inputs)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
  }
  const auto json = nlohmann::json::parse(comparison_json(comparison, compared.inputs));
  EXPECT_THAT(json["rows"][0]["event"].get<std::string>(), StartsWith("r\x1b[31m,\"\n"));
  EXPECT_THAT(lines_of(comparison_csv(comparison, compared.inputs)), SizeIs(3));
}

TEST(ComparisonJson, ContainsTheWholeComparison) {
  const Compared compared = differing(3);
  const Comparison comparison = compared.compare();
  const auto json = nlohmann::json::parse(comparison_json(comparison, compared.inputs));
  EXPECT_EQ(json["by"], "input");
  EXPECT_EQ(json["tests"], comparison.tests);
  EXPECT_EQ(json["regressions"]["worse"], regressions_of(comparison).worse);
  ASSERT_EQ(json["rows"].size(), comparison.rows.size());
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["event"], "sound");
  EXPECT_EQ(row["level"], 2);
  EXPECT_EQ(row["cells"][0]["outcome"], "baseline");
  const auto& cell = row["cells"][2];
  EXPECT_EQ(cell["side"], "c");
  EXPECT_EQ(cell["contract_broke"], true);
  const auto& hits = cell["differences"]["hit_ratio"];
  EXPECT_EQ(hits["marked"], true);
  EXPECT_GE(hits["adjusted_p"].get<double>(), hits["p"].get<double>());
  EXPECT_TRUE(cell["differences"]["distribution"]["p"].is_null());
  EXPECT_FALSE(cell["differences"]["distribution"]["untested"].is_null());
  for (const auto& other : json["rows"]) {
    const bool is_gone = other["event"] == "gone";
    EXPECT_EQ(other["missing_in"].size(), is_gone ? 1u : 0u);
    EXPECT_EQ(other["in_baseline"], other["event"] != "only here");
  }
}

TEST(ComparisonCsv, HasARowForEachEventLevelAndSide) {
  const Compared compared = differing(3);
  const Comparison comparison = compared.compare();
  const std::string csv = comparison_csv(comparison, compared.inputs);
  const auto columns = test::fields_of(lines_of(csv).at(0));
  EXPECT_THAT(std::set<std::string>(columns.begin(), columns.end()), SizeIs(columns.size()));
  std::size_t rows = 0, missing = 0;
  for (const auto& row : comparison.rows) {
    rows += row.cells.size() + row.missing.size();
    missing += row.missing.size();
  }
  const auto records = test::records_of(csv);
  EXPECT_THAT(records, SizeIs(rows));
  EXPECT_GT(missing, 0U);
  EXPECT_EQ(std::count_if(records.begin(), records.end(),
                          [](const auto& record) { return record.at("outcome") == "missing"; }),
            static_cast<std::ptrdiff_t>(missing));
}

TEST(ComparisonOutputs, ShowEvennessAndSkidInEvents) {
  using Verdict = analysis::Evenness::Verdict;
  Compared compared;
  for (const auto& [name, verdicts] :
       {std::pair{"a", std::vector{Verdict::even}},
        {"b", std::vector{Verdict::even, Verdict::uneven, Verdict::even}}}) {
    compared.input(name);
    int repeat = 0;
    for (const Verdict verdict : verdicts) {
      auto m = of_offsets(counts({{0, 5000}}), {.event = "loads", .level = 3});
      m.repeat = ++repeat;
      m.evenness.emplace().verdict = verdict;
      m.basis.skid_in_events.emplace().overshoots.add(repeat * 10, 50);
      compared.add(std::move(m));
    }
  }
  compared.input("c").add(of_offsets(counts({{0, 5000}}), {.event = "loads", .level = 3}));
  const auto comparison = compared.compare();

  const std::string text = comparison_text(comparison, compared.inputs, {.details = true});
  EXPECT_THAT(text, ::testing::ContainsRegex("evenness +even +2 even, 1 uneven +-\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("median skid in events +10 +20 +-\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("p99 skid in events +10 +30 +-\n"));

  const auto cells =
      nlohmann::json::parse(comparison_json(comparison, compared.inputs))["rows"][0]["cells"];
  EXPECT_EQ(cells[1]["evenness"], (nlohmann::json{{"even", 2}, {"uneven", 1}, {"undecided", 0}}));
  EXPECT_EQ(cells[1]["skid"]["events"], (nlohmann::json{{"p50", 20}, {"p99", 30}, {"max", 30}}));
  EXPECT_TRUE(cells[2]["skid"]["events"].is_null());

  std::vector<std::string> shown;
  for (const auto& record : test::records_of(comparison_csv(comparison, compared.inputs))) {
    std::string values;
    for (const char* column : {"evenness", "skid_events_p50", "skid_events_p99", "skid_events_max",
                               "delay_low", "delay_high"}) {
      values += record.at(column) + ",";
    }
    shown.push_back(values);
  }
  EXPECT_THAT(shown, ElementsAre("even,10,10,10,,,", "2 even;1 uneven,20,30,30,,,", ",,,,,,"));
}

}  // namespace
}  // namespace skid::output
