#include "src/output/report/report.h"
#include "tests/support/text.h"
#include "tests/unit/example_measurements.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using examples::make;

using Record = std::vector<std::string>;

std::vector<Record> parse(const std::string& csv) {
  std::vector<Record> records;
  for (const std::string& line : test::lines_of(csv)) records.push_back(test::fields_of(line));
  return records;
}

std::size_t column(const std::vector<Record>& records, const std::string& name) {
  const auto found = std::find(records[0].begin(), records[0].end(), name);
  EXPECT_NE(found, records[0].end()) << name;
  return static_cast<std::size_t>(found - records[0].begin());
}

TEST(ReportCsv, HasARowPerBin) {
  const auto records =
      parse(report_csv({make({.level = 2, .offsets = {{-1, 3}, {0, 4}, {9, 2}}})}));
  ASSERT_EQ(records.size(), 4u);
  const std::size_t lo = column(records, "bin_lo"), hi = column(records, "bin_hi"),
                    count = column(records, "count"), level = column(records, "level");
  EXPECT_EQ(records[1][lo], "-1");
  EXPECT_EQ(records[1][hi], "0");
  EXPECT_EQ(records[2][count], "4");
  EXPECT_EQ(records[3][lo], "9");
  EXPECT_EQ(records[3][level], "2");
}

TEST(ReportCsv, RowsHaveAsManyFieldsAsTheHeader) {
  Measurement m = make({.offsets = {{1, 5}}});
  m.event.recorded = "cpu/event=1,umask=\"2\"/\n,x";
  m.period = {};
  m.trigger.reset();
  for (const Record& record : parse(report_csv({m, make({.kernel_samples = 2})}))) {
    EXPECT_EQ(record.size(), 35u);
  }
}

TEST(ReportCsv, QuotesCommasAndQuotationMarks) {
  Measurement m = make({.offsets = {{1, 5}}});
  m.event.recorded = "cpu/event=1,umask=\"2\"/";
  const std::string csv = report_csv({m});
  EXPECT_THAT(csv, ::testing::HasSubstr(R"("cpu/event=1,umask=""2""/")"));
  const auto records = parse(csv);
  EXPECT_EQ(records[1][column(records, "recorded")], "cpu/event=1,umask=\"2\"/");
}

TEST(ReportCsv, ARowIsOneLineWhateverTheName) {
  Measurement m = make({.offsets = {{1, 5}}});
  m.file = "a\nb\r\"c\x1b";
  const std::string csv = report_csv({m});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2);
  EXPECT_THAT(csv, ::testing::Not(::testing::HasSubstr("\x1b")));
  const auto records = parse(csv);
  EXPECT_EQ(records[1][column(records, "file")], "a\\x0ab\\x0d\"c\\x1b");
}

TEST(ReportCsv, CountsOfAMeasurementAddUpToItsLocatedSamples) {
  Measurement m = make({.offsets = examples::uniform(-200, 5000), .bin_width = 7});
  m.histogram.underflow = 11;
  m.histogram.overflow = 13;
  const auto records = parse(report_csv({m}));
  const std::size_t count = column(records, "count");
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < records.size(); ++i) sum += std::stoull(records[i][count]);
  EXPECT_EQ(sum, m.samples.located() + 11 + 13);
  EXPECT_EQ(records[1][column(records, "bin_lo")], "");
  EXPECT_EQ(records[1][column(records, "bin_hi")], "-200");
  EXPECT_EQ(records.back()[column(records, "bin_lo")], "5001");
  EXPECT_EQ(records.back()[column(records, "bin_hi")], "");
}

TEST(ReportCsv, AMeasurementWithoutBinsIsNotLost) {
  const auto records = parse(report_csv({make({.kernel_samples = 42})}));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1][column(records, "samples_read")], "42");
  EXPECT_EQ(records[1][column(records, "bin_lo")], "");
  EXPECT_EQ(records[1][column(records, "count")], "0");
}

TEST(ReportCsv, HasWhatDataAddressesShow) {
  Measurement m = make({.level = 2, .offsets = {{0, 5000}}});
  EXPECT_THAT(report_csv({m}), ::testing::HasSubstr(",5000,,,,fixed period,,,,,,,,,,\n"));
  m.basis.addresses = {analysis::AddressSource::pebs,
                       {{true, {0x403000, 0x403008}}},
                       {.trigger = {.trigger = 4000, .other = 100, .none = 900}}};
  complete(m);
  m.path = {.batched = true};
  const auto records = parse(report_csv({m}));
  EXPECT_EQ(records[1][column(records, "addresses")], "4100");
  EXPECT_EQ(records[1][column(records, "contradicted")], "100");
  EXPECT_EQ(records[1][column(records, "cause")], "contradicted");
  EXPECT_EQ(records[1][column(records, "recording_path")], "fixed period, PEBS records in batches");
}

TEST(ReportCsv, OfNoMeasurementsIsItsHeader) {
  EXPECT_EQ(parse(report_csv({})).size(), 1u);
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
  const auto records = parse(report_csv({m, refused}));
  const auto first = column(records, "evenness");
  EXPECT_EQ(Record(records[1].begin() + static_cast<std::ptrdiff_t>(first), records[1].end()),
            (Record{"uneven", "3.5", "1e-09", "7", "90", "90", "", "", "", ""}));
  EXPECT_EQ(Record(records[2].begin() + static_cast<std::ptrdiff_t>(first), records[2].end()),
            (Record(10)));
}

}  // namespace
}  // namespace skid::output
