#include "analysis/basis.h"
#include "analysis/evenness.h"
#include "analysis/measurement.h"
#include "src/output/report/report.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"
#include "tests/unit/example_measurements.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Measurement;
using namespace examples;

json parsed(const Measurement& measurement) {
  return json::parse(report_json({measurement})).at("measurements").at(0);
}

/// With six digits of each number, which every mathematical library gives.
json rounded(json value) {
  if (value.is_number_float()) return std::stod(fmt::format("{:.6g}", value.get<double>()));
  if (value.is_structured()) {
    for (json& element : value) element = rounded(element);
  }
  return value;
}

TEST(ReportJson, HasEveryNumberOfAMeasurementWithItsInterval) {
  const Measurement judged =
      make({.level = 2, .offsets = {{0, 4990}, {4, 10}}, .kernel_samples = 7});
  // Censored samples, of which quantiles are lower bounds.
  const Measurement censored = make({.offsets = {{1, 400}, {2, 500}, {3, 90}, {4900, 10}}});
  examples::Offsets every_fourth{{0, 300}};
  for (std::int64_t offset = 1; offset < 200; offset += 4) every_fourth[offset] = 100;
  const Measurement grouped = make({.offsets = every_fourth});
  const Measurement one = make({.offsets = {{1, 1}}}), none = make({.offsets = {}});
  json report = json::parse(report_json({judged, censored, grouped, one, none}));
  EXPECT_EQ(report["tool_version"], SKIDSCAN_VERSION);
  report.erase("tool_version");
  std::string text;
  for (const json& measurement : rounded(report["measurements"])) {
    for (const auto& [name, value] : measurement.items()) {
      text += fmt::format("{}: {}\n", name, value.dump());
    }
    text += "\n";
  }
  report.erase("measurements");
  test::expect_golden("report_json.txt", text + report.dump() + "\n");
}

TEST(ReportJson, LeavesOutEndsThatNoSampleBounds) {
  EXPECT_TRUE(json::parse(report_json({})).at("measurements").empty());
  const json skid = parsed(make({.offsets = {{1, 100}, {2, 100}}}))["skid"]["instructions"];
  EXPECT_EQ(skid["p99_interval"]["low"], 2);
  EXPECT_TRUE(skid["p99_interval"]["high"].is_null());
  EXPECT_TRUE(parsed(make({.offsets = {{1, 50}}}))["constant_skid"]["constant"].is_null());
  EXPECT_TRUE(parsed(make({.offsets = {{1, 5000}}}))["modulo"]["moduli"][0]["p"].is_null());
}

TEST(ReportJson, SumsUpRepeatsOverRuns) {
  std::vector<Measurement> list;
  for (const std::uint64_t hits : {900U, 950U, 1000U}) {
    list.push_back(make({.level = 2, .offsets = {{0, hits}, {5, 1000}}}));
    list.push_back(make({.level = 2, .offsets = {{0, hits}}}));
    list.back().kernel = "only once " + std::to_string(hits);
  }
  const json repeats = json::parse(report_json(list)).at("repeats");
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_EQ(repeats[0]["event"], "access");
  EXPECT_EQ(repeats[0]["level"], 2);
  EXPECT_EQ(repeats[0]["measurements"], json::array({0, 2, 4}));
  EXPECT_EQ(repeats[0]["hit_ratio"]["runs"], 3);
  EXPECT_NEAR(repeats[0]["hit_ratio"]["value"], (900.0 / 1900 + 950.0 / 1950 + 0.5) / 3, 1e-12);
  EXPECT_LT(repeats[0]["p50"]["low"], repeats[0]["p50"]["high"]);
  EXPECT_NEAR(repeats[0]["mean"]["value"], 5 * (10.0 / 19 + 20.0 / 39 + 0.5) / 3, 1e-12);
  EXPECT_EQ(repeats[0]["mean"]["at_least"], false);
}

TEST(ReportJson, UnknownValuesAreNull) {
  Example example{.kernel_samples = 5, .has_trigger = false};
  Measurement m = examples::begin(example);
  m.run.clear();
  m.event.requested.reset();
  m.precise.requested.reset();
  m.period = {};
  m.events_per_iteration = {};
  m.cpu = {};
  const json j = parsed(examples::finish(m, example));
  for (const char* key :
       {"/run", "/event/requested", "/precise/requested", "/period/requested", "/period/effective",
        "/trigger/kind", "/trigger/address", "/hit_ratio/value", "/hit_ratio/low",
        "/hit_ratio/high", "/skid/instructions/p50", "/skid/tsc_ticks/mean", "/cpu/vendor",
        "/cpu/family", "/events_per_iteration/measured", "/histogram/censored_from"}) {
    EXPECT_TRUE(j.at(json::json_pointer(key)).is_null()) << key;
  }
}

TEST(ReportJson, ListsTheNumbersThatAreLowerBounds) {
  const json skid = parsed(make({.offsets = {{1, 95}, {4900, 5}}}))["skid"];
  for (const char* unit : {"instructions", "bytes"}) {
    EXPECT_EQ(skid[unit]["at_least"], json::array({"p99", "max", "mean"}));
  }
}

TEST(ReportJson, HasNoNanOrInfinity) {
  Measurement m = make({.offsets = {{1, 5}}});
  m.period.effective = std::numeric_limits<double>::quiet_NaN();
  m.events_per_iteration.measured = std::numeric_limits<double>::infinity();
  const json j = parsed(m);
  EXPECT_TRUE(j["period"]["effective"].is_null());
  EXPECT_TRUE(j["events_per_iteration"]["measured"].is_null());
}

TEST(ReportJson, ReplacesBytesThatAreNotUtf8) {
  Measurement m = make({.offsets = {{1, 5}}});
  m.event.recorded = "ev\xff\xfe\x1b\"\nent";
  m.warnings.emplace_back("\xc0\xaf");
  const json j = parsed(m);
  EXPECT_EQ(j["event"]["recorded"], "ev\xef\xbf\xbd\xef\xbf\xbd\x1b\"\nent");
}

TEST(ReportJson, RepeatsWarningsAboutTheRecordingInEachMeasurement) {
  const auto of_recording = std::make_shared<const std::vector<std::string>>(1, "damaged");
  std::vector<Measurement> two(2, make({.offsets = {{1, 5}}}));
  two[0].warnings = {"of its own"};
  two[1].warnings.clear();
  for (auto& measurement : two) measurement.recording_warnings = of_recording;
  const json measurements = json::parse(report_json(two))["measurements"];
  EXPECT_EQ(measurements[0]["warnings"], (json::array({"of its own", "damaged"})));
  EXPECT_EQ(measurements[1]["warnings"], json::array({"damaged"}));
}

using test::records_of;

/// Some columns of a record.
std::vector<std::string> values_of(const std::map<std::string, std::string>& record,
                                   const std::vector<std::string>& columns) {
  return test::mapped(columns, [&](const std::string& column) { return record.at(column); });
}

TEST(ReportCsv, HasARowPerBin) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& record :
       records_of(report_csv({make({.level = 2, .offsets = {{-1, 3}, {0, 4}, {9, 2}}})}))) {
    rows.push_back(values_of(record, {"bin_lo", "bin_hi", "count", "level"}));
  }
  EXPECT_THAT(rows, ElementsAre(ElementsAre("-1", "0", "3", "2"), ElementsAre("0", "1", "4", "2"),
                                ElementsAre("9", "10", "2", "2")));
}

TEST(ReportCsv, ARowIsOneLineWhateverTheNames) {
  Measurement m = make({.offsets = {{1, 5}}});
  m.event.recorded = "cpu/event=1,umask=\"2\"/\n,x";
  m.file = "a\nb\r\"c\x1b";
  m.period = {};
  m.trigger.reset();
  const std::string csv = report_csv({m, make({.kernel_samples = 2})});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THAT(csv, AllOf(Not(HasSubstr("\x1b")), HasSubstr(R"("cpu/event=1,umask=""2""/\x0a,x")")));
  const auto records = records_of(csv);
  EXPECT_EQ(records.at(0).size(), 36u);
  EXPECT_EQ(records.at(0).at("recorded"), "cpu/event=1,umask=\"2\"/\\x0a,x");
  EXPECT_EQ(records.at(0).at("file"), "a\\x0ab\\x0d\"c\\x1b");
}

TEST(ReportCsv, CountsOfAMeasurementAddUpToItsLocatedSamples) {
  Measurement m = make({.offsets = examples::uniform(-200, 5000), .bin_width = 7});
  m.histogram.underflow = 11;
  m.histogram.overflow = 13;
  const auto records = records_of(report_csv({m}));
  std::uint64_t sum = 0;
  for (const auto& record : records) sum += std::stoull(record.at("count"));
  EXPECT_EQ(sum, m.samples.located() + 11 + 13);
  EXPECT_THAT(values_of(records.front(), {"bin_lo", "bin_hi"}), ElementsAre("", "-200"));
  EXPECT_THAT(values_of(records.back(), {"bin_lo", "bin_hi"}), ElementsAre("5001", ""));
}

TEST(ReportCsv, AMeasurementWithoutBinsIsNotLost) {
  EXPECT_THAT(values_of(records_of(report_csv({make({.kernel_samples = 42})})).at(0),
                        {"samples_read", "bin_lo", "count"}),
              ElementsAre("42", "", "0"));
  EXPECT_THAT(records_of(report_csv({})), IsEmpty());
}

TEST(ReportCsv, HasWhatDataAddressesShow) {
  const std::vector<std::string> columns{"addresses", "contradicted", "cause", "recording_path"};
  Measurement m = make({.level = 2, .offsets = {{0, 5000}}});
  EXPECT_THAT(values_of(records_of(report_csv({m})).at(0), columns),
              ElementsAre("", "", "", "fixed period"));
  m.basis.addresses = {analysis::AddressSource::pebs,
                       {{true, {0x403000, 0x403008}}},
                       {.trigger = {.trigger = 4000, .other = 100, .none = 900}}};
  complete(m);
  m.path = {.batched = true};
  EXPECT_THAT(values_of(records_of(report_csv({m})).at(0), columns),
              ElementsAre("4100", "100", "contradicted", "fixed period, PEBS records in batches"));
}

TEST(ReportCsv, ContainsEvennessAndSkidInEvents) {
  Measurement m = make({.offsets = {{0, 5}}});
  m.evenness.emplace();
  m.evenness->verdict = analysis::Evenness::Verdict::uneven;
  m.evenness->largest_ratio = 3.5;
  m.evenness->test.p = 1e-9;
  m.basis.skid_in_events.emplace().overshoots.add(7, 98);
  m.basis.skid_in_events->overshoots.add(90, 2);
  Measurement refused = make({.offsets = {{0, 5}}});
  refused.basis.skid_in_events.emplace().refused = "no period";
  const std::vector<std::string> columns{
      "evenness",        "evenness_largest_ratio", "evenness_p", "skid_events_p50",
      "skid_events_p99", "skid_events_max",        "delay_low",  "delay_independent"};
  const auto records = records_of(report_csv({m, refused}));
  EXPECT_THAT(values_of(records.at(0), columns),
              ElementsAre("uneven", "3.5", "1e-09", "7", "90", "90", "", ""));
  EXPECT_THAT(values_of(records.at(1), columns), Each(""));
}

}  // namespace
}  // namespace skid::output
