#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/command_line.h"
#include "analysis/delay.h"
#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/geometry.h"
#include "analysis/ip_check.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/part.h"
#include "analysis/sample_class.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "src/output/report/report.h"
#include "src/output/report/report_fields.h"
#include "src/support/field_reader.h"
#include "src/support/field_values.h"
#include "src/support/json_value.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::OffsetCounts;
using analysis::SampleClass;
using analysis::Tally;

constexpr std::size_t kMostMeasurements = 100'000;
constexpr std::size_t kMostElements = 65'536;
constexpr std::int64_t kWidestBin = 1'000'000;

constexpr const char* kWriteAgain =
    "write the report again: skidscan report RECORDING --format json";

/// Reads the number of a measurement's parts, and the parts that are listed.
void read_parts(const JsonValue& value, Measurement& measurement) {
  measurement.parts = value["parts"].unsigned_integer(kMostSamples);
  const JsonValue list = value["merged_from"];
  const std::vector<analysis::Part>& listed = measurement.merged_from;
  FieldReader{value}("merged_from", measurement.merged_from);
  const std::uint64_t parts = measurement.parts;
  const std::uint64_t expected =
      parts > 1 ? std::min<std::uint64_t>(parts, analysis::kMostParts) : 0;
  if (parts == 0 || listed.size() != expected) {
    list.refuse(fmt::format("{} elements of {} parts", listed.size(), parts),
                fmt::format("{}", expected));
  }
}

analysis::Breakdown read_breakdown(const JsonValue& samples) {
  analysis::Breakdown breakdown;
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<SampleClass>(i);
    breakdown.add(sample_class, samples[name_of(sample_class)].unsigned_integer(kMostSamples));
  }
  const JsonValue read = samples["read"];
  if (read.unsigned_integer(kMostSamples) != breakdown.read()) {
    read.refuse(fmt::format("{}", read.unsigned_integer()),
                fmt::format("the sum of the classes, {}", breakdown.read()));
  }
  return breakdown;
}

/// Reads counts by offset. `all`: the number of samples that they must add up to. `what`: a
/// participle that describes these samples in errors.
OffsetCounts read_offsets(const JsonValue& value, std::int64_t lowest, std::int64_t highest,
                          std::uint64_t all, std::string_view what = "located") {
  OffsetCounts offsets;
  std::optional<std::int64_t> before;
  for (const auto& [offset, count] : value.pairs(kMostJsonValues)) {
    if (before && offset <= *before) {
      value.refuse(fmt::format("offset {} after {}", offset, *before), "ascending offsets");
    }
    if (offset < lowest || offset > highest) {
      value.refuse(fmt::format("offset {}", offset), fmt::format("{} to {}", lowest, highest));
    }
    if (count == 0 || count > all - offsets.total()) {
      value.refuse(fmt::format("{} samples at offset {}", count, offset),
                   fmt::format("1 or more, and {} in all", all));
    }
    offsets.add(offset, count);
    before = offset;
  }
  if (offsets.total() != all) {
    value.refuse(fmt::format("{} samples", offsets.total()),
                 fmt::format("the {} that were {}", all, what));
  }
  return offsets;
}

std::uint64_t sum_from(const OffsetCounts& offsets, std::int64_t first) {
  std::uint64_t sum = 0;
  const auto& counts = offsets.counts();
  for (auto at = counts.lower_bound(first); at != counts.end(); ++at) sum += at->second;
  return sum;
}

/// Checks that offsets and classes agree on each sample.
void check_classes(const JsonValue& offsets, const Tally& tally,
                   const analysis::Geometry& geometry) {
  const auto refuse = [&](std::uint64_t found, std::string_view where, std::string_view classes,
                          std::uint64_t allowed) {
    if (found == allowed) return;
    offsets.refuse(fmt::format("{} samples {}", found, where),
                   fmt::format("those that are {}, {}", classes, allowed));
  };
  const analysis::Breakdown& breakdown = tally.breakdown;
  const std::uint64_t hits = tally.instructions.count_at(0);
  refuse(hits, "at offset 0", "hits", breakdown[SampleClass::hit]);
  const std::uint64_t after = sum_from(tally.instructions, 1);
  refuse(after, "after the trigger", "skids or censored",
         breakdown[SampleClass::skid] + breakdown[SampleClass::censored]);
  // The samples of the other classes are before the trigger. With several runways of unequal length
  // the offset alone does not show which samples are censored.
  const std::uint64_t censored =
      geometry.censored_from ? sum_from(tally.instructions, *geometry.censored_from) : 0;
  if (geometry.trigger_addresses.size() == 1 || breakdown[SampleClass::censored] > censored) {
    refuse(censored, "on the censored end of the runway", "censored",
           breakdown[SampleClass::censored]);
  }
}

constexpr const char* kCensoredUnknown =
    "an older report without the offsets of censored samples after several triggers: the farthest "
    "samples are shown as censored; read its recordings again";

/// Reads which of the located samples are censored. Older reports do not contain it: with one
/// trigger the offset decides, with several the farthest samples are taken (kCensoredUnknown).
OffsetCounts read_censored(const JsonValue& offsets, const Tally& tally,
                           const analysis::Geometry& geometry) {
  const std::uint64_t all = tally.breakdown[SampleClass::censored];
  const auto& located = tally.instructions.counts();
  OffsetCounts censored;
  if (const auto value = offsets.find("censored")) {
    const std::int64_t first = geometry.censored_from.value_or(geometry.highest_offset);
    censored = read_offsets(*value, first, geometry.highest_offset, all, "censored");
    for (const auto& [offset, count] : censored.counts()) {
      const std::uint64_t most = tally.instructions.count_at(offset);
      if (count > most) {
        value->refuse(fmt::format("{} samples at offset {}", count, offset),
                      fmt::format("at most the {} that were located there", most));
      }
    }
    return censored;
  }
  for (auto at = located.rbegin(); at != located.rend() && censored.total() < all; ++at) {
    censored.add(at->first, std::min(at->second, all - censored.total()));
  }
  return censored;
}

/// Reads a name. null, or no key as in older reports, is the first name, which means unknown.
template <typename Enum>
void read_name(const JsonValue& object, std::string_view key, Enum& to) {
  constexpr auto names = names_of(Enum{});
  const auto value = object.find(key);
  if (!value) return;
  const auto found = std::ranges::find(names, value->string());
  if (found == names.begin() || found == names.end()) {
    value->refuse_text(
        fmt::format("null or one of {}", fmt::join(names.begin() + 1, names.end(), ", ")));
  }
  to = static_cast<Enum>(found - names.begin());
}

/// Reads the hits and samples of each trigger. Those of a single trigger are not listed, because
/// they follow from other counts.
std::vector<analysis::TriggerCount> read_triggers(const JsonValue& value, const Tally& tally,
                                                  const analysis::Geometry& geometry) {
  const analysis::TriggerCount all{tally.breakdown[SampleClass::hit],
                                   tally.breakdown[SampleClass::hit] +
                                       tally.breakdown[SampleClass::skid] +
                                       tally.breakdown[SampleClass::censored]};
  const std::size_t listed =
      geometry.trigger_addresses.size() == 1 ? 0 : geometry.trigger_addresses.size();
  const auto elements = value.elements(kMostElements);
  if (elements.size() != listed) {
    value.refuse(fmt::format("{} triggers", elements.size()), fmt::format("{}", listed));
  }
  if (listed == 0) return {all};
  std::vector<analysis::TriggerCount> triggers;
  analysis::TriggerCount sum;
  for (const JsonValue& element : elements) {
    const std::uint64_t samples = element["samples"].unsigned_integer(all.samples - sum.samples);
    const std::uint64_t most_hits = std::min(samples, all.hits - sum.hits);
    triggers.push_back({element["hits"].unsigned_integer(most_hits), samples});
    sum += triggers.back();
  }
  if (sum != all) {
    value.refuse(fmt::format("{} hits and {} samples", sum.hits, sum.samples),
                 fmt::format("those of all triggers, {} and {}", all.hits, all.samples));
  }
  return triggers;
}

/// Reads the counts of samples with EXACT_IP, each at most the number of all such samples.
void read_exact_counts(const JsonValue& precise, Tally& tally) {
  const std::uint64_t hits = tally.breakdown[SampleClass::hit];
  tally.exact_samples = precise["exact_ip_samples"].unsigned_integer(tally.breakdown.read());
  tally.exact_hits = precise["exact_ip_hits"].unsigned_integer(std::min(hits, tally.exact_samples));
  tally.exact_off_trigger = precise["exact_ip_off_trigger"].unsigned_integer(
      std::min(tally.breakdown.judged() - hits, tally.exact_samples - tally.exact_hits));
}

/// Checks that no place has more samples than the breakdown has there.
void check_addresses(const JsonValue& value, const analysis::AddressTable& table,
                     const analysis::Breakdown& breakdown) {
  const auto refuse = [&value](std::string_view place, std::uint64_t counted, std::uint64_t most) {
    if (counted <= most) return;
    value.refuse(fmt::format("{} samples {}", counted, place), fmt::format("at most {}", most));
  };
  refuse("on the trigger", table.trigger.sum(), breakdown[SampleClass::hit]);
  refuse("after the trigger", table.successor.sum(),
         breakdown[SampleClass::skid] + breakdown[SampleClass::censored]);
  refuse("that are judged", table.judged().sum(), breakdown.judged());
  refuse("that are not judged", table.not_judged.sum(), breakdown.read() - breakdown.judged());
}

/// Reads the skid in events; absent in older reports. `read`: the samples of the event.
std::optional<analysis::SkidInEvents> read_skid_in_events(const JsonValue& basis,
                                                          std::uint64_t read) {
  const auto value = basis.find("skid_in_events");
  if (!value) return std::nullopt;
  analysis::SkidInEvents skid;
  FieldReader{*value}("refused", OrNull{skid.refused});
  const std::uint64_t values = skid.refused.empty() ? read : 0;
  skid.left_out = (*value)["left_out"].unsigned_integer(values);
  skid.overshoots = read_offsets((*value)["counts"], 0, std::numeric_limits<std::int64_t>::max(),
                                 values - skid.left_out, "read and not left out");
  return skid;
}

/// Reads the pairs of consecutive samples; absent in older reports. `read`: the samples of the
/// event.
std::optional<analysis::SamplePairs> read_sample_pairs(const JsonValue& basis, std::uint64_t read) {
  const auto value = basis.find("sample_pairs");
  if (!value) return std::nullopt;
  analysis::SamplePairs pairs;
  FieldReader io(*value);
  io("iteration", pairs.iteration, {.most = kFarthestOffset});
  io("distances", OrNull{pairs.distances}, {1, kFarthestOffset});
  io("counts", OrNull{pairs.counts}, {.most = read});
  std::uint64_t delays = 0;
  for (const auto& [delay, count] : (*value)["delays"].pairs(kMostJsonValues)) {
    delays += std::min(count, read + 1);
  }
  pairs.delays = read_offsets((*value)["delays"], 1, static_cast<std::int64_t>(pairs.iteration),
                              std::min(delays, read), "read");
  pairs.left_out = (*value)["left_out"].unsigned_integer(read);
  const std::size_t events = pairs.distances.size();
  const std::uint64_t length =
      std::accumulate(pairs.distances.begin(), pairs.distances.end(), std::uint64_t{0});
  constexpr std::size_t kMostEvents = 64;  // time grows with their cube
  const bool is_whole =
      events <= kMostEvents && (pairs.counts.empty() || pairs.counts.size() == events * events);
  if (pairs.iteration == 0 || !is_whole || pairs.pairs() > read ||
      (events > 0 && length != pairs.iteration)) {
    value->refuse(
        "pairs that contradict each other",
        "an iteration of at least 1, the sum of K distances as the iteration, and K x K counts");
  }
  return pairs;
}

analysis::Basis read_basis(const JsonValue& measurement) {
  const JsonValue value = measurement["basis"];
  analysis::Basis basis;
  Tally& tally = basis.tally;
  const JsonValue samples = measurement["samples"];
  tally.breakdown = read_breakdown(samples);
  const JsonValue judgeable = value["judgeable"];
  const auto reason = analysis::judgeable_named(judgeable.string());
  if (!reason) judgeable.refuse_text("what the documentation of the key lists");
  basis.not_judged = *reason;
  basis.events_to_record.reset();  // as null is read
  FieldReader io(value);
  basis_fields(io, basis);
  FieldReader{measurement["period"]}("sum", basis.period_sum);
  if (basis.geometry && basis.geometry->trigger_addresses.empty()) {
    value["geometry"]["trigger_addresses"].refuse("nothing", "an address");
  }

  const JsonValue offsets = value["offsets"];
  const std::uint64_t located = tally.breakdown.located();
  if (basis.geometry) {
    const auto& geometry = *basis.geometry;
    tally.instructions = read_offsets(offsets["instructions"], geometry.lowest_offset,
                                      geometry.highest_offset, located);
    tally.bytes = read_offsets(offsets["bytes"], std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max(), located);
    check_classes(offsets["instructions"], tally, geometry);
    tally.censored = read_censored(offsets, tally, geometry);
    tally.triggers = read_triggers(measurement["triggers"], tally, geometry);
  } else if (tally.breakdown.judged() > 0) {
    samples.refuse(fmt::format("{} judged samples", tally.breakdown.judged()),
                   "none where no trigger is known");
  }
  read_exact_counts(measurement["precise"], tally);
  if (const auto address = measurement.find("address")) {  // not in older reports
    FieldReader{measurement}("address", basis.addresses);
    check_addresses((*address)["samples"], basis.addresses->samples, tally.breakdown);
  }
  basis.skid_in_events = read_skid_in_events(value, tally.breakdown.read());
  basis.sample_pairs = read_sample_pairs(value, tally.breakdown.read());
  read_name(measurement["precise"], "exact_ip_means", basis.exact_ip);
  read_name(measurement["precise"], "level_3", basis.level_three);
  FieldReader counts(measurement);
  counts("inside_instruction", tally.inside_instruction, {.most = tally.breakdown.read()});
  // Not in older reports.
  const std::uint64_t loop = tally.breakdown[SampleClass::loop];
  counts("contradicted_hits", OrNull{tally.contradicted_hits}, {.most = loop});
  counts("contradicted_addresses", OrNull{tally.contradicted_addresses},
         {.most = loop - tally.contradicted_hits});
  return basis;
}

/// Reads the warnings that do not follow from the counts.
void read_warnings(const JsonValue& value, Measurement& measurement) {
  const JsonValue counts = value["warning_counts"];
  const std::vector<std::string> all = value["warnings"].strings(kMostElements);
  const std::uint64_t of_event = counts["event"].unsigned_integer(all.size());
  const std::uint64_t of_counts = counts["counts"].unsigned_integer(all.size() - of_event);
  const std::uint64_t rest = all.size() - of_event - of_counts;
  const JsonValue of_recording = counts["recording"];
  if (of_recording.unsigned_integer() != rest) {
    of_recording.refuse(fmt::format("{}", of_recording.unsigned_integer()),
                        fmt::format("the other {} of {} warnings", rest, all.size()));
  }
  const auto own_end = all.begin() + static_cast<std::ptrdiff_t>(of_event);
  measurement.warnings.assign(all.begin(), own_end);
  measurement.recording_warnings = std::make_shared<const std::vector<std::string>>(
      own_end + static_cast<std::ptrdiff_t>(of_counts), all.end());
}

Measurement read_measurement(const JsonValue& value, std::optional<std::int64_t> bin_width) {
  Measurement measurement;
  FieldReader io(value);
  source_fields(io, measurement);
  read_parts(value, measurement);
  if (const auto lines = value.find("command_lines")) {  // not in older reports
    for (const JsonValue& line : lines->elements(analysis::kMostParts)) {
      measurement.command_lines.push_back(line.strings(analysis::kMostArguments));
    }
  }
  recording_fields(io, measurement);
  FieldReader precise(value["precise"]);
  precise("requested", measurement.precise.requested);
  precise("recorded", measurement.precise.recorded, {.most = kHighestLevel});
  FieldReader period(value["period"]);
  period("requested", measurement.period.requested);
  period("effective", measurement.period.effective, {.most = kLongestPeriod});
  // Its members are null where no trigger is known.
  if (value["trigger"].find("kind")) io("trigger", measurement.trigger);
  loss_fields(io, measurement);
  const JsonValue width = value["histogram"]["bin_width"];
  measurement.bin_width = bin_width.value_or(width.integer64(1, kWidestBin));
  io("events_per_iteration", measurement.events_per_iteration);
  io("ip_check", measurement.ip_check);
  read_warnings(value, measurement);
  measurement.basis = read_basis(value);
  const Tally& tally = measurement.basis.tally;
  if (tally.triggers.size() > 1 && tally.censored.total() > 0 &&
      !value["basis"]["offsets"].find("censored")) {
    measurement.warnings.emplace_back(kCensoredUnknown);
  }
  return measurement;
}

}  // namespace

bool looks_like_report(std::string_view beginning) {
  const auto first = beginning.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && beginning[first] == '{';
}

std::vector<Measurement> read_report(std::string_view text, const std::string& file,
                                     std::optional<std::int64_t> bin_width) {
  const nlohmann::json parsed = parse_json(text, file, "a report: skidscan report --format json");
  const JsonValue document(parsed, file);
  const JsonValue schema = document["schema"];
  if (schema.string() != kReportSchema) {
    schema.refuse_text(fmt::format("\"{}\"", kReportSchema), kWriteAgain);
  }
  std::vector<Measurement> measurements;
  for (const JsonValue& value : document["measurements"].elements(kMostMeasurements)) {
    if (!value.find("basis")) {
      value.refuse(
          fmt::format("no \"basis\", as skidscan {} wrote it", document["tool_version"].string()),
          "what the figures were computed from", kWriteAgain);
    }
    Measurement measurement = read_measurement(value, bin_width);
    // Measurements of one recording follow each other and share its warnings.
    if (const Measurement* last = measurements.empty() ? nullptr : &measurements.back();
        last != nullptr && last->run == measurement.run && last->file == measurement.file &&
        *last->recording_warnings == *measurement.recording_warnings) {
      measurement.recording_warnings = last->recording_warnings;
    }
    complete(measurement);
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

}  // namespace skid::output
