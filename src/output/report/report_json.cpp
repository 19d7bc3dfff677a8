#include "analysis/repeats.h"
#include "src/output/json_fields.h"
#include "src/output/report/report.h"
#include "src/support/json_text.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Distance;
using analysis::Measurement;
using analysis::SampleClass;
using analysis::Share;

constexpr const char* kSchema = "skidscan.report/1";

Json event_of(const analysis::EventIdentity& event) {
  return {{"label", event.label},
          {"requested", value_or_null(event.requested)},
          {"recorded", event.recorded},
          {"type", event.type},
          {"config", hexadecimal(event.config)},
          {"config1", hexadecimal(event.config1)},
          {"config2", hexadecimal(event.config2)},
          {"breakpoint_type", event.breakpoint_type},
          {"excluded", event.excluded},
          {"swapped", event.substituted},
          {"remark", text_or_null(event.remark)}};
}

Json trigger_of(const std::optional<analysis::Trigger>& trigger) {
  if (!trigger) return {{"kind", nullptr}, {"address", nullptr}, {"symbol", nullptr}};
  return {{"kind", trigger->kind},
          {"address", hexadecimal(trigger->address)},
          {"symbol", text_or_null(trigger->symbol)}};
}

Json samples_of(const Measurement& m) {
  Json samples = {{"read", m.samples.read()}};
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<SampleClass>(i);
    samples[std::string(name_of(sample_class))] = m.samples[sample_class];
  }
  return samples;
}

Json share_of(const Share& share) {
  const bool known = share.total > 0;
  return {{"value", known ? finite_or_null(share.value) : Json()},
          {"low", known ? finite_or_null(share.low) : Json()},
          {"high", known ? finite_or_null(share.high) : Json()},
          {"confidence", share.confidence},
          {"count", share.count},
          {"total", share.total}};
}

enum class Unit { whole, fraction };

/// The same keys whether there are samples or not. Whole units give whole numbers.
Json distance_of(const std::optional<Distance>& distance, Unit unit) {
  const auto length = [&](double Distance::*value) -> Json {
    if (!distance) return nullptr;
    const double number = (*distance).*value;
    if (unit == Unit::whole) return static_cast<std::int64_t>(std::llround(number));
    return finite_or_null(number);
  };
  const auto fraction = [&](double Distance::*value) {
    return distance ? finite_or_null((*distance).*value) : Json();
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
  return {{"low", value_or_null(interval.low)},
          {"high", value_or_null(interval.high)},
          {"confidence", interval.confidence},
          {"at_least", std::move(at_least)},
          {"grouped",
           {{"value", finite_or_null(interval.grouped.value)},
            {"low", finite_or_null(interval.grouped.low)},
            {"high", finite_or_null(interval.grouped.high)}}}};
}

Json interval_of(const analysis::Interval& interval) {
  return {{"low", finite_or_null(interval.low)},
          {"high", finite_or_null(interval.high)},
          {"confidence", interval.confidence}};
}

Json skid_in_instructions_of(const Measurement& m) {
  Json skid = distance_of(m.instructions, Unit::whole);
  skid["p50_interval"] = quantile_interval_of(m, &DistanceIntervals::p50);
  skid["p90_interval"] = quantile_interval_of(m, &DistanceIntervals::p90);
  skid["p99_interval"] = quantile_interval_of(m, &DistanceIntervals::p99);
  skid["mean_interval"] =
      m.intervals && m.intervals->mean ? interval_of(*m.intervals->mean) : Json();
  return skid;
}

Json constant_skid_of(const std::optional<analysis::ConstantSkid>& constant) {
  if (!constant) return nullptr;
  Json answer;
  if (constant->verdict == analysis::Verdict::kept) answer = true;
  if (constant->verdict == analysis::Verdict::broken) answer = false;
  return {{"constant", std::move(answer)},
          {"offset", constant->offset},
          {"share", share_of(constant->share)}};
}

Json modulo_of(const std::optional<analysis::RetirementGroups>& groups) {
  if (!groups) return nullptr;
  Json moduli = Json::array();
  for (const analysis::Residues& residues : groups->moduli) {
    const auto& excess = residues.excess;
    moduli.push_back({{"modulus", residues.modulus},
                      {"counts", residues.counts},
                      {"excess", excess ? finite_or_null(excess->share) : Json()},
                      {"chi_square", excess ? finite_or_null(excess->chi_square) : Json()},
                      {"p", excess ? finite_or_null(excess->p) : Json()}});
  }
  return {{"strongest", value_or_null(groups->strongest)}, {"moduli", std::move(moduli)}};
}

Json histogram_of(const Measurement& m) {
  Json bins = Json::array();
  for (const analysis::Bin& bin : m.histogram.bins) {
    bins.push_back({{"lo", bin.lo}, {"hi", bin.hi}, {"count", bin.count}});
  }
  return {{"unit", "instructions"},           {"bin_width", m.bin_width},
          {"bins", std::move(bins)},          {"underflow", m.histogram.underflow},
          {"overflow", m.histogram.overflow}, {"lowest", m.lowest_offset},
          {"highest", m.highest_offset},      {"censored_from", value_or_null(m.censored_from)}};
}

Json contract_of(const analysis::Contract& contract) {
  return {{"level", contract.level},
          {"promise", contract.promise},
          {"verdict", std::string(name_of(contract.verdict))},
          {"certified", contract.certified},
          {"share", share_of(contract.share)},
          {"promised_share", analysis::kPromisedShare},
          {"samples_needed", analysis::samples_to_show(analysis::kPromisedShare)},
          {"evidence", contract.evidence}};
}

Json first_difference_of(const analysis::IpCheck& check) {
  if (!check.first_difference) return nullptr;
  const auto& difference = *check.first_difference;
  return {{"sampled", hexadecimal(difference.sampled)},
          {"witnessed", hexadecimal(difference.traced)},
          {"tid", difference.tid},
          {"time", difference.time}};
}

Json ip_check_of(const std::optional<analysis::IpCheck>& check) {
  if (!check) return nullptr;
  return {{"tracepoint", check->tracepoint},
          {"compared", check->compared},
          {"agreeing", check->agreeing},
          {"unpaired", check->unpaired},
          {"first_difference", first_difference_of(*check)}};
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

Json bias_of(const std::optional<analysis::Bias>& bias) {
  if (!bias) return nullptr;
  return {{"largest_ratio", finite_or_null(bias->largest_ratio)},
          {"chi_square", finite_or_null(bias->chi_square)},
          {"degrees", bias->degrees},
          {"p", finite_or_null(bias->p)}};
}

Json time_of(const std::optional<analysis::SampleTime>& time) {
  if (!time) return nullptr;
  return {{"first", time->first}, {"last", time->last}};
}

Json parts_of(const Measurement& m) {
  Json parts = Json::array();
  for (const analysis::Part& part : m.merged_from) {
    parts.push_back({{"run", text_or_null(part.run)},
                     {"file", part.file},
                     {"repeat", part.repeat},
                     {"samples", part.samples},
                     {"time", time_of(part.time)}});
  }
  return parts;
}

/// One pair an offset, so that a report can replace its recording.
Json offsets_of(const analysis::OffsetCounts& offsets) {
  Json pairs = Json::array();
  for (const auto& [offset, count] : offsets.counts()) {
    pairs.push_back(Json::array({offset, count}));
  }
  return pairs;
}

Json geometry_of(const std::optional<analysis::Geometry>& geometry) {
  if (!geometry) return nullptr;
  Json addresses = Json::array();
  for (const std::uint64_t address : geometry->trigger_addresses) {
    addresses.push_back(hexadecimal(address));
  }
  return {{"lowest_offset", geometry->lowest_offset},
          {"highest_offset", geometry->highest_offset},
          {"censored_from", value_or_null(geometry->censored_from)},
          {"censored_from_bytes", value_or_null(geometry->censored_from_bytes)},
          {"even_hit_share", finite_or_null(geometry->even_hit_share)},
          {"trigger_addresses", std::move(addresses)}};
}

Json basis_of(const analysis::Basis& basis) {
  return {{"judgeable", judgeable_name(basis.not_judged)},
          {"ignores_level", basis.ignores_level},
          {"equal_triggers", basis.equal_triggers},
          {"ticks_per_instruction", finite_or_null(basis.ticks_per_instruction)},
          {"iterations", value_or_null(basis.iterations)},
          {"geometry", geometry_of(basis.geometry)},
          {"offsets",
           {{"instructions", offsets_of(basis.tally.instructions)},
            {"bytes", offsets_of(basis.tally.bytes)},
            {"censored", offsets_of(basis.tally.censored)}}}};
}

/// How many of the warnings are of what kind, in their order.
Json warning_counts_of(const Measurement& m) {
  return {{"event", m.warnings.size()},
          {"counts", m.count_warnings.size()},
          {"recording", m.recording_warnings ? m.recording_warnings->size() : 0}};
}

/// Repeated in each measurement, so that each is complete alone.
std::vector<std::string> warnings_of(const Measurement& m) {
  auto warnings = m.warnings;
  warnings.insert(warnings.end(), m.count_warnings.begin(), m.count_warnings.end());
  if (m.recording_warnings) {
    warnings.insert(warnings.end(), m.recording_warnings->begin(), m.recording_warnings->end());
  }
  return warnings;
}

Json measurement_of(const Measurement& m) {
  return {{"run", text_or_null(m.run)},
          {"file", m.file},
          {"repeat", m.repeat},
          {"time", time_of(m.time)},
          {"parts", m.parts},
          {"merged_from", parts_of(m)},
          {"command_lines", m.command_lines},
          {"synthetic", m.synthetic},
          {"read_in_part", m.read_in_part},
          {"cpu", cpu_json(m.cpu)},
          {"kernel", text_or_null(m.kernel)},
          {"event", event_of(m.event)},
          {"precise",
           {{"requested", value_or_null(m.precise.requested)},
            {"recorded", m.precise.recorded},
            {"exact_ip_samples", m.precise.exact_ip_samples},
            {"exact_ip_hits", m.basis.tally.exact_hits},
            {"exact_ip_off_trigger", m.basis.tally.exact_off_trigger}}},
          {"period",
           {{"requested", value_or_null(m.period.requested)},
            {"effective", finite_or_null(m.period.effective)},
            {"sum", value_or_null(m.basis.period_sum)}}},
          {"trigger", trigger_of(m.trigger)},
          {"samples", samples_of(m)},
          {"judged_samples", m.samples.judged()},
          {"located_samples", m.samples.located()},
          {"inside_instruction", m.basis.tally.inside_instruction},
          {"lost_records", m.lost_records},
          {"lost_samples", m.lost_samples},
          {"throttled", m.throttled},
          {"unknown_ids", m.unknown_ids},
          {"hit_ratio", share_of(m.hit_ratio)},
          {"expected_hit_share", finite_or_null(m.expected_hit_share)},
          {"skid",
           {{"instructions", skid_in_instructions_of(m)},
            {"bytes", distance_of(m.bytes, Unit::whole)},
            {"tsc_ticks", distance_of(m.tsc_ticks, Unit::fraction)},
            {"cycles", nullptr}}},
          {"constant_skid", constant_skid_of(m.constant_skid)},
          {"modulo", modulo_of(m.retirement_groups)},
          {"histogram", histogram_of(m)},
          {"contract", contract_of(m.contract)},
          {"triggers", triggers_of(m)},
          {"bias", bias_of(m.bias)},
          {"events_per_iteration",
           {{"measured", finite_or_null(m.events_per_iteration.measured)},
            {"expected", finite_or_null(m.events_per_iteration.expected)}}},
          {"ip_check", ip_check_of(m.ip_check)},
          {"basis", basis_of(m.basis)},
          {"warnings", warnings_of(m)},
          {"warning_counts", warning_counts_of(m)}};
}

Json over_runs_of(const std::optional<analysis::OverRuns>& over_runs) {
  if (!over_runs) return nullptr;
  return {{"value", finite_or_null(over_runs->interval.value)},
          {"low", finite_or_null(over_runs->interval.low)},
          {"high", finite_or_null(over_runs->interval.high)},
          {"confidence", over_runs->interval.confidence},
          {"runs", over_runs->runs},
          {"at_least", over_runs->at_least}};
}

Json repeats_of(const std::vector<Measurement>& measurements) {
  std::vector<const Measurement*> all;
  all.reserve(measurements.size());
  for (const Measurement& measurement : measurements) all.push_back(&measurement);
  Json list = Json::array();
  for (const analysis::RepeatedMeasurement& repeats : analysis::repeats_of(all)) {
    const Measurement& first = *repeats.runs.front();
    Json indices = Json::array();
    for (const Measurement* run : repeats.runs) indices.push_back(run - measurements.data());
    list.push_back({{"event", first.event.label},
                    {"level", first.precise.requested.value_or(first.precise.recorded)},
                    {"measurements", std::move(indices)},
                    {"hit_ratio", over_runs_of(repeats.hit_ratio)},
                    {"p50", over_runs_of(repeats.median)},
                    {"mean", over_runs_of(repeats.mean)}});
  }
  return list;
}

}  // namespace

std::string report_json(const std::vector<Measurement>& measurements) {
  Json list = Json::array();
  for (const Measurement& measurement : measurements) list.push_back(measurement_of(measurement));
  const Json report = {{"schema", kSchema},
                       {"tool_version", SKIDSCAN_VERSION},
                       {"measurements", std::move(list)},
                       {"repeats", repeats_of(measurements)}};
  return json_text(report, 2) + '\n';
}

}  // namespace skid::output
