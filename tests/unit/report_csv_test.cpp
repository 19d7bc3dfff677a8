#include "src/output/report/report.h"
#include "tests/support/prelude.h"
#include "tests/unit/example_measurements.h"

namespace skid::output {
namespace {

using analysis::Measurement;
using examples::make;
using test::records_of;

/// Some columns of a record.
std::vector<std::string> values_of(const std::map<std::string, std::string>& record,
                                   const std::vector<std::string>& columns) {
  std::vector<std::string> values;
  for (const std::string& column : columns) values.push_back(record.at(column));
  return values;
}

TEST(ReportCsv, HasARowPerBin) {
  const auto records =
      records_of(report_csv({make({.level = 2, .offsets = {{-1, 3}, {0, 4}, {9, 2}}})}));
  ASSERT_EQ(records.size(), 3u);
  const std::vector<std::string> columns{"bin_lo", "bin_hi", "count", "level"};
  EXPECT_THAT(values_of(records[0], columns), ElementsAre("-1", "0", "3", "2"));
  EXPECT_THAT(values_of(records[1], columns), ElementsAre("0", "1", "4", "2"));
  EXPECT_THAT(values_of(records[2], columns), ElementsAre("9", "10", "2", "2"));
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
  EXPECT_EQ(records.at(0).size(), 35u);
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
  const auto records = records_of(report_csv({make({.kernel_samples = 42})}));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_THAT(values_of(records[0], {"samples_read", "bin_lo", "count"}),
              ElementsAre("42", "", "0"));
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

TEST(ReportCsv, OfNoMeasurementsIsItsHeader) {
  EXPECT_THAT(records_of(report_csv({})), IsEmpty());
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
