// Measurements as `complete` makes them, for the tests of what shows them.
#pragma once

#include "analysis/basis.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/target_map.h"
#include "src/support/address.h"
#include "src/support/precise_level.h"
#include "tests/support/prelude.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skid::examples {

inline constexpr std::uint64_t kLeadIn = 0x401000;
inline constexpr std::uint64_t kTrigger = kLeadIn + 200;
inline constexpr std::uint64_t kRunway = kTrigger + 3;
inline constexpr std::size_t kNops = 5000;

/// Instructions of `bytes` each from `begin` on.
inline analysis::CodeRegion code_of(std::uint64_t begin, std::size_t count,
                                    std::uint64_t bytes = 1) {
  analysis::CodeRegion code{.range = {begin, begin + count * bytes}};
  for (std::size_t i = 0; i < count; ++i) code.starts.push_back(begin + i * bytes);
  return code;
}

/// 200 one-byte NOPs, a trigger of three bytes, 5,000 one-byte NOPs, and some loop.
inline analysis::TargetMap target() {
  return analysis::TargetMap::of_target(code_of(kLeadIn, 200),
                                        {{code_of(kTrigger, 1, 3), code_of(kRunway, kNops)}},
                                        {kLeadIn, kRunway + kNops + 0x100}, {});
}

/// Triggers at 0x1010 and 0x1078 with 100 and 200 NOPs after them, and other triggers.
inline analysis::TargetMap two_triggers(const std::vector<AddressRange>& others = {}) {
  return analysis::TargetMap::of_target(code_of(0x1000, 0x10),
                                        {{code_of(0x1010, 1, 4), code_of(0x1014, 100)},
                                         {code_of(0x1078, 1, 4), code_of(0x107c, 200)}},
                                        {0x1000, 0x1200}, others);
}

inline std::uint64_t address_of(std::int64_t offset) {
  if (offset == 0) return kTrigger;
  return offset > 0 ? kRunway + static_cast<std::uint64_t>(offset - 1)
                    : kTrigger - static_cast<std::uint64_t>(-offset);
}

/// Samples by offset in instructions from the trigger.
using Offsets = std::map<std::int64_t, std::uint64_t>;

struct Example {
  std::string event = "access";
  int level = 0;
  Offsets offsets = {};
  std::uint64_t kernel_samples = 0;
  bool exact = false;
  analysis::NotJudged not_judged = analysis::NotJudged::none;
  std::optional<bool> ignores_level = {};  ///< nullopt: by the event's name
  bool has_trigger = true;
  std::int64_t bin_width = 1;
};

/// A machine, a run and a period around an example; further fields may be set before `finish`.
inline analysis::Measurement begin(const Example& example) {
  static const char* const kModifiers[] = {"", ":p", ":pp", ":ppp"};
  analysis::Measurement m;
  m.run = "skidscan.run";
  m.file = "skidscan.run/" + example.event + "." + std::to_string(example.level) + ".data";
  m.cpu.vendor = "GenuineIntel";
  m.cpu.model_name = "Intel(R) Core(TM) i7-6700HQ CPU @ 2.60GHz";
  m.cpu.family = 6;
  m.cpu.model = 94;
  m.cpu.stepping = 3;
  m.cpu.microcode = "0xf0";
  m.cpu.arch = "x86_64";
  m.kernel = "6.1.0-18-amd64";
  m.event.label = example.event;
  m.event.requested = example.event + kModifiers[example.level];
  m.event.recorded = example.event + kModifiers[example.level];
  m.event.type = 5;
  m.precise.requested = example.level;
  m.precise.recorded = example.level;
  m.period.requested = 100;
  m.period.effective = 100.0;
  m.path = analysis::RecordingPath{};
  if (example.has_trigger) m.trigger = analysis::Trigger{"load", kTrigger, "skid_trigger"};
  m.events_per_iteration.expected = 1.0;
  return m;
}

/// The samples of one event at one address.
struct LocatedCount {
  std::optional<std::uint64_t> address;  ///< link-time, in the target's file; nullopt: elsewhere
  std::uint64_t samples = 0;
  bool exact = false;  ///< PERF_RECORD_MISC_EXACT_IP
  analysis::SampleClass elsewhere = analysis::SampleClass::other_user;
};

/// `map` null: the address of the trigger is not known; all samples are elsewhere then.
inline void add(const LocatedCount& count, const analysis::TargetMap* map, analysis::Tally& tally) {
  const bool is_in_target = count.address && map != nullptr;
  tally.add(
      is_in_target ? map->classify(*count.address) : analysis::Classified{count.elsewhere, {}, {}},
      count.samples, count.exact);
}

/// Adds samples to a basis of the target, whose events are judged. `map` null: its trigger is not
/// known.
inline void count(const std::vector<LocatedCount>& counts, const analysis::TargetMap* map,
                  analysis::Basis& basis) {
  for (const auto& count : counts) add(count, map, basis.tally);
  if (map != nullptr) basis.geometry = map->geometry();
  basis.not_judged = analysis::NotJudged::none;
}

inline analysis::Measurement finish(analysis::Measurement m, const Example& example) {
  const analysis::TargetMap map = target();
  std::vector<LocatedCount> counts;
  for (const auto& [offset, samples] : example.offsets) {
    counts.push_back({address_of(offset), samples, example.exact});
  }
  counts.push_back({{}, example.kernel_samples, false, analysis::SampleClass::kernel});
  count(counts, example.has_trigger ? &map : nullptr, m.basis);
  m.basis.not_judged = example.not_judged;
  const std::map<std::string, std::int64_t> built_in{{"access", 1}, {"execute", 0}, {"faults", 0}};
  const auto known = built_in.find(example.event);
  m.basis.ignores_level =
      example.ignores_level.value_or(known != built_in.end() || example.event == "cpu-clock");
  if (m.basis.ignores_level && known != built_in.end()) m.basis.known_offset = known->second;
  m.basis.exact_ip = m.basis.ignores_level ? ExactIp::never : ExactIp::request;  // a Skylake
  if (m.period.effective) {
    m.basis.iterations = m.basis.tally.breakdown.read() * m.period.requested.value_or(100);
  }
  m.bin_width = example.bin_width;
  analysis::complete(m);
  return m;
}

inline analysis::Measurement make(const Example& example) {
  return finish(begin(example), example);
}

/// A measurement in which every text of the recording is this one.
inline analysis::Measurement named_everywhere(const std::string& name) {
  analysis::Measurement m = make({.event = name, .offsets = {{0, 900}, {1, 100}}});
  m.run = m.file = m.kernel = name;
  m.event.requested = m.event.recorded = name;
  m.cpu.vendor = m.cpu.model_name = m.cpu.microcode = name;
  m.cpu.hypervisor = name;
  m.trigger = analysis::Trigger{name, kTrigger, name};
  m.warnings = {name};
  m.event.remark = name;
  return m;
}

/// Every offset from 1 on alike: what a timer gives on a runway.
inline Offsets uniform(std::int64_t first, std::int64_t last, std::uint64_t samples_each = 1) {
  Offsets offsets = {};
  for (std::int64_t offset = first; offset <= last; ++offset) offsets[offset] = samples_each;
  return offsets;
}

}  // namespace skid::examples
