#include "analysis/basis.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/parts.h"
#include "src/output/report/report.h"
#include "src/output/table.h"
#include "src/support/escape.h"
#include "src/support/names.h"
#include "src/support/precise_level.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"
#include "tests/unit/example_measurements.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::NotJudged;
using namespace examples;
using test::expect_golden;
using test::lines_of;

/// Four levels of four events, as a machine with a PMU might give them.
std::vector<Measurement> sixteen() {
  std::vector<Measurement> list;
  list.reserve(16);
  for (int level = 0; level < 4; ++level) {
    list.push_back(make({.event = "access", .level = level, .offsets = {{1, 5000}}}));
  }
  for (int level = 0; level < 4; ++level) {
    list.push_back(make({.event = "execute", .level = level, .offsets = {{0, 5000}}}));
  }
  for (int level = 0; level < 4; ++level) {
    list.push_back(make({.event = "cpu-clock",
                         .level = level,
                         .offsets = uniform(-200, 5000),
                         .kernel_samples = 40,
                         .not_judged = NotJudged::timer}));
  }
  const std::vector<Offsets> miss{{{300, 1000}, {1200, 3000}, {4800, 1000}},
                                  {{1, 4999}, {2, 1}},
                                  {{0, 4999}, {7, 1}},
                                  {{0, 5000}}};
  for (int level = 0; level < 4; ++level) {
    list.push_back(make({.event = "mem_load_retired.l3_miss",
                         .level = level,
                         .offsets = miss[static_cast<std::size_t>(level)],
                         .exact = level >= 2,
                         .ignores_level = false}));
  }
  return list;
}

std::vector<Measurement> odd_ones() {
  std::vector<Measurement> list;
  {
    const Example example{
        .event = "cycles", .level = 2, .offsets = uniform(1, 3000), .not_judged = NotJudged::timer};
    Measurement m = begin(example);
    m.event.recorded = "cpu-clock:ppH";
    m.event.substituted = true;
    m.synthetic = true;
    m.warnings = {"cycles:pp was asked for and cpu-clock:ppH recorded."};
    list.push_back(finish(m, example));
  }
  {
    const Example example{.event = "evil\x1b[31m\nname-that-goes-on-and-on-" + std::string(90, 'x'),
                          .offsets = {{1, 3}},
                          .has_trigger = false};
    Measurement m = begin(example);
    m.event.requested.reset();
    m.run.clear();
    m.file = "/" + std::string(100, 'd') + "/perf.data\x1b]0;title\x07";
    m.read_in_part = true;
    m.cpu.model_name = "CPU \x9b 31m";
    m.warnings = {"warning with \x1b[5m in it"};
    list.push_back(finish(m, example));
  }
  for (int repeat = 1; repeat <= 6; ++repeat) {
    const Example example{.event = "nothing", .level = 3, .kernel_samples = 77};
    Measurement m = begin(example);
    m.repeat = repeat;
    m.precise.recorded = 2;
    m.cpu.model_name = list.back().cpu.model_name;
    list.push_back(finish(m, example));
  }
  return list;
}

/// `runs` repeats of two levels, one of which is broken in every tenth run.
std::vector<Measurement> repeats(int runs) {
  std::vector<Measurement> list;
  for (int run = 1; run <= runs; ++run) {
    for (const int level : {1, 2}) {
      const std::uint64_t hits = level == 2 && run % 10 == 0 ? 4000 : 5000;
      list.push_back(make({.event = "loads",
                           .level = level,
                           .offsets = {{0, hits}, {5, 5000 - hits}},
                           .exact = true}));
      list.back().repeat = run;
      list.back().run = "skidscan-" + std::to_string(run % 50) + ".run";
    }
  }
  return list;
}

struct Text {
  const char* name;
  std::vector<Measurement> (*measurements)();  // made when the test runs, not at every start
  bool details;
};

class ReportText : public ::testing::TestWithParam<Text> {
 protected:
  static std::string text(Page page) {
    page.details = GetParam().details;
    return report_text(GetParam().measurements(), page);
  }
};

INSTANTIATE_TEST_SUITE_P(
    , ReportText,
    ::testing::Values(Text{"Screen", sixteen, false}, Text{"Details", sixteen, true},
                      Text{"OddScreen", odd_ones, false}, Text{"OddDetails", odd_ones, true},
                      Text{"RepeatsScreen", [] { return repeats(20); }, false}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(ReportText, FitsTheWidthItIsGiven) {
  for (const std::size_t width : {60U, 80U, 100U, 173U}) {
    for (const std::string& line : lines_of(text({.width = width}))) {
      EXPECT_LE(display_width(line), width) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST_P(ReportText, EscapesNamesOfRecordings) {
  for (const std::string& line : lines_of(text({}))) EXPECT_EQ(escape_for_terminal(line), line);
}

TEST_P(ReportText, AddsNothingButColor) {
  const std::string colored = text({.color = true});
  EXPECT_THAT(colored, HasSubstr("\x1b["));
  EXPECT_EQ(test::without_color(colored), text({}));
}

TEST_P(ReportText, DrawsInAscii) {
  std::string ascii = text({.unicode = false});
  // The commands write the mark of a shortened name in ASCII.
  for (std::size_t at = 0; (at = ascii.find("…", at)) != std::string::npos;) ascii.erase(at, 3);
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](char character) {
    return character >= '\n' && character < '\x7f';
  })) << ascii;
}

TEST(ReportTextGolden, IsUnchanged) {
  const auto list = sixteen();
  const std::string screen = report_text(list, {.details = false});
  EXPECT_LE(lines_of(screen).size(), 55U);
  expect_golden("report_screen.txt", screen);
  expect_golden("report_four_levels.txt",
                report_text({list[12], list[13], list[14], list[15]}, {.width = 80}));
  expect_golden("report_odd.txt", report_text(odd_ones(), {.width = 80}));
  expect_golden("report_odd_screen.txt", report_text(odd_ones(), {.width = 80, .details = false}));
  expect_golden("report_repeats_screen.txt", report_text(repeats(20), {.details = false}));
}

TEST(List, ShowsDifferentNamesDifferently) {
  output::List list{{{"event", output::ListColumn::Kind::shortened}, {"samples"}}};
  for (const char* name :
       {"mem_inst_retired.all_loads", "mem_inst_retired.all_stores", "mem_inst_retired.lock_loads",
        "one_prefix_a_one_long_suffix", "one_prefix_b_one_long_suffix"}) {
    list.rows.push_back({{name}, {"1"}});
  }
  for (std::size_t width = 20; width < 60; ++width) {
    const std::string text = output::Page{.width = width}.list(list);
    std::set<std::string> lines;
    for (const std::string& line : lines_of(text)) {
      EXPECT_LE(display_width(line), width);
      lines.insert(line);
    }
    EXPECT_EQ(lines.size(), 6U) << text;
  }
}

TEST(ReportScreen, DoesNotGrowWithRunsEventsAndMachines) {
  EXPECT_LE(lines_of(report_text(repeats(300), {.details = false})).size(), 40U);
  std::vector<Measurement> events, machines;
  for (int i = 0; i < 200; ++i) {
    events.push_back(
        make({.event = "e" + std::to_string(i), .level = 2, .offsets = {{i > 150, 5000}}}));
    machines.push_back(events.back());
    machines.back().cpu.model_name = "CPU " + std::to_string(i);
  }
  const std::string many_events = report_text(events, {.details = false});
  EXPECT_LE(lines_of(many_events).size(), 70U);
  EXPECT_THAT(many_events, AllOf(HasSubstr("not met by 49 of 200 judged measurements: e151 pp"),
                                 HasSubstr("176 more rows")));
  const std::string many_machines = report_text(machines, {.details = false});
  EXPECT_LE(lines_of(many_machines).size(), 60U);
  EXPECT_THAT(many_machines,
              AllOf(HasSubstr("197 more machines, 46 of them with a broken contract"),
                    HasSubstr("CPU 151")));
}

TEST(ReportScreen, CountsTheLinesOfOffsetsThatItLeavesOut) {
  std::vector<Measurement> spread;
  for (int i = 0; i < 10; ++i) {
    spread.push_back(
        make({.event = "e" + std::to_string(i), .level = 2, .offsets = {{1, 100}, {9, 100}}}));
    const bool fits = spread.size() <= 8;
    EXPECT_THAT(report_text(spread, {.details = false}),
                fits ? testing::Matcher<const std::string&>(Not(HasSubstr("more: --details")))
                     : HasSubstr(std::to_string(spread.size() - 8) + " more: --details"));
  }
}

/// An event that counts all instructions, on every `step`-th one.
Measurement of_instructions(int level, std::int64_t step) {
  Example example{.event = "instructions",
                  .level = level,
                  .not_judged = NotJudged::every_instruction,
                  .ignores_level = false};
  for (std::int64_t offset = -200; offset <= 5000; offset += step) example.offsets[offset] = 8;
  Measurement m = finish(begin(example), example);
  m.basis.level_three = LevelThree::distinct;
  m.basis.instructions_per_iteration = 5203;
  complete(m);
  return m;
}

/// Lists of measurements with what only some have, by what that is.
std::vector<std::pair<std::string, std::vector<Measurement>>> special_ones() {
  Offsets every_fourth;
  for (std::int64_t offset = 1; offset < 200; offset += 4) every_fourth[offset] = 100;
  std::vector<Measurement> repeats, refused, damaged;
  for (const int level : {0, 2}) {
    for (const std::uint64_t hits : {900U, 950U, 1000U}) {
      repeats.push_back(make({.level = level, .offsets = {{0, hits}, {5, 1000}}}));
      repeats.back().repeat = static_cast<int>(repeats.size());
    }
  }
  std::vector<Measurement> few{make({.level = 2, .offsets = {{-7, 900}}}),
                               make({.level = 2, .kernel_samples = 900})};
  few[1].repeat = 2;
  Measurement checked = make({.event = "faults", .offsets = {{0, 10}}});
  checked.ip_check = analysis::IpCheck{"exceptions:page_fault_user", 9, 8, 1, std::nullopt};
  Measurement addresses = make({.level = 2, .offsets = {{0, 5000}, {1, 100}}});
  addresses.basis.addresses = {analysis::AddressSource::pebs,
                               {{true, {0x403000, 0x403008}}},
                               {.trigger = {.trigger = 5000}, .successor = {.other = 100}}};
  complete(addresses);
  Measurement requested = addresses;
  requested.basis.addresses->source = analysis::AddressSource::request;
  complete(requested);
  Measurement in_events = make({.event = "cycles", .level = 0, .offsets = {{5, 10}}});
  in_events.basis.skid_in_events.emplace().overshoots.add(7, 10);
  Measurement more_events = in_events;
  more_events.repeat = 2;
  more_events.basis.skid_in_events.emplace().overshoots.add(90, 1);
  more_events.basis.skid_in_events->left_out = 9;
  for (int i = 1; i <= 9; ++i) {
    refused.push_back(
        make({.event = fmt::format("event-{}", i), .level = 0, .offsets = {{5, 10}}}));
    refused.back().basis.skid_in_events.emplace().refused = "a timer";
  }
  for (const char* event : {"access", "execute", "cpu-clock"}) {
    damaged.push_back(make({.event = event, .offsets = {{1, 5000}}}));
    damaged.back().recording_warnings =
        std::make_shared<const std::vector<std::string>>(1, "the recording is damaged");
  }
  const Measurement pp = of_instructions(2, 4), ppp = of_instructions(3, 1);
  return {{"intervals", {make({.offsets = {{-2, 100}, {1, 400}, {2, 400}, {40, 100}}})}},
          {"intervals of both signs, open ones", {make({.offsets = {{-2, 100}, {3, 100}}})}},
          {"a censored p99", {make({.offsets = {{3, 900}, {4900, 10}}})}},
          {"censored quantiles", {make({.offsets = {{3, 100}, {4900, 900}}})}},
          {"one sample", {make({.offsets = {{3, 1}}})}},
          {"groups", {make({.offsets = every_fourth})}},
          {"a constant skid", {make({.offsets = {{1, 5000}}})}},
          {"runs", repeats},
          {"one run of each level", {repeats[0], repeats[3]}},
          {"the p99 of the runs that have one", few},
          {"a check of addresses", {checked}},
          {"data addresses", {addresses}},
          {"data addresses that repeat the request", {requested}},
          {"skid in events", {in_events, more_events}},
          {"refused skid in events", refused},
          {"evenness of levels 2 and 3", {pp, ppp}},
          {"evenness of level 3", {ppp}},
          {"unevenness of level 2", {pp}},
          {"a warning of three events", damaged}};
}

std::vector<std::string> lines_of(const std::vector<Measurement>& measurements, bool details) {
  return test::lines_of(
      report_text(measurements, {.width = 120, .unicode = false, .details = details}));
}

TEST(ReportTextGolden, ShowsWhatOnlySomeMeasurementsHave) {
  std::string text;
  for (const auto& [name, measurements] : special_ones()) {
    for (const bool details : {false, true}) {
      text += fmt::format("#### {}{}\n", name, details ? ", details" : "");
      const auto ordinary =
          test::mapped(lines_of({make({.offsets = {{0, 10}}})}, details), test::words_of);
      for (const std::string& line : lines_of(measurements, details)) {
        const bool is_special = std::ranges::find(ordinary, test::words_of(line)) == ordinary.end();
        if (is_special) text += line + "\n";
      }
    }
  }
  expect_golden("report_special.txt", text);
}

TEST(ReportDetails, ShowRemarksOfLabelsThatLeaveNoRoom) {
  Measurement m = odd_ones()[0];
  m.read_in_part = true;
  m.repeat = 2000000000;
  m.precise.requested = -2000000000;
  m.event.requested = m.event.recorded = std::string(300, 'e');
  Measurement other = sixteen()[0];
  other.event.label = m.event.label;
  for (const bool details : {true, false}) {
    const std::string text = report_text({m, other}, {.width = 60, .details = details});
    for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), 140U) << line;
    EXPECT_THAT(text, HasSubstr("read in"));
  }
}

TEST(ReportOfNothing, IsOneLine) {
  EXPECT_EQ(report_text({}, {.width = 80}), "no measurements\n");
}

/// A breakpoint without a sample, at each level, whose target ran `iterations` iterations.
std::vector<Measurement> without_samples(std::uint64_t iterations) {
  std::vector<Measurement> list;
  for (int level = 0; level < 4; ++level) {
    Measurement& m = list.emplace_back(make({.event = "access", .level = level}));
    m.basis.iterations = iterations;
    m.events_per_iteration.expected = 1;
    m.cpu.hypervisor = "bhyve";
    analysis::complete(m);
  }
  return list;
}

TEST(ReportWithoutSamples, NamesMeasurementsInOneLineInsteadOfRows) {
  std::vector<Measurement> list = without_samples(100'000);
  for (int level = 0; level < 4; ++level) {
    list.push_back(make({.event = "faults", .level = level, .offsets = {{0, 5000}}}));
    list.back().cpu.hypervisor = "bhyve";
  }
  for (const bool details : {false, true}) {
    const std::string text = report_text(list, {.width = 300, .details = details});
    EXPECT_THAT(lines_of(text).front(),
                EndsWith("; as expected, samples of faults are at the known offset; no samples "
                         "came of access (4 of 8 measurements)"));
    EXPECT_THAT(text, HasSubstr("no samples  access none, p, pp, ppp: accepted, but no breakpoint "
                                "fires: the debug registers of this machine do nothing; record on "
                                "bare metal, or under another hypervisor"));
    for (const char* untrue : {"undecided", "did not cause", "a verdict needs"}) {
      EXPECT_THAT(text, Not(HasSubstr(untrue)));
    }
  }
}

TEST(ReportWithoutSamples, BlamesNoBreakpointForARunThatIsTooShort) {
  const std::string text = report_text(without_samples(99), {.width = 300});
  EXPECT_EQ(lines_of(text).front(), "no samples were recorded of access");
  EXPECT_THAT(text, HasSubstr("the run was shorter than the period; record longer, or with"));
  std::vector<Measurement> explained = without_samples(99);
  explained.front().event.remark = "no samples were recorded: no event occurred often enough";
  EXPECT_EQ(report_answer(explained), explained.front().event.remark);
  std::vector<Measurement> unknown = without_samples(100'000);
  for (Measurement& m : unknown) m.basis.iterations.reset();
  EXPECT_THAT(report_text(unknown, {.width = 300}),
              HasSubstr("no samples  access none, p, pp, ppp: accepted, and no samples came\n"));
}

TEST(Grouping, KeepsTheOrderOfFirstAppearanceAndSortsLevels) {
  std::vector<Measurement> list{make({.event = "b", .level = 2}), make({.event = "a", .level = 1}),
                                make({.event = "b", .level = 0})};
  const auto machines = group(list);
  ASSERT_EQ(machines.size(), 1u);
  ASSERT_EQ(machines[0].events.size(), 2u);
  EXPECT_EQ(machines[0].events[0].event, "b");
  EXPECT_EQ(machines[0].events[0].columns[0].label, "none");
  EXPECT_EQ(machines[0].events[0].columns[1].label, "pp");
}

TEST(Grouping, LabelsOfOneEventAreAllDifferent) {
  std::vector<Measurement> list;
  for (const char* run : {"one", "two"}) {
    for (int repeat = 1; repeat <= 2; ++repeat) {
      for (int copy = 0; copy < 2; ++copy) {
        Measurement m = make({.level = 2});
        m.run = run;
        m.repeat = repeat;
        list.push_back(m);
      }
    }
  }
  const auto machines = group(list);
  EXPECT_THAT(test::mapped(machines.at(0).events.at(0).columns, &Column::label),
              ElementsAre("pp a #1", "pp a #1 (2)", "pp a #2", "pp a #2 (2)", "pp b #1",
                          "pp b #1 (2)", "pp b #2", "pp b #2 (2)"));
}

TEST(Grouping, SeparatesMachines) {
  std::vector<Measurement> list{make({}), make({})};
  list[1].kernel = "6.2";
  EXPECT_EQ(group(list).size(), 2u);
}

/// The lines of a measurement's histogram under its title.
std::vector<std::string> histogram_lines(Measurement measurement) {
  const std::vector<Measurement> list{std::move(measurement)};
  const auto machines = group(list);
  const Page page{.width = 60, .unicode = false};
  auto lines = lines_of(event_histograms(page, machines.at(0).events.at(0)));
  lines.erase(lines.begin(), lines.begin() + 2);
  return lines;
}

TEST(EventHistograms, GiveFewOffsetsARowEach) {
  EXPECT_THAT(histogram_lines(make({.offsets = {{-3, 2}, {0, 7}, {4000, 1}}})),
              ElementsAre("        offset  samples   share", "  none      -3        2  20.00%  ###",
                          "           hit        7  70.00%  ############",
                          "         +4000        1  10.00%  ##"));
}

TEST(EventHistograms, ShowHitsApartFromTheWideBinThatBeginsAtTheTrigger) {
  EXPECT_THAT(
      histogram_lines(
          make({.offsets = {{-5, 1}, {-1, 2}, {0, 7}, {1, 3}, {4, 4}, {5, 6}}, .bin_width = 5})),
      ElementsAre("          offset  samples   share", "  none  -5 to -1        3  13.04%  #####",
                  "             hit        7  30.43%  ############",
                  "        +1 to +4        7  30.43%  ############",
                  "        +5 to +9        6  26.09%  ##########"));
}

TEST(EventHistograms, GiveManyOffsetsALineOfBarsAndTheHitsARow) {
  const auto lines = histogram_lines(make({.offsets = uniform(0, 5000)}));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_THAT(lines[1], HasSubstr("0 to +5000     5001   100%  @"));
  EXPECT_THAT(lines[2], EndsWith("hit        1  0.02%  #"));
  EXPECT_THAT(lines[3], HasSubstr("none from +"));
}

}  // namespace
}  // namespace skid::output
