#include "analysis/basis.h"
#include "analysis/delay.h"
#include "analysis/event_identity.h"
#include "analysis/histogram.h"
#include "analysis/intervals.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/recording_path.h"
#include "analysis/repeats.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "src/output/cpu_fields.h"  // IWYU pragma: keep
#include "src/output/csv.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/report/evidence.h"
#include "src/output/report/numbers.h"
#include "src/output/report/report.h"
#include "src/output/report/report_fields.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::analysis {

/// Writes a pair of offset and count for each offset, so that a report can replace its recording.
inline void to_json(Json& json, const OffsetCounts& offsets) {
  json = output::array_of(offsets.counts(), [](const auto& count) {
    return Json::array({count.first, count.second});
  });
}

}  // namespace skid::analysis

namespace skid {

SKID_WRITTEN_FIELDS(analysis::Bin, lo, hi, count)
SKID_WRITTEN_FIELDS(analysis::SamplePairs, iteration, distances, counts, delays, left_out)

void fields(FieldWriter& io, const analysis::SkidInEvents& value) {
  io("counts", value.overshoots);
  SKID_MEMBERS_OR_NULL(left_out, refused);
}

void fields(FieldWriter& io, const analysis::OverRuns& value) {
  io("value", value.interval.value);
  io("low", value.interval.low);
  io("high", value.interval.high);
  io("confidence", value.interval.confidence);
  SKID_MEMBERS(runs, at_least);
}

}  // namespace skid

namespace skid::output {
namespace {

using analysis::Measurement;

Json basis_of(const analysis::Basis& basis) {
  FieldWriter io;
  io("judgeable", judgeable_name(basis.not_judged));
  basis_fields(io, basis);
  io("skid_in_events", basis.skid_in_events);
  io("sample_pairs", basis.sample_pairs);
  io("offsets", Json{{"instructions", basis.tally.instructions},
                     {"bytes", basis.tally.bytes},
                     {"censored", basis.tally.censored}});
  return io.take();
}

Json histogram_of(const Measurement& m) {
  return {{"unit", "instructions"},
          {"bin_width", m.bin_width},
          {"bins", FieldWriter::json_of(m.histogram.bins)},
          {"underflow", m.histogram.underflow},
          {"overflow", m.histogram.overflow},
          {"lowest", m.lowest_offset},
          {"highest", m.highest_offset},
          {"censored_from", m.censored_from}};
}

Json measurement_of(const Measurement& value) {
  FieldWriter io;
  source_fields(io, value);
  SKID_MEMBERS(parts, merged_from, command_lines);
  recording_fields(io, value);
  add_numbers(io, value, histogram_of(value));
  io("basis", basis_of(value.basis));
  // Those on its recording are repeated in each of its measurements: each is complete alone.
  const std::vector<std::string> warnings = all_warnings(value);
  const std::size_t of_event = value.warnings.size();
  const std::size_t of_recording = value.recording_warnings ? value.recording_warnings->size() : 0;
  io("warnings", warnings);
  io("warning_counts", Json{{"event", of_event},
                            {"counts", warnings.size() - of_event - of_recording},
                            {"recording", of_recording}});
  return io.take();
}

Json repeats_of(const std::vector<Measurement>& measurements) {
  std::vector<const Measurement*> all;
  for (const Measurement& measurement : measurements) all.push_back(&measurement);
  const auto index = [&](const Measurement* run) { return run - measurements.data(); };
  return array_of(analysis::repeats_of(all), [&](const auto& repeats) -> Json {
    const Measurement& first = *repeats.runs.front();
    return {{"event", first.event.label},
            {"level", first.precise.requested.value_or(first.precise.recorded)},
            {"measurements", array_of(repeats.runs, index)},
            {"hit_ratio", FieldWriter::json_of(repeats.hit_ratio)},
            {"p50", FieldWriter::json_of(repeats.median)},
            {"mean", FieldWriter::json_of(repeats.mean)}};
  });
}

void add_rows(const Measurement& m, std::string& csv) {
  const Json measurement = measurement_of(m);
  const std::string before =
      csv_fields(kIdentityColumns, measurement) + ',' + csv_fields(kNumbersBeforeBin, measurement);
  const Json path{{"path", m.path ? Json(describe(*m.path)) : Json()}};
  const std::string after = csv_fields(kNumbersAfterBin, measurement, path);
  const auto row = [&](const Json& lo, const Json& hi, std::uint64_t count) {
    csv += fmt::format("{},{},{},{},{}\n", before, csv_field(lo), csv_field(hi), count, after);
  };
  const analysis::Histogram& histogram = m.histogram;
  if (histogram.underflow > 0) row({}, m.lowest_offset, histogram.underflow);
  for (const analysis::Bin& bin : histogram.bins) row(bin.lo, bin.hi, bin.count);
  if (histogram.overflow > 0) row(m.highest_offset + 1, {}, histogram.overflow);
  // A measurement that located nothing stays visible when rows are grouped by event and level.
  if (m.samples.located() == 0) row({}, {}, 0);
}

}  // namespace

std::string report_json(const std::vector<Measurement>& measurements) {
  return document_text(kReportSchema, {{"measurements", array_of(measurements, measurement_of)},
                                       {"repeats", repeats_of(measurements)}});
}

std::string report_csv(const std::vector<Measurement>& measurements) {
  std::string csv = fmt::format("{},{},bin_lo,bin_hi,count,{}\n", csv_header(kIdentityColumns),
                                csv_header(kNumbersBeforeBin), csv_header(kNumbersAfterBin));
  for (const Measurement& measurement : measurements) add_rows(measurement, csv);
  return csv;
}

}  // namespace skid::output
