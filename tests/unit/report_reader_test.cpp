#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/description.h"
#include "analysis/ip_check.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/part.h"
#include "analysis/recording_path.h"
#include "analysis/sample_class.h"
#include "analysis/target_map.h"
#include "src/machine/event_attempt.h"
#include "src/output/page.h"
#include "src/output/report/evidence.h"
#include "src/output/report/report.h"
#include "src/support/error.h"
#include "src/support/precise_level.h"
#include "tests/support/error_message.h"
#include "tests/unit/example_measurements.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::NotJudged;
using namespace examples;

/// Reads a report of the measurements back, and expects all reports of both to be the same.
std::vector<Measurement> expect_same_again(const std::vector<Measurement>& measurements) {
  const std::string text = report_json(measurements);
  auto again = read_report(text, "a.json");
  EXPECT_EQ(report_json(again), text);
  EXPECT_EQ(report_text(again, {}), report_text(measurements, {}));
  EXPECT_EQ(report_csv(again), report_csv(measurements));
  return again;
}

Measurement with_two_triggers(NotJudged not_judged = NotJudged::none) {
  const auto map = two_triggers({{0x1180, 0x1184}});
  const std::vector<LocatedCount> counts{{0x1010, 30, true},
                                         {0x1014, 10, false},
                                         {0x1008, 3, false},
                                         {0x1078, 20, true},
                                         {0x1077, 2, false},
                                         {0x1110, 4, true},
                                         {0x1180, 5, false},
                                         {{}, 6, false, analysis::SampleClass::guest},
                                         {{}, 7, false, analysis::SampleClass::unmapped}};
  Measurement m = examples::begin({.event = "store", .level = 3});
  m.basis.period_sum = 8701;
  m.basis.iterations = 4350;
  m.basis.equal_triggers = not_judged != NotJudged::imprecise;
  m.basis.ticks_per_instruction = 0.26171875;
  m.bin_width = 10;
  examples::count(counts, &map, m.basis);
  m.basis.not_judged = not_judged;
  m.basis.exact_ip = ExactIp::evidence;
  m.basis.level_three = LevelThree::same_as_level_2;
  complete(m);
  return m;
}

constexpr const char* kAccepted = "no error";

/// Why a document is refused.
std::string refusal(const std::string& text) {
  return test::message_of<InputError>([&] { return read_report(text, "a.json"); });
}

/// The same of a report of which the first measurement has another value.
std::string refusal(const std::vector<Measurement>& measurements, const std::string& pointer,
                    const json& value) {
  json document = json::parse(report_json(measurements));
  document["measurements"][0][json::json_pointer(pointer)] = value;
  return refusal(document.dump());
}

TEST(ReportReader, ReadsBackAReport) {
  for (const int level : {0, 1, 2, 3}) {
    for (const auto not_judged :
         {NotJudged::none, NotJudged::timer, NotJudged::every_instruction, NotJudged::not_caused,
          NotJudged::imprecise, NotJudged::no_precise_levels, NotJudged::no_trigger}) {
      expect_same_again({make({.level = level,
                               .offsets = {{-3, 2}, {0, 4990}, {4, 10}, {4990, 7}},
                               .kernel_samples = 11,
                               .exact = level > 1,
                               .not_judged = not_judged,
                               .ignores_level = level == 2,
                               .bin_width = level + 1})});
      expect_same_again({with_two_triggers(not_judged)});
    }
  }
  expect_same_again({});
  expect_same_again({make({.offsets = {}})});
  expect_same_again({make({.kernel_samples = 3, .has_trigger = false})});
}

TEST(ReportReader, ReadsBackFunctionsAsTriggerAndRunway) {
  const auto map = analysis::TargetMap::of_functions({0x100, 0x140}, code_of(0x2000, 24, 2));
  Measurement m = examples::begin({.event = "cycles", .level = 1});
  m.trigger = analysis::Trigger{"function", 0x100, "memreader"};
  examples::count({{0x120, 9, false}, {0x2004, 4, false}}, &map, m.basis);
  m.basis.not_judged = NotJudged::every_instruction;
  complete(m);
  expect_same_again({m});
}

TEST(ReportReader, ReadsBackAllOtherFields) {
  Measurement m = with_two_triggers();
  m.run = "";
  m.repeat = 7;
  m.command_lines = {{"skidscan", "record", "-e", "a \x1b b"}, {}, {"perf"}};
  m.synthetic = m.read_in_part = true;
  m.cpu = {};
  m.cpu.family = -1;
  m.cpu.hypervisor = "KVM";
  m.kernel = "";
  m.event.requested.reset();
  m.event.recorded = "name \x1b[1m \xff \"quoted\"";
  m.event.label = "";
  m.event.type = 0xffffffff;
  m.event.config = m.event.config1 = m.event.config2 = UINT64_MAX;
  m.event.breakpoint_type = 3;
  m.event.excluded = {"kernel", "hypervisor"};
  m.event.substituted = true;
  m.event.remark = "whether it is precise is unknown";
  m.path = analysis::RecordingPath{
      .frequency = 99, .call_graph = true, .branch_stack = true, .batched = false};
  m.precise.requested = 5;
  m.period = {std::nullopt, std::nullopt};
  m.trigger->symbol = "";
  m.lost_records = UINT64_MAX;
  m.lost_samples = 3;
  m.throttled = 4;
  m.throttled_share = 0.25;
  m.unknown_ids = 5;
  m.basis.events_to_record.reset();
  m.basis.random_period = true;
  m.time = {1, UINT64_MAX};
  m.parts = 2;
  m.merged_from = {{"a.run", "a.data", 1, 5, std::nullopt},
                   {"", "b.data", 2, 6, analysis::SampleTime{1, 2}}};
  m.events_per_iteration.expected = 4;
  m.events_per_iteration.cached_share = 0.25;
  m.basis.instructions_per_iteration = 5203;
  m.ip_check = analysis::IpCheck{"exceptions:page_fault_user", 10, 9, 1, {{1, 2, -3, 4}}};
  m.warnings = {"of what was asked for", "and more"};
  m.recording_warnings = std::make_shared<std::vector<std::string>>(2, "of the recording");
  complete(m);
  EXPECT_FALSE(output::count_warnings(m).empty());
  Measurement second = m;
  second.ip_check->first_difference.reset();
  Measurement third = make({.offsets = {{0, 1}}});
  // What is not UTF-8 is the replacement character from then on, as in all that is written.
  const std::string text = report_json({m, second, third});
  const auto again = read_report(text, "a.json");
  EXPECT_EQ(report_json(again), text);
  EXPECT_EQ(again[0].recording_warnings, again[1].recording_warnings) << "twice in the text";
  EXPECT_NE(again[0].recording_warnings, again[2].recording_warnings);
}

/// 10 hits and 5 samples on the successor, with a data address each.
Measurement with_addresses() {
  Measurement m = make({.level = 2, .offsets = {{0, 10}, {1, 5}}});
  m.basis.addresses = {analysis::AddressSource::pebs,
                       {{true, {0x403000, 0x403008}}, {false, {0x7fff00000000, 0x7fff00001000}}},
                       {.trigger = {.trigger = 8, .other_trigger = 2},
                        .successor = {.trigger = 1, .other = 3, .none = 1}}};
  complete(m);
  return m;
}

TEST(ReportReader, ReadsDataAddressesBack) {
  const auto again = expect_same_again({with_addresses()});
  EXPECT_EQ(output::contract_evidence(again.at(0)), output::contract_evidence(with_addresses()));
  EXPECT_EQ(again.at(0).basis.addresses->samples.successor.other, 3u);
}

TEST(ReportReader, ReadsSkidInEventsBack) {
  Measurement m = make({.offsets = {{0, 10}}});
  m.basis.skid_in_events.emplace();
  m.basis.skid_in_events->overshoots.add(0, 3);
  m.basis.skid_in_events->overshoots.add(41, 5);
  m.basis.skid_in_events->left_out = 2;
  Measurement refused = make({.offsets = {{0, 10}}});
  refused.basis.skid_in_events = {.refused = "a timer"};
  const auto again = expect_same_again({m, refused});
  EXPECT_EQ(again.at(0).basis.skid_in_events->overshoots.count_at(41), 5u);
  EXPECT_EQ(again.at(1).basis.skid_in_events->refused, "a timer");
  for (const auto& [pointer, value] :
       std::map<std::string, json>{{"/left_out", 3}, {"/counts/1/1", 6}, {"/counts/0/0", -1}}) {
    EXPECT_NE(refusal({m, refused}, "/basis/skid_in_events" + pointer, value), kAccepted)
        << pointer;
  }
}

TEST(ReportReader, ReadsPairsOfSamplesBack) {
  Measurement m = make({.offsets = {{0, 600}}});
  auto& pairs = m.basis.sample_pairs.emplace();
  pairs = {.distances = {3, 40}, .iteration = 43};
  for (std::uint64_t i = 0; i < 400; ++i) pairs.add(i % 2, (i + 1) % 2, 1009);
  pairs.left_out = 7;
  analysis::complete(m);
  ASSERT_TRUE(m.delay);
  const auto again = expect_same_again({m});
  EXPECT_EQ(again.at(0).delay->high, m.delay->high);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, json>>{{"iteration", 44},
                                                 {"distances", {0, 43}},
                                                 {"counts", {200, 0, 200}},
                                                 {"counts", {200, 0, 900, 200}},
                                                 {"left_out", -1}}) {
    EXPECT_NE(refusal({m}, "/basis/sample_pairs/" + key, value), kAccepted) << key << value;
  }
}

TEST(ReportReader, AppliesAnotherBinWidth) {
  const std::string text = report_json({make({.offsets = {{0, 1}, {7, 1}}, .bin_width = 5})});
  EXPECT_EQ(read_report(text, "a.json").at(0).histogram.bins.size(), 2u);
  EXPECT_EQ(report_json(read_report(text, "a.json", 10)),
            report_json({make({.offsets = {{0, 1}, {7, 1}}, .bin_width = 10})}));
}

TEST(ReportReader, ComputesFiguresInsteadOfBelievingThem) {
  const std::string text = report_json({with_two_triggers()});
  json document = json::parse(text);
  json& m = document["measurements"][0];
  for (const char* key : {"judged_samples", "located_samples", "hit_ratio", "expected_hit_share",
                          "skid", "contract", "bias"}) {
    m[key] = "nonsense";
  }
  m["histogram"] = {{"bin_width", m["histogram"]["bin_width"]}};
  m["period"]["effective"] = 17;
  m["events_per_iteration"]["measured"] = 17;
  const std::uint64_t own = m["warning_counts"]["event"];
  ASSERT_GT(m["warning_counts"]["counts"], 0);
  m["warnings"][own] = "nonsense";
  EXPECT_EQ(report_json(read_report(document.dump(), "a.json")), text);
}

TEST(ReportReader, RefusesWhatContradictsItself) {
  // Pointers, values, and what the messages contain; those of offsets are in a table of their own.
  for (const auto& [pointer, value, message] :
       std::vector<std::tuple<std::string, json, std::string>>{
           {"/samples/hit", 49, "the sum of the classes"},
           {"/samples/read", 88, "the sum of the classes, 87"},
           {"/samples/kernel", -1, "an integer of at least 0"},
           {"/samples/kernel", 9007199254740993, "at most 9007199254740992"},
           {"/basis/offsets/bytes", nullptr, "nothing"},
           {"/basis/geometry", nullptr, "none where no trigger is known"},
           {"/basis/geometry/trigger_addresses", json::array(), "an address"},
           {"/basis/geometry/trigger_addresses", {"0x1", "0x2", "0x3"}, "2 triggers"},
           {"/basis/geometry/trigger_addresses", {"1010", "0x1"}, "a hexadecimal number"},
           {"/basis/geometry/trigger_addresses", {"0x", "0x1"}, "a hexadecimal number"},
           {"/basis/geometry/lowest_offset", 1, "to 0"},
           {"/basis/geometry/highest_offset", std::int64_t{1} << 41, "0 to"},
           {"/basis/geometry/even_hit_share", 1.5, "0 to 1"},
           {"/period/effective", 1e300, "0 to"},
           {"/basis/judgeable", "perhaps", "\"perhaps\""},
           {"/triggers/0/hits", 31, "at most 19"},
           {"/triggers/0/samples", 41, "samples"},
           {"/triggers/1/hits", 19, "49 hits"},
           {"/triggers", json::array(), "0 triggers"},
           {"/precise/recorded", 4, "0 to 3"},
           {"/precise/level_3", "unknown", "null or one of distinct, same as level 2"},
           {"/precise/exact_ip_means", "perhaps", "null or one of evidence"},
           {"/precise/exact_ip_samples", 88, "at most 87"},
           {"/precise/exact_ip_hits", 51, "at most 50"},
           {"/precise/exact_ip_off_trigger", 5, "at most 4"},
           {"/inside_instruction", 88, "at most 87"},
           {"/histogram/bin_width", 0, "1 to"},
           {"/warning_counts/event", 99, "at most"},
           {"/warning_counts/recording", 99, "the other 0"},
           {"/parts", 0, "0 parts"},
           {"/parts", 2, "0 elements of 2 parts"},
           {"/repeat", 0, "at least 1"},
           {"/event/excluded", {"nobody"}, "one of user"},
           {"/event/config", "0x1g", "a hexadecimal number"},
           {"/file", nullptr, "nothing"},
           {"/cpu", 1, "an object"},
       }) {
    EXPECT_THAT(refusal({with_two_triggers()}, pointer, value),
                AllOf(HasSubstr("a.json: "), HasSubstr(message)))
        << pointer << " " << value;
  }
  for (const auto& [key, offsets, message] : std::vector<std::array<const char*, 3>>{
           {"instructions", "[[-8,3],[0,49],[1,10],[99,2],[145,4]]", "68 samples"},
           {"instructions", "[[-8,3],[0,49],[1,12],[145,5]]", "that are hits, 50"},
           {"instructions", "[[-8,2],[0,50],[1,10],[99,2],[145,5]]", "skids or censored, 16"},
           {"instructions", "[[-8,3],[0,50],[1,16]]", "are censored, 2"},
           {"instructions", "[[-8,3],[0,50],[1,10],[99,2],[201,4]]", "-16 to 200"},
           {"instructions", "[[0,50],[-8,3],[1,10],[99,2],[145,4]]", "ascending offsets"},
           {"instructions", "[[-8,3],[0,50],[0,10],[99,2],[145,4]]", "ascending offsets"},
           {"instructions", "[[-8,0]]", "1 or more"},
           {"instructions", "[[-8,18446744073709551615]]", "69 in all"},
           {"instructions", "[[0,50.0]]", "a pair of an integer"},
           {"instructions", "[[0]]", "a pair of an integer"},
           {"instructions", "[[18446744073709551615,1]]", "a pair of"},
           {"bytes", "[[0,68]]", "the 69 that were located"},
           {"censored", "[[99,1]]", "the 2 that were censored"},
           {"censored", "[[99,3]]", "and 2 in all"},
           {"censored", "[[1,2]]", "96 to 200"},
           {"censored", "[[98,2]]", "at most the 0"},
       }) {
    EXPECT_THAT(
        refusal({with_two_triggers()}, "/basis/offsets/" + std::string(key), json::parse(offsets)),
        AllOf(HasSubstr("a.json: "), HasSubstr(message)))
        << key << " " << offsets;
  }
  for (const auto& [pointer, value, message] :
       std::vector<std::tuple<std::string, json, std::string>>{
           {"/samples/trigger/trigger", 9, "11 samples on the trigger"},
           {"/samples/successor/other", 4, "6 samples after the trigger"},
           {"/source", "PEPS", "one of page fault, PEBS"}}) {
    EXPECT_THAT(refusal({with_addresses()}, "/address" + pointer, value), HasSubstr(message));
  }
}

TEST(ReportReader, ReadsReportsOfOlderVersions) {
  const std::string text =
      report_json({with_two_triggers(), make({.offsets = {{1, 9}, {4800, 5}}})});
  json document = json::parse(text);
  for (auto& m : document["measurements"]) {
    m["basis"]["offsets"].erase("censored");
    m.erase("command_lines");
  }
  const auto measurements = read_report(document.dump(), "a.json");
  ASSERT_EQ(measurements.size(), 2u);
  EXPECT_THAT(measurements[0].command_lines, IsEmpty());
  // Of several runways the offset does not show what is censored, of one it does.
  EXPECT_EQ(measurements[0].basis.tally.censored.total(), 2u);
  EXPECT_THAT(measurements[0].warnings, Contains(HasSubstr("an older report")));
  EXPECT_EQ(measurements[1].basis.tally.censored.count_at(4800), 5u);
  EXPECT_THAT(measurements[1].warnings, Not(Contains(HasSubstr("an older report"))));
}

TEST(ReportReader, RefusesOtherDocuments) {
  EXPECT_THAT(refusal("{"), HasSubstr("text that is not JSON"));
  EXPECT_THAT(refusal("{}"), HasSubstr("\"schema\""));
  EXPECT_THAT(refusal("[]"), HasSubstr("an object"));
  EXPECT_THAT(refusal(R"({"schema": "skidscan.compare/1"})"), HasSubstr("skidscan.compare/1"));
  EXPECT_THAT(refusal(R"({"schema": "skidscan.report/1"})"), HasSubstr("measurements"));
  EXPECT_THAT(refusal("{\"a\":" + std::string(100'000, '[')), HasSubstr("64 deep"));
  EXPECT_THAT(refusal("{\"a\":[" + std::string(9'000'000, ',')), HasSubstr("8388608 values"));
  EXPECT_THAT(refusal("{\"a\": 1" + std::string(400, '0') + "}"), HasSubstr("too large"));
}

TEST(ReportReader, KnowsAReportByItsBeginning) {
  EXPECT_TRUE(looks_like_report(" \r\n\t{"));
  EXPECT_FALSE(looks_like_report("PERFILE2"));
  EXPECT_FALSE(looks_like_report(""));
  EXPECT_FALSE(looks_like_report("  "));
}

TEST(ReportReader, NeedsNoMoreMemoryForALongRunway) {
  json document = json::parse(report_json({make({.offsets = {{0, 1}}})}));
  json& m = document["measurements"][0];
  m["basis"]["geometry"]["highest_offset"] = std::int64_t{1} << 40;
  json many = json::array();
  for (int i = 0; i < 200; ++i) many.push_back(m);
  document["measurements"] = many;
  EXPECT_EQ(read_report(document.dump(), "a.json").size(), 200u);  // seconds where cells are made
}

}  // namespace
}  // namespace skid::output
