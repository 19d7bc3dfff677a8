#include "analysis/cause.h"
#include "src/output/csv.h"
#include "src/output/report/report.h"

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::SampleClass;

constexpr std::string_view kOwnHeader =
    "period_requested,period,trigger,samples_read,judged,hits,bin_lo,bin_hi,count,addresses,"
    "contradicted,cause,recording_path,evenness,evenness_largest_ratio,evenness_p,skid_events_p50,"
    "skid_events_p99,skid_events_max,delay_low,delay_high,delay_predicted,delay_independent";

void add_rows(const Measurement& m, std::string& csv) {
  const std::string prefix =
      identity_fields(m) + ',' +
      csv_fields(m.period.requested, m.period.effective, m.trigger ? m.trigger->kind : "",
                 m.samples.read(), m.samples.judged(), m.samples[SampleClass::hit]);
  std::string suffix = ",,";
  if (const auto& addresses = m.basis.addresses) {
    const analysis::Cause cause = analysis::cause_of(*addresses);
    suffix = csv_fields(cause.contradicted.total, cause.contradicted.count,
                        analysis::cause_words(cause.verdict));
  }
  suffix += ',' + csv_fields(m.path ? analysis::describe(*m.path) : "");
  suffix += ',' + (m.evenness ? csv_fields(analysis::name_of(m.evenness->verdict),
                                           m.evenness->largest_ratio, m.evenness->test.p)
                              : ",,");
  const auto& skid = m.basis.skid_in_events;
  for (const double share : {0.50, 0.99, 1.0}) {
    suffix += ',' + (skid ? quantile_field(skid->overshoots, share) : "");
  }
  suffix += ',' + (m.delay ? csv_fields(m.delay->low, m.delay->high, m.delay->predicted,
                                        m.delay->independent)
                           : ",,,");
  const auto row = [&](std::optional<std::int64_t> lo, std::optional<std::int64_t> hi,
                       std::uint64_t count) {
    csv += prefix + ',' + csv_fields(lo, hi, count) + ',' + suffix + '\n';
  };
  const analysis::Histogram& histogram = m.histogram;
  if (histogram.underflow > 0) row({}, m.lowest_offset, histogram.underflow);
  for (const analysis::Bin& bin : histogram.bins) row(bin.lo, bin.hi, bin.count);
  if (histogram.overflow > 0) row(m.highest_offset + 1, {}, histogram.overflow);
  // A measurement that located nothing stays visible when rows are grouped by event and level.
  if (m.samples.located() == 0) row({}, {}, 0);
}

}  // namespace

std::string report_csv(const std::vector<Measurement>& measurements) {
  std::string csv = fmt::format("{},{}\n", kIdentityHeader, kOwnHeader);
  for (const Measurement& measurement : measurements) add_rows(measurement, csv);
  return csv;
}

}  // namespace skid::output
