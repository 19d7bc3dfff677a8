#include "src/output/csv.h"
#include "src/output/report/report.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::SampleClass;

constexpr std::string_view kOwnHeader =
    "period_requested,period,trigger,samples_read,judged,hits,bin_lo,bin_hi,count";

/// What is the same in every row of a measurement, with a comma at the end.
std::string prefix_of(const Measurement& m) {
  const std::array<std::string, 7> fields{identity_fields(m),
                                          csv_field(m.period.requested),
                                          csv_field(m.period.effective),
                                          m.trigger ? csv_field(m.trigger->kind) : std::string(),
                                          fmt::format("{}", m.samples.read()),
                                          fmt::format("{}", m.samples.judged()),
                                          fmt::format("{}", m.samples[SampleClass::hit])};
  return fmt::format("{},", fmt::join(fields, ","));
}

void add_rows(const Measurement& m, std::string& csv) {
  const std::string prefix = prefix_of(m);
  const auto row = [&](const std::string& lo, const std::string& hi, std::uint64_t count) {
    csv += fmt::format("{}{},{},{}\n", prefix, lo, hi, count);
  };
  const analysis::HistogramSlice& histogram = m.histogram;
  if (histogram.underflow > 0) {
    row("", fmt::format("{}", m.lowest_offset), histogram.underflow);
  }
  for (const analysis::Bin& bin : histogram.bins) {
    row(fmt::format("{}", bin.lo), fmt::format("{}", bin.hi), bin.count);
  }
  if (histogram.overflow > 0) {
    row(fmt::format("{}", m.highest_offset + 1), "", histogram.overflow);
  }
  // A measurement that located nothing stays visible when rows are grouped by event and level.
  if (m.samples.located() == 0) row("", "", 0);
}

}  // namespace

std::string report_csv(const std::vector<Measurement>& measurements) {
  std::string csv = fmt::format("{},{}\n", kIdentityHeader, kOwnHeader);
  for (const Measurement& measurement : measurements) add_rows(measurement, csv);
  return csv;
}

}  // namespace skid::output
