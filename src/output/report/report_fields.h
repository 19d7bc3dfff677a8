// The members of a measurement that reports both hold and are read back from, with their keys: one
// list for the writer and the reader, whose `io` has
//   io(key, member, limits…)   a number, text, or null for nullopt; limits are those of reading:
//                              the least and the most of integers, else the most
//   io.text(key, member)       null for an empty text
//   io.hex(key, member)        "0x1f"; an array of them for a vector
//   io.words(key, member, allowed)
//   io.one_of(key, member, names)   a name by its place, for an enumeration or a bool
#pragma once

#include "analysis/measurement.h"

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace skid::output {

/// `T` or `const T`: the writer does not change what it writes.
template <typename T, typename Type>
concept Is = std::same_as<std::remove_const_t<T>, Type>;

inline constexpr const char* kReportSchema = "skidscan.report/1";
inline constexpr int kHighestLevel = 3;
/// Whole numbers of JSON are exact up to here in every reader, and no recording has more samples.
inline constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 53;
/// No target is nearly as long, and offsets up to here add up without overflow.
inline constexpr std::int64_t kFarthestOffset = std::int64_t{1} << 40;
/// Periods are counts of 64 bits, and their mean is no larger.
inline constexpr double kLongestPeriod = 0x1p64;

void fields(auto& io, Is<analysis::SampleTime> auto& time) {
  io("first", time.first);
  io("last", time.last);
}

void fields(auto& io, Is<analysis::Part> auto& part) {
  io.text("run", part.run);
  io("file", part.file);
  io("repeat", part.repeat, 1);
  io("samples", part.samples, kMostSamples);
  io("time", part.time);
}

void fields(auto& io, Is<analysis::Cpu> auto& cpu) {
  io.text("vendor", cpu.vendor);
  io.text("model_name", cpu.model_name);
  io("family", cpu.family);
  io("model", cpu.model);
  io("stepping", cpu.stepping);
  io.text("microcode", cpu.microcode);
  io.text("arch", cpu.arch);
  io("hypervisor", cpu.hypervisor);
}

void fields(auto& io, Is<analysis::EventIdentity> auto& event) {
  io("label", event.label);
  io("requested", event.requested);
  io("recorded", event.recorded);
  io("type", event.type);
  io.hex("config", event.config);
  io.hex("config1", event.config1);
  io.hex("config2", event.config2);
  io("breakpoint_type", event.breakpoint_type);
  io.words("excluded", event.excluded, {"user", "kernel", "hypervisor", "host", "guest"});
  io("swapped", event.substituted);
  io.text("remark", event.remark);
}

void fields(auto& io, Is<analysis::RecordingPath> auto& path) {
  io("frequency", path.frequency);
  io("call_graph", path.call_graph);
  io("branch_stack", path.branch_stack);
  io("batched", path.batched);
}

void fields(auto& io, Is<analysis::Trigger> auto& trigger) {
  io("kind", trigger.kind);
  io.hex("address", trigger.address);
  io.text("symbol", trigger.symbol);
}

void fields(auto& io, Is<analysis::IpCheck::Difference> auto& difference) {
  io.hex("sampled", difference.sampled);
  io.hex("witnessed", difference.traced);
  io("tid", difference.tid);
  io("time", difference.time);
}

void fields(auto& io, Is<analysis::IpCheck> auto& check) {
  io("tracepoint", check.tracepoint);
  io("compared", check.compared, kMostSamples);
  io("agreeing", check.agreeing, check.compared);
  io("unpaired", check.unpaired, kMostSamples);
  io("first_difference", check.first_difference);
}

void fields(auto& io, Is<analysis::DeclaredData> auto& declared) {
  io.one_of("of", declared.of_trigger, std::array<std::string_view, 2>{"other_trigger", "trigger"});
  io.hex("begin", declared.range.begin);
  io.hex("end", declared.range.end);
}

void fields(auto& io, Is<analysis::OwnerCounts> auto& counts) {
  io("trigger", counts.trigger, kMostSamples);
  io("other_trigger", counts.other_trigger, kMostSamples);
  io("other", counts.other, kMostSamples);
  io("none", counts.none, kMostSamples);
}

void fields(auto& io, Is<analysis::AddressTable> auto& samples) {
  io("trigger", samples.trigger);
  io("successor", samples.successor);
  io("elsewhere", samples.elsewhere);
  io("not_judged", samples.not_judged);
}

void fields(auto& io, Is<analysis::Addresses> auto& addresses) {
  io.one_of("source", addresses.source, analysis::kAddressSources);
  io("declared", addresses.declared);
  io("samples", addresses.samples);
}

void fields(auto& io, Is<analysis::Geometry> auto& geometry) {
  io("lowest_offset", geometry.lowest_offset, -kFarthestOffset, std::int64_t{0});
  io("highest_offset", geometry.highest_offset, std::int64_t{0}, kFarthestOffset);
  io("censored_from", geometry.censored_from, std::int64_t{1}, kFarthestOffset);
  io("censored_from_bytes", geometry.censored_from_bytes);
  io("even_hit_share", geometry.even_hit_share, 1.0);
  io.hex("trigger_addresses", geometry.trigger_addresses);
  io.whole("trigger_distances", geometry.trigger_distances, std::uint64_t{1}, kFarthestOffset);
}

// The keys of a measurement that follow one another.

void source_fields(auto& io, Is<analysis::Measurement> auto& m) {
  io.text("run", m.run);
  io("file", m.file);
  io("repeat", m.repeat, 1);
  io("time", m.time);
}

void recording_fields(auto& io, Is<analysis::Measurement> auto& m) {
  io("synthetic", m.synthetic);
  io("read_in_part", m.read_in_part);
  io("cpu", m.cpu);
  io.text("kernel", m.kernel);
  io("event", m.event);
  io("recording_path", m.path);
}

void loss_fields(auto& io, Is<analysis::Measurement> auto& m) {
  io("lost_records", m.lost_records);
  io("lost_samples", m.lost_samples);
  io("throttled", m.throttled);
  io("unknown_ids", m.unknown_ids);
}

}  // namespace skid::output
