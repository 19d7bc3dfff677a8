#include "src/output/report/report.h"
#include "tests/support/prelude.h"
#include "tests/unit/example_measurements.h"

namespace skid::output {
namespace {

using analysis::Measurement;
using examples::Example;
using examples::make;

json parsed(const Measurement& measurement) {
  return json::parse(report_json({measurement})).at("measurements").at(0);
}

TEST(ReportJson, NamesItsSchemaAndVersion) {
  const json j = json::parse(report_json({}));
  EXPECT_EQ(j.at("schema"), "skidscan.report/1");
  EXPECT_EQ(j.at("tool_version"), SKIDSCAN_VERSION);
  EXPECT_TRUE(j.at("measurements").empty());
}

TEST(ReportJson, HasIntervalsOfQuantilesAndMeans) {
  const Measurement m = make({.offsets = {{1, 400}, {2, 500}, {3, 90}, {4900, 10}}});
  const json skid = parsed(m)["skid"]["instructions"];
  EXPECT_EQ(skid["p50_interval"]["low"], 2);
  EXPECT_EQ(skid["p50_interval"]["high"], 2);
  EXPECT_EQ(skid["p50_interval"]["confidence"], 0.95);
  EXPECT_TRUE(skid["p50_interval"]["at_least"].empty());
  const json& grouped = skid["p50_interval"]["grouped"];
  EXPECT_DOUBLE_EQ(grouped["value"], 1.7);
  EXPECT_LT(grouped["low"], 1.7);
  EXPECT_GT(grouped["high"], 1.7);
  EXPECT_EQ(skid["p99_interval"]["low"], 3);
  EXPECT_EQ(skid["p99_interval"]["high"], 4900);
  EXPECT_EQ(skid["p99_interval"]["at_least"], json::array({"high"}));
  EXPECT_LT(skid["mean_interval"]["low"], skid["mean"]);
  EXPECT_GT(skid["mean_interval"]["high"], skid["mean"]);
}

TEST(ReportJson, LeavesOutEndsThatNoSampleBounds) {
  const json skid = parsed(make({.offsets = {{1, 100}, {2, 100}}}))["skid"]["instructions"];
  EXPECT_EQ(skid["p99_interval"]["low"], 2);
  EXPECT_TRUE(skid["p99_interval"]["high"].is_null());
  const json one = parsed(make({.offsets = {{1, 1}}}))["skid"]["instructions"];
  EXPECT_TRUE(one["p50_interval"]["low"].is_null());
  EXPECT_TRUE(one["mean_interval"].is_null());
  const json none = parsed(make({.offsets = {}}));
  EXPECT_TRUE(none["skid"]["instructions"]["p50_interval"].is_null());
  EXPECT_TRUE(none["constant_skid"].is_null());
  EXPECT_TRUE(none["modulo"].is_null());
}

TEST(ReportJson, ContainsConstantSkidAndGroups) {
  const json constant = parsed(make({.offsets = {{1, 5000}}}))["constant_skid"];
  EXPECT_EQ(constant["constant"], true);
  EXPECT_EQ(constant["offset"], 1);
  EXPECT_EQ(constant["share"]["total"], 5000);
  EXPECT_TRUE(parsed(make({.offsets = {{1, 50}}}))["constant_skid"]["constant"].is_null());

  examples::Offsets every_fourth{{0, 300}};
  for (std::int64_t offset = 1; offset < 200; offset += 4) every_fourth[offset] = 100;
  const json spread = parsed(make({.offsets = every_fourth}));
  EXPECT_EQ(spread["constant_skid"]["constant"], false);
  EXPECT_EQ(spread["modulo"]["strongest"], 4);
  const json& moduli = spread["modulo"]["moduli"];
  ASSERT_EQ(moduli.size(), 7u);
  EXPECT_EQ(moduli[2]["modulus"], 4);
  EXPECT_EQ(moduli[2]["counts"], json::array({0, 5000, 0, 0}));
  EXPECT_NEAR(moduli[2]["excess"], 0.75, 0.01);
  EXPECT_LT(moduli[2]["p"], 1e-6);
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

TEST(ReportJson, NumbersAreThoseOfTheMeasurement) {
  const json j = parsed(make({.level = 2, .offsets = {{0, 4990}, {4, 10}}, .kernel_samples = 7}));
  EXPECT_EQ(j["samples"]["read"], 5007);
  EXPECT_EQ(j["samples"]["hit"], 4990);
  EXPECT_EQ(j["samples"]["kernel"], 7);
  EXPECT_EQ(j["judged_samples"], 5000);
  EXPECT_DOUBLE_EQ(j["hit_ratio"]["value"], 0.998);
  EXPECT_EQ(j["hit_ratio"]["total"], 5000);
  EXPECT_EQ(j["skid"]["instructions"]["max"], 4);
  EXPECT_EQ(j["skid"]["bytes"]["max"], 6);
  EXPECT_EQ(j["contract"]["verdict"], "broken");
  EXPECT_EQ(j["contract"]["samples_needed"], 3838);
  EXPECT_EQ(j["event"]["config"], "0x0");
  EXPECT_EQ(j["trigger"]["address"], "0x4010c8");
  const json bins =
      json::parse(R"([{"lo": 0, "hi": 1, "count": 4990}, {"lo": 4, "hi": 5, "count": 10}])");
  EXPECT_EQ(j["histogram"]["bins"], bins);
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
  const json j = parsed(make({.offsets = {{1, 95}, {4900, 5}}}));
  EXPECT_EQ(j["skid"]["instructions"]["at_least"], json::array({"p99", "max", "mean"}));
  EXPECT_EQ(j["skid"]["bytes"]["at_least"], json::array({"p99", "max", "mean"}));
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

}  // namespace
}  // namespace skid::output
