#include "src/output/report.h"
#include "tests/unit/example_measurements.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Measurement;
using examples::Example;
using examples::make;
using nlohmann::json;

json parsed(const Measurement& measurement) {
  return json::parse(report_json({measurement})).at("measurements").at(0);
}

/// Every key of the fixed skeleton, as JSON pointers.
const std::vector<std::string> kKeys{"/run",
                                     "/file",
                                     "/synthetic",
                                     "/cpu/vendor",
                                     "/cpu/model_name",
                                     "/cpu/family",
                                     "/cpu/model",
                                     "/cpu/stepping",
                                     "/cpu/microcode",
                                     "/cpu/arch",
                                     "/cpu/hypervisor",
                                     "/kernel",
                                     "/event/requested",
                                     "/event/recorded",
                                     "/event/type",
                                     "/event/config",
                                     "/event/swapped",
                                     "/precise/requested",
                                     "/precise/recorded",
                                     "/precise/exact_ip_samples",
                                     "/period/requested",
                                     "/period/effective",
                                     "/trigger/kind",
                                     "/trigger/address",
                                     "/trigger/symbol",
                                     "/samples/read",
                                     "/samples/hit",
                                     "/samples/skid",
                                     "/samples/before",
                                     "/samples/censored",
                                     "/samples/other_trigger",
                                     "/samples/loop",
                                     "/samples/other_user",
                                     "/samples/kernel",
                                     "/samples/guest",
                                     "/samples/unmapped",
                                     "/lost_records",
                                     "/lost_samples",
                                     "/throttled",
                                     "/hit_ratio/value",
                                     "/hit_ratio/low",
                                     "/hit_ratio/high",
                                     "/hit_ratio/confidence",
                                     "/skid/instructions/min",
                                     "/skid/instructions/p50",
                                     "/skid/instructions/p90",
                                     "/skid/instructions/p99",
                                     "/skid/instructions/max",
                                     "/skid/instructions/mean",
                                     "/skid/instructions/stddev",
                                     "/skid/instructions/mode",
                                     "/skid/instructions/mode_share",
                                     "/skid/bytes",
                                     "/skid/tsc_ticks",
                                     "/skid/cycles",
                                     "/histogram/unit",
                                     "/histogram/bins",
                                     "/histogram/underflow",
                                     "/histogram/overflow",
                                     "/contract/level",
                                     "/contract/promise",
                                     "/contract/verdict",
                                     "/contract/certified",
                                     "/contract/evidence",
                                     "/events_per_iteration/measured",
                                     "/events_per_iteration/expected",
                                     "/ip_check",
                                     "/warnings"};

TEST(ReportJson, HasEveryKeyOfTheSchemaWhateverIsKnown) {
  Measurement bare;  // nothing known, nothing read
  for (const Measurement& m : {make({.level = 2, .offsets = {{0, 9}, {4, 1}}}),
                               make({.kernel_samples = 3, .has_trigger = false}), bare}) {
    const json j = parsed(m);
    for (const std::string& key : kKeys) {
      EXPECT_TRUE(j.contains(json::json_pointer(key))) << key;
    }
  }
}

TEST(ReportJson, NamesItsSchemaAndVersion) {
  const json j = json::parse(report_json({}));
  EXPECT_EQ(j.at("schema"), "skidscan.report/1");
  EXPECT_EQ(j.at("tool_version"), SKIDSCAN_VERSION);
  EXPECT_TRUE(j.at("measurements").empty());
}

TEST(ReportJson, EndsWithANewline) {
  EXPECT_EQ(report_json({}).back(), '\n');
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

TEST(ReportJson, HasTheIpCheckWhereThereWasOne) {
  Measurement m = make({.event = "faults", .offsets = {{0, 10}}});
  EXPECT_TRUE(parsed(m)["ip_check"].is_null());
  m.ip_check = analysis::IpCheck{"exceptions:page_fault_user", 9, 8, 1, std::nullopt};
  const json j = parsed(m)["ip_check"];
  EXPECT_EQ(j["tracepoint"], "exceptions:page_fault_user");
  EXPECT_EQ(j["compared"], 9);
  EXPECT_EQ(j["agreeing"], 8);
  EXPECT_EQ(j["unpaired"], 1);
}

TEST(ReportJson, ClassesAddUpToTheSamplesRead) {
  const json j = parsed(make({.offsets = examples::uniform(-200, 5000), .kernel_samples = 12}));
  std::uint64_t sum = 0;
  for (const auto& [name, count] : j["samples"].items()) {
    if (name != "read") sum += count.get<std::uint64_t>();
  }
  EXPECT_EQ(sum, j["samples"]["read"]);
}

TEST(ReportJson, WhatIsNotKnownIsNull) {
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

TEST(ReportJson, HasNoNumbersThatJsonLacks) {
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

TEST(ReportJson, TellsWhatConcernsTheRecordingInEachOfItsMeasurements) {
  const auto of_recording = std::make_shared<const std::vector<std::string>>(1, "damaged");
  std::vector<Measurement> two(2, make({.offsets = {{1, 5}}}));
  two[0].warnings = {"of its own"};
  two[1].warnings.clear();
  for (auto& measurement : two) measurement.recording_warnings = of_recording;
  const json measurements = json::parse(report_json(two))["measurements"];
  EXPECT_EQ(measurements[0]["warnings"], (json::array({"of its own", "damaged"})));
  EXPECT_EQ(measurements[1]["warnings"], json::array({"damaged"}));
}

TEST(ReportJson, KeepsCountsThatADoubleCannotHold) {
  Measurement m = make({.offsets = {{1, 5}}});
  m.lost_samples = (std::uint64_t{1} << 63) + 1;
  EXPECT_EQ(parsed(m)["lost_samples"].get<std::uint64_t>(), m.lost_samples);
}

}  // namespace
}  // namespace skid::output
