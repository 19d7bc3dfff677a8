#include "src/output/report/numbers.h"

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
#include "analysis/intervals.h"
#include "analysis/measurement.h"
#include "analysis/offset_counts.h"
#include "analysis/remedy.h"
#include "analysis/retirement_groups.h"
#include "analysis/sample_class.h"
#include "analysis/share.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "src/output/bias_fields.h"  // IWYU pragma: keep
#include "src/output/cell.h"
#include "src/output/cpu_fields.h"  // IWYU pragma: keep
#include "src/output/delay_json.h"
#include "src/output/json_values.h"
#include "src/output/number_text.h"
#include "src/output/report/evidence.h"
#include "src/output/report/number_cells.h"
#include "src/output/report/report_fields.h"
#include "src/output/report/verdict_words.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/support/precise_level.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace skid {

SKID_WRITTEN_FIELDS(analysis::QuantileInterval::Grouped, value, low, high)

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
void fields(FieldWriter& io, const analysis::Remedy& value) {
  SKID_MEMBERS(samples);
  io("text", output::remedy_text(value));
}

void fields(FieldWriter& io, const analysis::Contract& value) {
  SKID_MEMBERS(level);
  io("promise", value.constraint);
  SKID_MEMBERS(verdict, certified, share, not_corrected, remedy);
  io("promised_share", analysis::kRequiredShare);
  io("samples_needed", analysis::samples_to_show(analysis::kRequiredShare));
}

void fields(FieldWriter& io, const analysis::Evenness& value) {
  SKID_MEMBERS(of, verdict);
  io("promised", value.required);
  io("chi_square", value.test.chi_square);
  io("degrees", value.test.degrees);
  io("p", value.test.p);
  SKID_MEMBERS(largest_ratio);
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
  const Distance value = distance.value_or(Distance{});
  const auto length = [unit](double of) {
    return unit == Unit::whole ? Json(std::llround(of)) : Json(of);
  };
  Json object{
      {"min", length(value.min)}, {"p50", length(value.p50)},   {"p90", length(value.p90)},
      {"p99", length(value.p99)}, {"max", length(value.max)},   {"mean", value.mean},
      {"stddev", value.stddev},   {"mode", length(value.mode)}, {"mode_share", value.mode_share}};
  if (!distance) {
    for (Json& number : object) number = nullptr;
  }
  Json& at_least = object["at_least"] = Json::array();
  if (value.p50_at_least) at_least.push_back("p50");
  if (value.p90_at_least) at_least.push_back("p90");
  if (value.p99_at_least) at_least.push_back("p99");
  // A maximum that is a lower bound makes the mean one.
  if (value.max_at_least) at_least.insert(at_least.end(), {"max", "mean"});
  return object;
}

Json interval_of(const analysis::DistanceIntervals::Quantile& interval) {
  Json at_least = Json::array();
  if (interval.low_at_least) at_least.push_back("low");
  if (interval.high_at_least) at_least.push_back("high");
  return {{"low", interval.low},
          {"high", interval.high},
          {"confidence", interval.confidence},
          {"at_least", std::move(at_least)},
          {"grouped", FieldWriter::json_of(interval.grouped)}};
}

Json interval_of(const std::optional<analysis::Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"confidence", interval->confidence}};
}

Json skid_in_instructions_of(const Measurement& m) {
  const auto& intervals = m.intervals;
  Json skid = distance_of(m.instructions, Unit::whole);
  skid["p50_interval"] = intervals ? interval_of(intervals->p50) : Json();
  skid["p90_interval"] = intervals ? interval_of(intervals->p90) : Json();
  skid["p99_interval"] = intervals ? interval_of(intervals->p99) : Json();
  skid["mean_interval"] = intervals ? interval_of(intervals->mean) : Json();
  return skid;
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

/// Returns the JSON of a verdict, with what it follows from.
Json with_evidence(const auto& verdict, const std::string& evidence) {
  Json object = FieldWriter::json_of(verdict);
  object["evidence"] = evidence;
  return object;
}

Json address_of(const std::optional<analysis::Addresses>& addresses) {
  if (!addresses) return nullptr;
  Json object = FieldWriter::json_of(*addresses);
  const analysis::Cause cause = analysis::cause_of(*addresses);
  object["contradicted"] = FieldWriter::json_of(cause.contradicted);
  object["cause"] = cause_words(cause.verdict);
  object["remark"] = describe_addresses(*addresses);
  return object;
}

// Cells of values that have more than one number.

Cell requested_level_cell(const Number& number) {
  return level_cell(number.measurement.precise);
}

Cell expected_events_cell(const Number& number) {
  const Json& fewest = number.object["fewest_expected"];
  if (fewest == number.value) return decimal_cell(number);
  return range_cell(number.page, fewest.get<double>(), number.value.get<double>());
}

Cell cached_share_cell(const Number& number) {
  return number.value == 1 ? Cell{"not known"} : percent_cell(number);
}

Cell hit_ratio_cell(const Number& number) {
  return {percent_cell(number).text, Ink::bold};
}

Cell hit_interval_cell(const Number& number) {
  const analysis::Share& ratio = number.measurement.hit_ratio;
  return {share_range(number.page, ratio.low, ratio.high)};
}

Cell mean_interval_cell(const Number& number) {
  const Measurement& m = number.measurement;
  const analysis::Interval& mean = *m.intervals->mean;
  return range_cell(number.page, mean.low, mean.high, m.instructions->max_at_least);
}

/// Returns whether nearly all samples are at one offset, and that offset.
Cell constant_skid_cell(const Number& number) {
  const auto& [offset, share, verdict] = *number.measurement.constant_skid;
  if (verdict == analysis::Verdict::kept) return {"yes, " + analysis::signed_number(offset)};
  return {verdict == analysis::Verdict::broken ? "no" : "undecided"};
}

/// Returns a length in ticks of x86's time stamp counter.
Cell tsc_ticks_cell(const Number& number) {
  return number.measurement.cpu.arch == "aarch64" ? unknown_cell() : length_cell(number);
}

/// Returns a length in ticks of Arm's virtual counter.
Cell cntvct_ticks_cell(const Number& number) {
  return number.measurement.cpu.arch == "aarch64" ? length_cell(number) : unknown_cell();
}

Cell cause_cell(const Number& number) {
  return {std::string(cause_words(*number.measurement.basis.addresses))};
}

}  // namespace

void add_numbers(FieldWriter& io, const Measurement& value, const Json& histogram) {
  io("precise", Json{{"requested", value.precise.requested},
                     {"recorded", value.precise.recorded},
                     {"level_3", named(value.basis.level_three, names_of(LevelThree{}))},
                     {"exact_ip_means", named(value.basis.exact_ip, names_of(ExactIp{}))},
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
  io("contradicted_addresses", value.basis.tally.contradicted_addresses);
  loss_fields(io, value);
  SKID_MEMBERS(hit_ratio, expected_hit_share);
  io("skid", Json{{"instructions", skid_in_instructions_of(value)},
                  {"bytes", distance_of(value.bytes, Unit::whole)},
                  {"tsc_ticks", distance_of(value.tsc_ticks, Unit::fraction)},
                  {"cycles", nullptr},
                  {"events", skid_in_events_of(value.basis.skid_in_events)}});
  io("constant_skid", value.constant_skid);
  io("modulo", value.retirement_groups);
  io("histogram", histogram);
  io("contract", with_evidence(value.contract, contract_evidence(value)));
  io("triggers", triggers_of(value));
  io("bias", value.bias);
  io("delay",
     json_of_delay(value.delay, value.basis.sample_pairs.value_or(analysis::SamplePairs{})));
  io("evenness",
     value.evenness ? with_evidence(*value.evenness, evenness_evidence(value)) : Json());
  SKID_MEMBERS(events_per_iteration, ip_check);
  io("address", address_of(value.basis.addresses));
}

const std::string_view kNumbersBeforeBin =
    "period_requested=period/requested period=period/effective trigger=trigger/kind "
    "samples_read=samples/read judged=judged_samples hits=samples/hit";
const std::string_view kNumbersAfterBin =
    "addresses=address/contradicted/total contradicted=address/contradicted/count "
    "cause=address/cause recording_path=path evenness=evenness/verdict "
    "evenness_largest_ratio=evenness/largest_ratio evenness_p=evenness/p "
    "skid_events_p50=skid/events/p50 skid_events_p99=skid/events/p99 "
    "skid_events_max=skid/events/max delay_low=delay/low delay_high=delay/high "
    "delay_predicted=delay/predicted delay_independent=delay/independent "
    "contradicted_addresses=contradicted_addresses";

const NumberRows& number_rows() {
  using enum NumberRow::Shown;
  static const NumberRows rows{
      .settings = {{"precise level", "precise", requested_level_cell},
                   {"period", "period", period_cell},
                   {"samples read", "samples/read", whole_cell},
                   {"  with EXACT_IP", "precise/exact_ip_samples", whole_cell}},
      .iteration = {{"events per iteration", "events_per_iteration/measured", decimal_cell},
                    {"  expected", "events_per_iteration/expected", expected_events_cell},
                    {"  of the chase in caches, at most", "events_per_iteration/cached_share",
                     cached_share_cell, if_any}},
      .hits = {{"hit ratio", "hit_ratio/value", hit_ratio_cell},
               {"  95% interval", "hit_ratio/low", hit_interval_cell},
               {"  expected by chance", "expected_hit_share", percent_cell, if_any}},
      .skid = {{"  p50", "skid/instructions/p50", length_cell},
               {kIntervalRow, "skid/instructions/p50_interval", interval_cell},
               {"  p90", "skid/instructions/p90", length_cell},
               {"  p99", "skid/instructions/p99", length_cell},
               {kIntervalRow, "skid/instructions/p99_interval", interval_cell},
               {"  max", "skid/instructions/max", length_cell},
               {"  mean", "skid/instructions/mean", length_cell},
               {kIntervalRow, "skid/instructions/mean_interval", mean_interval_cell},
               {"  constant", "constant_skid", constant_skid_cell},
               {"  in groups of", "modulo/strongest", whole_cell, if_any},
               {"  p50 in bytes", "skid/bytes/p50", length_cell},
               {"  p50 in TSC ticks", "skid/tsc_ticks/p50", tsc_ticks_cell, if_any},
               {"  p50 in CNTVCT ticks", "skid/tsc_ticks/p50", cntvct_ticks_cell, if_any}},
      .skid_in_events = {{"  samples", "skid/events/samples", whole_cell},
                         {"  left out", "skid/events/left_out", whole_cell},
                         {"  p50", "skid/events/p50", whole_cell},
                         {"  p99", "skid/events/p99", whole_cell},
                         {"  max", "skid/events/max", whole_cell}},
      .triggers = {{"  largest ratio", "bias/largest_ratio", decimal_cell, if_any},
                   {"  chi-square p", "bias/p", decimal_cell, if_any}},
      .delay = {{"delay, instructions, from", "delay/low", whole_cell, if_any},
                {"  to", "delay/high", whole_cell, if_any},
                {"  p5", "delay/p5", whole_cell, if_any},
                {"  p50", "delay/p50", whole_cell, if_any},
                {"  p95", "delay/p95", whole_cell, if_any},
                {"  next samples predicted", "delay/predicted", percent_cell, if_any},
                {"  if independent", "delay/independent", percent_cell, if_any}},
      .evenness = {{"evenness", "evenness/verdict", word_cell, if_any},
                   {"  largest ratio to even", "evenness/largest_ratio", decimal_cell, if_any},
                   {"  chi-square p", "evenness/p", p_cell, if_any}},
      .losses = {{"no hits by data source", "contradicted_hits", count_cell, if_any},
                 {"no hits by data address", "contradicted_addresses", count_cell, if_any},
                 {"lost (LOST)", "lost_records", count_cell, if_any},
                 {"lost (LOST_SAMPLES)", "lost_samples", count_cell, if_any},
                 {"throttled", "throttled", count_cell, if_any},
                 {"of unknown events", "unknown_ids", count_cell, if_any}},
      .addresses = {{"  contradicted", "address/contradicted/value", percent_cell, if_any},
                    {"  cause", "address", cause_cell}}};
  return rows;
}

}  // namespace skid::output
