// Comparisons as text, JSON and CSV.
#include "src/output/comparison/comparison.h"
#include "src/output/escape.h"
#include "tests/support/prelude.h"
#include "tests/unit/compared_measurements.h"

namespace skid::output {
namespace {

using analysis::Comparison;
using examples::Compared;
using examples::counts;
using examples::differing;
using examples::of_offsets;
using test::lines_of;

constexpr const char* kHostile = "r\x1b[31m,\"\n\xff; rm";

TEST(ComparisonText, FitsTheTerminal) {
  for (const std::size_t sides : {2u, 4u, 16u, 40u}) {
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

TEST(ComparisonScreen, AnswersFirstAndListsTheWorst) {
  for (const std::size_t sides : {2u, 300u}) {
    const Compared compared = differing(sides);
    const std::string text =
        comparison_text(compared.compare(), compared.inputs, {.width = 200, .details = false});
    EXPECT_THAT(lines_of(text).front(),
                AllOf(HasSubstr(" with a (baseline): "),
                      HasSubstr(" worse, 1 not compared, 1 with too few samples, "),
                      HasSubstr("; worse: sound pp"), HasSubstr("; 1 only in the baseline")));
    // Of 300 sides the test of the hit ratio over runs does not survive Holm's procedure.
    EXPECT_THAT(text, HasSubstr(sides == 2 ? "hit ratio -20.00 points" : "p99 +5.45"));
    EXPECT_THAT(text, AllOf(HasSubstr("SYNTHETIC"), HasSubstr("gone, none: missing in "),
                            HasSubstr("--details")));
    EXPECT_LE(lines_of(text).size(), 62U) << text;
  }
}

TEST(ComparisonText, ListsTheSidesThatDifferOfMany) {
  constexpr std::size_t kSides = 300;
  const Compared compared = differing(kSides);
  const Comparison comparison = compared.compare();
  for (const std::size_t width : {60U, 80U, 120U}) {
    const std::string text = comparison_text(comparison, compared.inputs, {.width = width});
    for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), width) << line;
    EXPECT_LE(lines_of(text).size(), 250U);
    EXPECT_THAT(text, ::testing::ContainsRegex(" kn \\([^ ]*-299.run\\) ")) << "the letter is kept";
    EXPECT_THAT(text, AllOf(HasSubstr("300, on 1 kind of machine"), HasSubstr("1 of 300 runs"),
                            HasSubstr("/side-0.run (baseline)"), HasSubstr("side-299.run)"),
                            Not(HasSubstr("side-150.run"))));
  }
  const std::string text = comparison_text(comparison, compared.inputs, {.width = 1000});
  EXPECT_THAT(text, HasSubstr("all 300: hit ratio 80.00% to 100%; median 0; p99 0 to 5; "));
  EXPECT_THAT(text, HasSubstr("median 40 to >=960"));
  EXPECT_THAT(text, HasSubstr("contract 299 kept, 1 broken; against a: 298 none shown, 1 worse"));
}

TEST(ComparisonText, ListsTheWorstOfManyThatDiffer) {
  Compared compared;
  for (std::uint64_t i = 0; i < 40; ++i) {
    compared.input("node" + std::to_string(i) + ".run")
        .add(of_offsets(counts({{0, 5000 - 100 * i}, {7, 100 * i}}), {.event = "e", .level = 2}));
  }
  const std::string text = comparison_text(compared.compare(), compared.inputs, {});
  EXPECT_THAT(text, AllOf(HasSubstr("an (node39.run)"), HasSubstr("ac (node28.run)"),
                          Not(HasSubstr("ab (node27.run)")), HasSubstr("27 more differ"),
                          HasSubstr("e, pp: 27 more; --format csv has all of them")));
  EXPECT_LT(text.find("an (node39.run)"), text.find("am (node38.run)"));
}

TEST(ComparisonText, ListsDifferencesMissingRowsAndTooFewSamples) {
  const Compared compared = differing(2);
  const std::string text = comparison_text(compared.compare(), compared.inputs, {});
  EXPECT_THAT(text, AllOf(HasSubstr("a          directory/of/side-0.run (baseline)"),
                          HasSubstr("SYNTHETIC  a: samples made by skidscan synth"),
                          HasSubstr("sound, pp: b against a: worse"),
                          HasSubstr("100% -> 80.00%: -20.00 points"),
                          HasSubstr("contract      kept -> broken")));
  EXPECT_THAT(
      text, AllOf(HasSubstr("gone, none: missing in b"), HasSubstr("only here, none: only in b"),
                  HasSubstr("few, p: b: too few samples; a difference"),
                  HasSubstr("not compared: another event was recorded: cpu-clock here, cycles in"),
                  HasSubstr(">=960")));
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
  EXPECT_EQ(json["schema"], "skidscan.compare/1");
  EXPECT_EQ(json["baseline"], "a");
  EXPECT_EQ(json["by"], "input");
  EXPECT_EQ(json["tests"], comparison.tests);
  ASSERT_EQ(json["sides"].size(), 3u);
  EXPECT_EQ(json["sides"][2]["inputs"][0], "directory/of/side-2.run");
  EXPECT_EQ(json["regressions"]["worse"], regressions_of(comparison).worse);
  ASSERT_EQ(json["rows"].size(), comparison.rows.size());
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["event"], "sound");
  EXPECT_EQ(row["level"], 2);
  EXPECT_EQ(row["cells"][0]["outcome"], "baseline");
  EXPECT_EQ(row["cells"][0]["measurements"].size(), 4u);
  const auto& cell = row["cells"][2];
  EXPECT_EQ(cell["side"], "c");
  EXPECT_EQ(cell["outcome"], "worse");
  EXPECT_EQ(cell["over"], "runs");
  EXPECT_EQ(cell["contract_broke"], true);
  const auto& hits = cell["differences"]["hit_ratio"];
  EXPECT_NEAR(hits["difference"].get<double>(), -0.2, 1e-12);
  EXPECT_EQ(hits["marked"], true);
  EXPECT_GE(hits["adjusted_p"].get<double>(), hits["p"].get<double>());
  EXPECT_NEAR(cell["differences"]["distribution"]["wasserstein"].get<double>(), 1.0, 1e-12);
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
