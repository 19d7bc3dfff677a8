#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/delay.h"
#include "analysis/description.h"
#include "analysis/distance.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/event_identity.h"
#include "analysis/figures.h"
#include "analysis/histogram.h"
#include "analysis/intervals.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/recording_path.h"
#include "analysis/remedy.h"
#include "analysis/repeats.h"
#include "analysis/retirement_groups.h"
#include "analysis/sample_class.h"
#include "analysis/share.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "src/output/bias_fields.h"  // IWYU pragma: keep
#include "src/output/cpu_fields.h"   // IWYU pragma: keep
#include "src/output/csv.h"
#include "src/output/delay_json.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/report/report.h"
#include "src/output/report/report_fields.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid {

SKID_WRITTEN_FIELDS(analysis::Bin, lo, hi, count)

void fields(FieldWriter& io, const analysis::Share& value) {
  const bool known = value.total > 0;
  io("value", known ? Json(value.value) : Json());
  io("low", known ? Json(value.low) : Json());
  io("high", known ? Json(value.high) : Json());
  SKID_MEMBERS(confidence, count, total);
}

void fields(FieldWriter& io, const analysis::ConstantSkid& value) {
  Json answer;
  if (value.verdict == analysis::Verdict::kept) answer = true;
  if (value.verdict == analysis::Verdict::broken) answer = false;
  io("constant", answer);
  SKID_MEMBERS(offset, share);
}

void fields(FieldWriter& io, const analysis::Residues& value) {
  const auto& excess = value.excess;
  SKID_MEMBERS(modulus, counts);
  io("excess", excess ? Json(excess->share) : Json());
  io("chi_square", excess ? Json(excess->chi_square) : Json());
  io("p", excess ? Json(excess->p) : Json());
}

SKID_WRITTEN_FIELDS(analysis::RetirementGroups, strongest, moduli)

SKID_WRITTEN_FIELDS(analysis::Remedy, samples, text)

void fields(FieldWriter& io, const analysis::Contract& value) {
  SKID_MEMBERS(level, promise, verdict, certified, share, not_corrected, remedy);
  io("promised_share", analysis::kPromisedShare);
  io("samples_needed", analysis::samples_to_show(analysis::kPromisedShare));
  io("evidence", value.evidence);
}

void fields(FieldWriter& io, const analysis::Evenness& value) {
  SKID_MEMBERS(of, verdict, promised);
  io("chi_square", value.test.chi_square);
  io("degrees", value.test.degrees);
  io("p", value.test.p);
  SKID_MEMBERS(largest_ratio, evidence);
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

using analysis::Distance;
using analysis::Measurement;

Json trigger_of(const std::optional<analysis::Trigger>& trigger) {
  if (trigger) return FieldWriter::json_of(*trigger);
  return {{"kind", nullptr}, {"address", nullptr}, {"symbol", nullptr}};
}

Json samples_of(const Measurement& m) {
  Json samples = {{"read", m.samples.read()}};
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<analysis::SampleClass>(i);
    samples[std::string(name_of(sample_class))] = m.samples[sample_class];
  }
  return samples;
}

enum class Unit { whole, fraction };

/// Returns the statistics of a distance. The keys do not depend on whether there are samples. Whole
/// units give whole numbers.
Json distance_of(const std::optional<Distance>& distance, Unit unit) {
  const auto fraction = [&](double Distance::*value) {
    return distance ? Json((*distance).*value) : Json();
  };
  const auto length = [&](double Distance::*value) {
    return distance && unit == Unit::whole
               ? Json(static_cast<std::int64_t>(std::llround((*distance).*value)))
               : fraction(value);
  };
  Json at_least = Json::array();
  if (distance) {
    if (distance->p50_at_least) at_least.push_back("p50");
    if (distance->p90_at_least) at_least.push_back("p90");
    if (distance->p99_at_least) at_least.push_back("p99");
    // A maximum that is a lower bound makes the mean one.
    if (distance->max_at_least) at_least.insert(at_least.end(), {"max", "mean"});
  }
  return {{"min", length(&Distance::min)},
          {"p50", length(&Distance::p50)},
          {"p90", length(&Distance::p90)},
          {"p99", length(&Distance::p99)},
          {"max", length(&Distance::max)},
          {"mean", fraction(&Distance::mean)},
          {"stddev", fraction(&Distance::stddev)},
          {"mode", length(&Distance::mode)},
          {"mode_share", fraction(&Distance::mode_share)},
          {"at_least", std::move(at_least)}};
}

using DistanceIntervals = analysis::DistanceIntervals;

Json quantile_interval_of(const Measurement& m,
                          DistanceIntervals::Quantile DistanceIntervals::*of) {
  if (!m.intervals) return nullptr;
  const DistanceIntervals::Quantile& interval = (*m.intervals).*of;
  Json at_least = Json::array();
  if (interval.low_at_least) at_least.push_back("low");
  if (interval.high_at_least) at_least.push_back("high");
  return {{"low", interval.low},
          {"high", interval.high},
          {"confidence", interval.confidence},
          {"at_least", std::move(at_least)},
          {"grouped",
           {{"value", interval.grouped.value},
            {"low", interval.grouped.low},
            {"high", interval.grouped.high}}}};
}

Json interval_of(const std::optional<analysis::Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"confidence", interval->confidence}};
}

Json skid_in_instructions_of(const Measurement& m) {
  Json skid = distance_of(m.instructions, Unit::whole);
  skid["p50_interval"] = quantile_interval_of(m, &DistanceIntervals::p50);
  skid["p90_interval"] = quantile_interval_of(m, &DistanceIntervals::p90);
  skid["p99_interval"] = quantile_interval_of(m, &DistanceIntervals::p99);
  skid["mean_interval"] = m.intervals ? interval_of(m.intervals->mean) : Json();
  return skid;
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

/// Returns the name of a value; null for the first name, which means unknown.
template <typename Enum, std::size_t N>
Json named(Enum value, const std::array<std::string_view, N>& names) {
  const auto index = static_cast<std::size_t>(value);
  return index == 0 ? Json() : Json(names.at(index));
}

Json triggers_of(const Measurement& m) {
  Json triggers = Json::array();
  for (std::size_t i = 0; i < m.triggers.size(); ++i) {
    triggers.push_back({{"address", hexadecimal(m.trigger_addresses[i])},
                        {"hits", m.triggers[i].hits},
                        {"samples", m.triggers[i].samples}});
  }
  return triggers;
}

/// Returns a pair of offset and count for each offset, so that a report can replace its recording.
Json offsets_of(const analysis::OffsetCounts& offsets) {
  return array_of(offsets.counts(), [](const auto& count) {
    return Json::array({count.first, count.second});
  });
}

Json skid_in_events_of(const std::optional<analysis::SkidInEvents>& skid) {
  if (!skid) return nullptr;
  const analysis::OffsetCounts& overshoots = skid->overshoots;
  const auto known = [&](std::int64_t events) {
    return overshoots.empty() ? Json() : Json(events);
  };
  return {{"samples", overshoots.total()},           {"left_out", skid->left_out},
          {"p50", known(overshoots.quantile(0.50))}, {"p99", known(overshoots.quantile(0.99))},
          {"max", known(overshoots.quantile(1))},    {"refused", text_or_null(skid->refused)}};
}

Json skid_basis_of(const std::optional<analysis::SkidInEvents>& skid) {
  if (!skid) return nullptr;
  return {{"counts", offsets_of(skid->overshoots)},
          {"left_out", skid->left_out},
          {"refused", text_or_null(skid->refused)}};
}

Json pairs_basis_of(const std::optional<analysis::SamplePairs>& pairs) {
  if (!pairs) return nullptr;
  return {{"iteration", pairs->iteration},
          {"distances", pairs->distances},
          {"counts", pairs->counts},
          {"delays", offsets_of(pairs->delays)},
          {"left_out", pairs->left_out}};
}

Json basis_of(const analysis::Basis& basis) {
  FieldWriter io;
  io("judgeable", judgeable_name(basis.not_judged));
  basis_fields(io, basis);
  io("skid_in_events", skid_basis_of(basis.skid_in_events));
  io("sample_pairs", pairs_basis_of(basis.sample_pairs));
  io("offsets", Json{{"instructions", offsets_of(basis.tally.instructions)},
                     {"bytes", offsets_of(basis.tally.bytes)},
                     {"censored", offsets_of(basis.tally.censored)}});
  return io.take();
}

/// Returns how many warnings are of each kind, in the order of the warnings.
Json warning_counts_of(const Measurement& m) {
  return {{"event", m.warnings.size()},
          {"counts", m.count_warnings.size()},
          {"recording", m.recording_warnings ? m.recording_warnings->size() : 0}};
}

/// Returns all warnings on a measurement. Those on its recording are repeated in each of its
/// measurements, so that each is complete alone.
std::vector<std::string> warnings_of(const Measurement& m) {
  auto warnings = m.warnings;
  warnings.insert(warnings.end(), m.count_warnings.begin(), m.count_warnings.end());
  if (m.recording_warnings) {
    warnings.insert(warnings.end(), m.recording_warnings->begin(), m.recording_warnings->end());
  }
  return warnings;
}

Json address_of(const std::optional<analysis::Addresses>& addresses) {
  if (!addresses) return nullptr;
  Json object = FieldWriter::json_of(*addresses);
  const analysis::Cause cause = analysis::cause_of(*addresses);
  object["contradicted"] = FieldWriter::json_of(cause.contradicted);
  object["cause"] = analysis::cause_words(cause.verdict);
  object["remark"] = analysis::describe(*addresses);
  return object;
}

Json measurement_of(const Measurement& value) {
  FieldWriter io;
  source_fields(io, value);
  SKID_MEMBERS(parts, merged_from, command_lines);
  recording_fields(io, value);
  io("precise", Json{{"requested", value.precise.requested},
                     {"recorded", value.precise.recorded},
                     {"level_3", named(value.basis.level_three, kLevelThreeNames)},
                     {"exact_ip_means", named(value.basis.exact_ip, kExactIpNames)},
                     {"exact_ip_samples", value.precise.exact_ip_samples},
                     {"exact_ip_hits", value.basis.tally.exact_hits},
                     {"exact_ip_off_trigger", value.basis.tally.exact_off_trigger}});
  io("period", Json{{"requested", value.period.requested},
                    {"effective", value.period.effective},
                    {"sum", value.basis.period_sum}});
  io("trigger", trigger_of(value.trigger));
  io("samples", samples_of(value));
  io("judged_samples", value.samples.judged());
  io("located_samples", value.samples.located());
  io("inside_instruction", value.basis.tally.inside_instruction);
  io("contradicted_hits", value.basis.tally.contradicted_hits);
  loss_fields(io, value);
  SKID_MEMBERS(hit_ratio, expected_hit_share);
  io("skid", Json{{"instructions", skid_in_instructions_of(value)},
                  {"bytes", distance_of(value.bytes, Unit::whole)},
                  {"tsc_ticks", distance_of(value.tsc_ticks, Unit::fraction)},
                  {"cycles", nullptr},
                  {"events", skid_in_events_of(value.basis.skid_in_events)}});
  io("constant_skid", value.constant_skid);
  io("modulo", value.retirement_groups);
  io("histogram", histogram_of(value));
  io("contract", value.contract);
  io("triggers", triggers_of(value));
  io("bias", value.bias);
  io("delay",
     json_of_delay(value.delay, value.basis.sample_pairs.value_or(analysis::SamplePairs{})));
  SKID_MEMBERS(evenness, events_per_iteration, ip_check);
  io("address", address_of(value.basis.addresses));
  io("basis", basis_of(value.basis));
  io("warnings", warnings_of(value));
  io("warning_counts", warning_counts_of(value));
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

constexpr std::string_view kColumnsBeforeBin =
    "period_requested=period/requested period=period/effective trigger=trigger/kind "
    "samples_read=samples/read judged=judged_samples hits=samples/hit";
constexpr std::string_view kColumnsAfterBin =
    "addresses=address/contradicted/total contradicted=address/contradicted/count "
    "cause=address/cause recording_path=path evenness=evenness/verdict "
    "evenness_largest_ratio=evenness/largest_ratio evenness_p=evenness/p "
    "skid_events_p50=skid/events/p50 skid_events_p99=skid/events/p99 "
    "skid_events_max=skid/events/max delay_low=delay/low delay_high=delay/high "
    "delay_predicted=delay/predicted delay_independent=delay/independent";

void add_rows(const Measurement& m, std::string& csv) {
  const Json measurement = measurement_of(m);
  const std::string before =
      csv_fields(kIdentityColumns, measurement) + ',' + csv_fields(kColumnsBeforeBin, measurement);
  const Json path{{"path", m.path ? Json(describe(*m.path)) : Json()}};
  const std::string after = csv_fields(kColumnsAfterBin, measurement, path);
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
                                csv_header(kColumnsBeforeBin), csv_header(kColumnsAfterBin));
  for (const Measurement& measurement : measurements) add_rows(measurement, csv);
  return csv;
}

}  // namespace skid::output
