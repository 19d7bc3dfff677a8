// The members of a measurement that are written to reports and read from them, with their keys.
#pragma once

#include "analysis/ip_check.h"
#include "src/output/cpu_fields.h"
#include "src/support/field_values.h"
#include "src/support/fields.h"
#include "src/support/json_value.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

namespace skid::analysis {

struct EventIdentity;
struct EventsPerIteration;
struct Measurement;
struct Part;
struct RecordingPath;
struct SampleTime;
struct Trigger;

struct AddressTable;
struct Addresses;
struct Basis;
struct DeclaredData;
struct Geometry;
struct OwnerCounts;
}  // namespace skid::analysis

namespace skid::output {

inline constexpr const char* kReportSchema = "skidscan.report/1";
inline constexpr int kHighestLevel = 3;
/// The maximum number of samples: whole numbers of JSON are exact up to here in every reader, and
/// no recording has more samples.
inline constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 53;
/// The maximum distance from a trigger: no target is nearly as long, and offsets up to here add up
/// without overflow.
inline constexpr std::int64_t kFarthestOffset = std::int64_t{1} << 40;
/// The largest finite number.
inline constexpr double kLargestNumber = std::numeric_limits<double>::max();
/// The maximum mean period: periods are counts of 64 bits.
inline constexpr double kLongestPeriod = 0x1p64;

inline constexpr std::array<std::string_view, 2> kDeclaredOf{"other_trigger", "trigger"};

/// Refuses a mode that no event can exclude.
inline void check_mode(const JsonValue& value) {
  constexpr std::array<std::string_view, 5> kModes{"user", "kernel", "hypervisor", "host", "guest"};
  if (std::ranges::find(kModes, value.string()) != kModes.end()) return;
  value.refuse_text(fmt::format("one of {}", fmt::join(kModes, ", ")));
}

}  // namespace skid::output

namespace skid {

SKID_FIELDS(analysis::SampleTime, first, last)

void fields(auto& io, Of<analysis::Part> auto& part) {
  io("run", OrNull{part.run});
  io("file", part.file);
  io("repeat", part.repeat, {.least = 1});
  io("samples", part.samples, {.most = output::kMostSamples});
  io("time", part.time);
}

void fields(auto& io, Of<analysis::EventIdentity> auto& value) {
  SKID_MEMBERS(label, requested, recorded);
  io("name", OrNull{value.name});
  SKID_MEMBERS(type);
  io("config", Hex{value.config});
  io("config1", Hex{value.config1});
  io("config2", Hex{value.config2});
  io("breakpoint_type", value.breakpoint_type);
  io("excluded", Checked{value.excluded, output::check_mode});
  io("swapped", value.substituted);
  io("remark", OrNull{value.remark});
}

SKID_FIELDS(analysis::RecordingPath, frequency, call_graph, branch_stack, batched)

void fields(auto& io, Of<analysis::Trigger> auto& trigger) {
  io("kind", trigger.kind);
  io("address", Hex{trigger.address});
  io("symbol", OrNull{trigger.symbol});
}

void fields(auto& io, Of<analysis::IpCheck::Difference> auto& difference) {
  io("sampled", Hex{difference.sampled});
  io("witnessed", Hex{difference.traced});
  io("tid", difference.tid, kAnyInteger);
  io("time", difference.time);
}

void fields(auto& io, Of<analysis::IpCheck> auto& check) {
  io("tracepoint", check.tracepoint);
  io("compared", check.compared, {.most = output::kMostSamples});
  io("agreeing", check.agreeing, {.most = check.compared});
  io("unpaired", check.unpaired, {.most = output::kMostSamples});
  io("first_difference", check.first_difference);
}

void fields(auto& io, Of<analysis::DeclaredData> auto& declared) {
  io("of", OneOf{declared.of_trigger, output::kDeclaredOf});
  io("begin", Hex{declared.range.begin});
  io("end", Hex{declared.range.end});
}

void fields(auto& io, Of<analysis::OwnerCounts> auto& counts) {
  io("trigger", counts.trigger, {.most = output::kMostSamples});
  io("other_trigger", counts.other_trigger, {.most = output::kMostSamples});
  io("other", counts.other, {.most = output::kMostSamples});
  io("none", counts.none, {.most = output::kMostSamples});
}

SKID_FIELDS(analysis::AddressTable, trigger, successor, elsewhere, not_judged)

void fields(auto& io, Of<analysis::Addresses> auto& value) {
  io("source", OneOf{value.source, names_of(value.source)});
  SKID_MEMBERS(declared, samples);
}

void fields(auto& io, Of<analysis::EventsPerIteration> auto& events) {
  io.derived("measured", events.measured);
  io("expected", events.expected, {.most = output::kLargestNumber});
  io.derived("fewest_expected", events.fewest());
  io("cached_share", events.cached_share, {.most = 1});
}

void fields(auto& io, Of<analysis::Geometry> auto& geometry) {
  io("lowest_offset", geometry.lowest_offset, {-output::kFarthestOffset, 0});
  io("highest_offset", geometry.highest_offset, {0, output::kFarthestOffset});
  io("censored_from", geometry.censored_from, {1, output::kFarthestOffset});
  io("censored_from_bytes", geometry.censored_from_bytes);
  io("even_hit_share", geometry.even_hit_share, {.most = 1});
  io("trigger_addresses", Hex{geometry.trigger_addresses});
  io("trigger_distances", OrNull{geometry.trigger_distances}, {1, output::kFarthestOffset});
}

// Each of these lists contains keys of a measurement, or of its basis, that follow one another.

void source_fields(auto& io, Of<analysis::Measurement> auto& m) {
  io("run", OrNull{m.run});
  io("file", m.file);
  io("repeat", m.repeat, {.least = 1});
  io("time", m.time);
}

void recording_fields(auto& io, Of<analysis::Measurement> auto& value) {
  SKID_MEMBERS(synthetic, read_in_part, cpu);
  io("kernel", OrNull{value.kernel});
  io("event", value.event);
  io("recording_path", value.path);
}

void loss_fields(auto& io, Of<analysis::Measurement> auto& value) {
  SKID_MEMBERS(lost_records, lost_samples, throttled);
  io("throttled_share", value.throttled_share, {.most = 1});
  SKID_MEMBERS(unknown_ids);
}

void basis_fields(auto& io, Of<analysis::Basis> auto& value) {
  SKID_MEMBERS(ignores_level, known_offset, equal_triggers);
  io("trigger_repeats", OrNull{value.trigger_repeats});
  io("events_to_record", value.events_to_record);
  io("random_period", OrNull{value.random_period});
  io("ticks_per_instruction", value.ticks_per_instruction, {.most = output::kLargestNumber});
  io("ticks_per_iteration", value.ticks_per_iteration, {.most = output::kLargestNumber});
  io("instructions_per_iteration", value.instructions_per_iteration,
     {.most = output::kLargestNumber});
  SKID_MEMBERS(iterations, geometry);
}

}  // namespace skid
