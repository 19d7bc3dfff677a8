#include "src/output/report/report_reader.h"

#include "src/support/json_text.h"
#include "src/support/json_value.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Basis;
using analysis::Measurement;
using analysis::NotJudged;
using analysis::OffsetCounts;
using analysis::SampleClass;
using analysis::Tally;

constexpr const char* kSchema = "skidscan.report/1";
constexpr std::size_t kMostMeasurements = 100'000;
constexpr std::size_t kMostElements = 65'536;
constexpr int kHighestLevel = 3;
/// Whole numbers of JSON are exact up to here in every reader, and no recording has more samples.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 53;
/// No target is nearly as long, and offsets up to here add up without overflow.
constexpr std::int64_t kFarthestOffset = std::int64_t{1} << 40;
/// Periods are counts of 64 bits, and their mean is no larger.
constexpr double kLongestPeriod = 0x1p64;
constexpr std::int64_t kWidestBin = 1'000'000;
constexpr std::uint64_t kAny64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kLowest64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest64 = std::numeric_limits<std::int64_t>::max();

constexpr const char* kWriteAgain =
    "write the report again: skidscan report RECORDING --format json";

std::string text_or_empty(const JsonValue& object, std::string_view name) {
  const auto value = object.find(name);
  return value ? value->string() : std::string();
}

std::optional<int> optional_integer(const JsonValue& object, std::string_view name, int least) {
  const auto value = object.find(name);
  if (!value) return std::nullopt;
  return value->integer(least);
}

std::optional<std::int64_t> optional_integer64(const JsonValue& object, std::string_view name,
                                               std::int64_t least, std::int64_t most) {
  const auto value = object.find(name);
  if (!value) return std::nullopt;
  return value->integer64(least, most);
}

std::optional<std::uint64_t> optional_unsigned(const JsonValue& object, std::string_view name) {
  const auto value = object.find(name);
  if (!value) return std::nullopt;
  return value->unsigned_integer();
}

std::optional<double> optional_number(const JsonValue& object, std::string_view name,
                                      double most = std::numeric_limits<double>::max()) {
  const auto value = object.find(name);
  if (!value) return std::nullopt;
  return value->number(0, most);
}

std::uint64_t samples_at(const JsonValue& object, std::string_view name) {
  return object[name].unsigned_integer(kMostSamples);
}

/// "0x401000"
std::uint64_t hexadecimal(const JsonValue& value) {
  const std::string text = value.string();
  std::uint64_t number = 0;
  constexpr int kHexadecimal = 16;
  const char* const end = text.data() + text.size();
  const bool prefixed = text.starts_with("0x");
  const auto [stop, error] =
      std::from_chars(text.data() + (prefixed ? 2 : 0), end, number, kHexadecimal);
  if (!prefixed || error != std::errc() || stop != end) {
    value.refuse(json_text(nlohmann::json(text)), "0x and a hexadecimal number");
  }
  return number;
}

std::string one_of(const JsonValue& value, std::initializer_list<std::string_view> names) {
  std::string text = value.string();
  if (std::find(names.begin(), names.end(), text) == names.end()) {
    value.refuse(json_text(nlohmann::json(text)), fmt::format("one of {}", fmt::join(names, ", ")));
  }
  return text;
}

analysis::Cpu read_cpu(const JsonValue& value) {
  analysis::Cpu cpu;
  cpu.vendor = text_or_empty(value, "vendor");
  cpu.model_name = text_or_empty(value, "model_name");
  constexpr int kLowest = std::numeric_limits<int>::min();
  cpu.family = optional_integer(value, "family", kLowest);
  cpu.model = optional_integer(value, "model", kLowest);
  cpu.stepping = optional_integer(value, "stepping", kLowest);
  cpu.microcode = text_or_empty(value, "microcode");
  cpu.arch = text_or_empty(value, "arch");
  if (const auto hypervisor = value.find("hypervisor")) cpu.hypervisor = hypervisor->string();
  return cpu;
}

analysis::EventIdentity read_event(const JsonValue& value) {
  constexpr auto kMost32 = std::uint64_t{std::numeric_limits<std::uint32_t>::max()};
  analysis::EventIdentity event;
  if (const auto requested = value.find("requested")) event.requested = requested->string();
  event.recorded = value["recorded"].string();
  event.label = value["label"].string();
  event.type = static_cast<std::uint32_t>(value["type"].unsigned_integer(kMost32));
  event.config = hexadecimal(value["config"]);
  event.config1 = hexadecimal(value["config1"]);
  event.config2 = hexadecimal(value["config2"]);
  event.breakpoint_type =
      static_cast<std::uint32_t>(value["breakpoint_type"].unsigned_integer(kMost32));
  for (const JsonValue& mode : value["excluded"].elements(kMostElements)) {
    event.excluded.push_back(one_of(mode, {"user", "kernel", "hypervisor", "host", "guest"}));
  }
  event.substituted = value["swapped"].boolean();
  event.remark = text_or_empty(value, "remark");
  return event;
}

std::optional<analysis::SampleTime> read_time(const JsonValue& object) {
  const auto time = object.find("time");
  if (!time) return std::nullopt;
  return analysis::SampleTime{(*time)["first"].unsigned_integer(),
                              (*time)["last"].unsigned_integer()};
}

analysis::Part read_part(const JsonValue& value) {
  analysis::Part part;
  part.run = text_or_empty(value, "run");
  part.file = value["file"].string();
  part.repeat = value["repeat"].integer(1);
  part.samples = samples_at(value, "samples");
  part.time = read_time(value);
  return part;
}

/// How many parts a measurement has, and those that are listed.
std::uint64_t read_parts(const JsonValue& measurement, std::vector<analysis::Part>& listed) {
  const std::uint64_t parts = measurement["parts"].unsigned_integer(kMostSamples);
  const JsonValue list = measurement["merged_from"];
  for (const JsonValue& part : list.elements(analysis::kMostParts)) {
    listed.push_back(read_part(part));
  }
  const std::uint64_t expected =
      parts > 1 ? std::min<std::uint64_t>(parts, analysis::kMostParts) : 0;
  if (parts == 0 || listed.size() != expected) {
    list.refuse(fmt::format("{} elements of {} parts", listed.size(), parts),
                fmt::format("{}", expected));
  }
  return parts;
}

std::optional<analysis::Trigger> read_trigger(const JsonValue& value) {
  const auto kind = value.find("kind");
  if (!kind) return std::nullopt;
  return analysis::Trigger{kind->string(), hexadecimal(value["address"]),
                           text_or_empty(value, "symbol")};
}

std::optional<analysis::IpCheck> read_ip_check(const JsonValue& object) {
  const auto value = object.find("ip_check");
  if (!value) return std::nullopt;
  analysis::IpCheck check;
  check.tracepoint = (*value)["tracepoint"].string();
  check.compared = samples_at(*value, "compared");
  check.agreeing = (*value)["agreeing"].unsigned_integer(check.compared);
  check.unpaired = samples_at(*value, "unpaired");
  if (const auto difference = value->find("first_difference")) {
    check.first_difference = analysis::IpCheck::Difference{
        hexadecimal((*difference)["sampled"]), hexadecimal((*difference)["witnessed"]),
        (*difference)["tid"].integer(std::numeric_limits<std::int32_t>::min()),
        (*difference)["time"].unsigned_integer()};
  }
  return check;
}

analysis::Ledger read_ledger(const JsonValue& samples) {
  analysis::Ledger ledger;
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<SampleClass>(i);
    ledger.add(sample_class, samples_at(samples, name_of(sample_class)));
  }
  const JsonValue read = samples["read"];
  if (read.unsigned_integer(kMostSamples) != ledger.read()) {
    read.refuse(fmt::format("{}", read.unsigned_integer()),
                fmt::format("the sum of the classes, {}", ledger.read()));
  }
  return ledger;
}

/// `all`: how many samples there are to be, which are `what`.
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

/// Offsets and classes agree on each sample.
void check_classes(const JsonValue& offsets, const Tally& tally,
                   const analysis::Geometry& geometry) {
  const auto refuse = [&](std::uint64_t found, std::string_view where, std::string_view classes,
                          std::uint64_t allowed) {
    if (found == allowed) return;
    offsets.refuse(fmt::format("{} samples {}", found, where),
                   fmt::format("those that are {}, {}", classes, allowed));
  };
  const analysis::Ledger& ledger = tally.ledger;
  const std::uint64_t hits = tally.instructions.count_at(0);
  refuse(hits, "at offset 0", "hits", ledger[SampleClass::hit]);
  const std::uint64_t after = sum_from(tally.instructions, 1);
  refuse(after, "after the trigger", "skids or censored",
         ledger[SampleClass::skid] + ledger[SampleClass::censored]);
  // The rest are before. What is censored of several runways of unequal length does not follow from
  // the offset alone.
  const std::uint64_t censored =
      geometry.censored_from ? sum_from(tally.instructions, *geometry.censored_from) : 0;
  if (geometry.trigger_addresses.size() == 1 || ledger[SampleClass::censored] > censored) {
    refuse(censored, "on the censored end of the runway", "censored",
           ledger[SampleClass::censored]);
  }
}

constexpr const char* kCensoredUnknown =
    "an older report without the offsets of censored samples after several "
    "triggers: the farthest samples are shown as censored; read its recordings again";

/// Which of the located samples are censored. Older reports do not contain it: with one trigger
/// the offset decides, with several the farthest ones are taken (kCensoredUnknown).
OffsetCounts read_censored(const JsonValue& offsets, const Tally& tally,
                           const analysis::Geometry& geometry) {
  const std::uint64_t all = tally.ledger[SampleClass::censored];
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

analysis::Geometry read_geometry(const JsonValue& value) {
  analysis::Geometry geometry;
  geometry.lowest_offset = value["lowest_offset"].integer64(-kFarthestOffset, 0);
  geometry.highest_offset = value["highest_offset"].integer64(0, kFarthestOffset);
  geometry.censored_from = optional_integer64(value, "censored_from", 1, kFarthestOffset);
  geometry.censored_from_bytes =
      optional_integer64(value, "censored_from_bytes", kLowest64, kHighest64);
  if (const auto share = value.find("even_hit_share"))
    geometry.even_hit_share = share->number(0, 1);
  const JsonValue addresses = value["trigger_addresses"];
  for (const JsonValue& address : addresses.elements(kMostElements)) {
    geometry.trigger_addresses.push_back(hexadecimal(address));
  }
  if (geometry.trigger_addresses.empty()) addresses.refuse("nothing", "an address");
  return geometry;
}

NotJudged read_judgeable(const JsonValue& value) {
  const std::string name = value.string();
  if (const auto reason = analysis::judgeable_named(name)) return *reason;
  value.refuse(json_text(nlohmann::json(name)), "what the documentation of the key lists");
}

/// Hits and samples of each trigger; of a single one they are not listed, because they follow.
std::vector<analysis::TriggerCount> read_triggers(const JsonValue& value, const Tally& tally,
                                                  const analysis::Geometry& geometry) {
  const analysis::TriggerCount all{tally.ledger[SampleClass::hit],
                                   tally.ledger[SampleClass::hit] +
                                       tally.ledger[SampleClass::skid] +
                                       tally.ledger[SampleClass::censored]};
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

/// Counts of samples with EXACT_IP, each at most what there is to be counted.
void read_exact_counts(const JsonValue& precise, Tally& tally) {
  const std::uint64_t hits = tally.ledger[SampleClass::hit];
  tally.exact_samples = precise["exact_ip_samples"].unsigned_integer(tally.ledger.read());
  tally.exact_hits = precise["exact_ip_hits"].unsigned_integer(std::min(hits, tally.exact_samples));
  tally.exact_off_trigger = precise["exact_ip_off_trigger"].unsigned_integer(
      std::min(tally.ledger.judged() - hits, tally.exact_samples - tally.exact_hits));
}

Basis read_basis(const JsonValue& measurement) {
  const JsonValue value = measurement["basis"];
  Basis basis;
  Tally& tally = basis.tally;
  const JsonValue samples = measurement["samples"];
  tally.ledger = read_ledger(samples);
  basis.not_judged = read_judgeable(value["judgeable"]);
  basis.ignores_level = value["ignores_level"].boolean();
  basis.equal_triggers = value["equal_triggers"].boolean();
  basis.ticks_per_instruction = optional_number(value, "ticks_per_instruction");
  basis.iterations = optional_unsigned(value, "iterations");
  basis.period_sum = optional_unsigned(measurement["period"], "sum");
  if (const auto geometry = value.find("geometry")) basis.geometry = read_geometry(*geometry);

  const JsonValue offsets = value["offsets"];
  const std::uint64_t located = tally.ledger.located();
  if (basis.geometry) {
    const auto& geometry = *basis.geometry;
    tally.instructions = read_offsets(offsets["instructions"], geometry.lowest_offset,
                                      geometry.highest_offset, located);
    tally.bytes = read_offsets(offsets["bytes"], kLowest64, kHighest64, located);
    check_classes(offsets["instructions"], tally, geometry);
    tally.censored = read_censored(offsets, tally, geometry);
    tally.triggers = read_triggers(measurement["triggers"], tally, geometry);
  } else if (tally.ledger.judged() > 0) {
    samples.refuse(fmt::format("{} judged samples", tally.ledger.judged()),
                   "none where no trigger is known");
  }
  read_exact_counts(measurement["precise"], tally);
  tally.inside_instruction =
      measurement["inside_instruction"].unsigned_integer(tally.ledger.read());
  return basis;
}

/// The warnings that do not follow from the counts.
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

/// Measurements of one recording follow each other and share its warnings.
void share_warnings(const Measurement* before, Measurement& measurement) {
  if (before != nullptr && before->run == measurement.run && before->file == measurement.file &&
      *before->recording_warnings == *measurement.recording_warnings) {
    measurement.recording_warnings = before->recording_warnings;
  }
}

/// Reports did not always hold what measurements are computed from.
void check_age(const JsonValue& document, const JsonValue& measurement) {
  if (measurement.find("basis")) return;
  measurement.refuse(
      fmt::format("no \"basis\", as skidscan {} wrote it", document["tool_version"].string()),
      "what the figures were computed from", kWriteAgain);
}

/// Reports did not always have them.
std::vector<analysis::CommandLine> read_command_lines(const JsonValue& measurement) {
  std::vector<analysis::CommandLine> lines;
  const auto list = measurement.find("command_lines");
  if (!list) return lines;
  for (const JsonValue& line : list->elements(analysis::kMostParts)) {
    lines.push_back(line.strings(analysis::kMostArguments));
  }
  return lines;
}

Measurement read_measurement(const JsonValue& value, std::optional<std::int64_t> bin_width) {
  Measurement measurement;
  measurement.run = text_or_empty(value, "run");
  measurement.file = value["file"].string();
  measurement.repeat = value["repeat"].integer(1);
  measurement.time = read_time(value);
  measurement.parts = read_parts(value, measurement.merged_from);
  measurement.command_lines = read_command_lines(value);
  measurement.synthetic = value["synthetic"].boolean();
  measurement.read_in_part = value["read_in_part"].boolean();
  measurement.cpu = read_cpu(value["cpu"]);
  measurement.kernel = text_or_empty(value, "kernel");
  measurement.event = read_event(value["event"]);
  const JsonValue precise = value["precise"];
  measurement.precise.requested = optional_integer(precise, "requested", 0);
  measurement.precise.recorded = precise["recorded"].integer(0, kHighestLevel);
  const JsonValue period = value["period"];
  measurement.period.requested = optional_unsigned(period, "requested");
  measurement.period.effective = optional_number(period, "effective", kLongestPeriod);
  measurement.trigger = read_trigger(value["trigger"]);
  measurement.lost_records = value["lost_records"].unsigned_integer(kAny64);
  measurement.lost_samples = value["lost_samples"].unsigned_integer(kAny64);
  measurement.throttled = value["throttled"].unsigned_integer(kAny64);
  measurement.unknown_ids = value["unknown_ids"].unsigned_integer(kAny64);
  const JsonValue width = value["histogram"]["bin_width"];
  measurement.bin_width = bin_width.value_or(width.integer64(1, kWidestBin));
  measurement.events_per_iteration.expected =
      optional_number(value["events_per_iteration"], "expected");
  measurement.ip_check = read_ip_check(value);
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
  if (const std::string name = schema.string(); name != kSchema) {
    schema.refuse(json_text(nlohmann::json(name)), fmt::format("\"{}\"", kSchema), kWriteAgain);
  }
  std::vector<Measurement> measurements;
  for (const JsonValue& value : document["measurements"].elements(kMostMeasurements)) {
    check_age(document, value);
    Measurement measurement = read_measurement(value, bin_width);
    share_warnings(measurements.empty() ? nullptr : &measurements.back(), measurement);
    complete(measurement);
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

}  // namespace skid::output
