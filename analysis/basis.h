// The counts of one event at one level, from which all of its figures follow, and the histogram of
// its skid offsets. It is binned here alone: texts, CSV, JSON, figures and pages ask for the bins
// that they show.
#pragma once

#include "analysis/delay.h"
#include "analysis/not_judged.h"
#include "analysis/statistics.h"
#include "analysis/target_map.h"
#include "src/support/address.h"
#include "src/support/names.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::analysis {

struct Bias;

/// What the data address of an event's samples is worth.
enum class AddressSource : std::uint8_t {
  page_fault,  ///< the exact faulting address
  pebs,        ///< of a PEBS event that records it
  tagged,      ///< of the tagged operation, by IBS or SPE; 0 where it accesses no memory
  request,     ///< of a breakpoint: perf_event_attr.bp_addr again
  none,        ///< the event records no data address
  unknown,     ///< whether the CPU records one is not known
};
/// As reports have them in JSON.
SKID_NAMES(AddressSource, "page fault", "PEBS", "tagged operation", "request", "none", "unknown")

/// Whether the address is of the access that caused the event. An operation is tagged whatever it
/// accesses.
constexpr bool identifies_cause(AddressSource source) {
  return source == AddressSource::page_fault || source == AddressSource::pebs;
}

/// Data that an instruction of the loop accesses: addresses at run time.
struct DeclaredData {
  bool of_trigger = true;  ///< else of an instruction that causes the event too (`other_trigger`)
  AddressRange range;
  friend bool operator==(const DeclaredData&, const DeclaredData&) = default;
};

/// Not 0, and canonical in 57 bits: those above repeat bit 56 (Intel SDM Vol. 1, "Canonical
/// Addressing", with LA57; user addresses of aarch64 are shorter).
bool is_data_address(std::uint64_t address);

/// Samples by whose data they accessed.
struct OwnerCounts {
  std::uint64_t trigger = 0, other_trigger = 0;
  std::uint64_t other = 0;  ///< of something else: outside all declared data
  std::uint64_t none = 0;   ///< no valid address

  /// `data`: declared; where ranges overlap the trigger's goes first.
  void add(std::uint64_t address, const std::vector<DeclaredData>& data);
  std::uint64_t sum() const { return trigger + other_trigger + other + none; }
  OwnerCounts& operator+=(const OwnerCounts& more);
};

/// The same by where they were sampled.
struct AddressTable {
  OwnerCounts trigger = {};     ///< hits
  OwnerCounts successor = {};   ///< at +1, the next instruction executed
  OwnerCounts elsewhere = {};   ///< the other judged samples
  OwnerCounts not_judged = {};  ///< other triggers, other code, the kernel

  OwnerCounts& at(const Classified& place);
  /// Of the first three.
  OwnerCounts judged() const;
  AddressTable& operator+=(const AddressTable& more);
};

/// The data addresses of one event's samples.
struct Addresses {
  AddressSource source = AddressSource::unknown;
  /// Empty: it is not known which data the triggers access, or they access none.
  std::vector<DeclaredData> declared = {};
  AddressTable samples = {};  ///< all 0 unless `is_tabulated`

  bool is_tabulated() const {
    return !declared.empty() && source != AddressSource::request && source != AddressSource::none;
  }
};

/// The overshoots of one event's counters (docs/method.md, "Skid in events").
struct SkidInEvents {
  /// Events from a multiple of the period to the counter's value, of the samples whose multiple is
  /// known: 0 and more, less than the period.
  OffsetCounts overshoots = {};
  std::uint64_t left_out = 0;  ///< samples whose multiple is not known
  /// Why the values of this event contain no overshoot; empty: they do.
  std::string refused = {};

  /// Of the same event: both refused or neither.
  SkidInEvents& operator+=(const SkidInEvents& more);
};

/// "p50 12, p99 31, max 84 events past the overflow (5000 samples, 3 left out: …)", or why there
/// are none.
std::string describe(const SkidInEvents& skid);

/// Each sample in exactly one class; the classes add up to the samples read.
class Breakdown {
 public:
  void add(SampleClass sample_class, std::uint64_t samples) {
    counts_[static_cast<std::size_t>(sample_class)] += samples;
  }
  std::uint64_t operator[](SampleClass sample_class) const {
    return counts_[static_cast<std::size_t>(sample_class)];
  }

  /// Samples read: the sum of all classes.
  std::uint64_t read() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }
  /// The sum of the classes that is_judged().
  std::uint64_t judged() const;
  /// hit + skid + before + censored: the samples that have a distance.
  std::uint64_t located() const;

  Breakdown& operator+=(const Breakdown& other);
  friend bool operator==(const Breakdown&, const Breakdown&) = default;

 private:
  std::array<std::uint64_t, kSampleClasses> counts_{};
};

/// Samples of one of several triggers: at it, or on the runway between it and the next one.
struct TriggerCount {
  std::uint64_t hits = 0;
  std::uint64_t samples = 0;  ///< hits included

  TriggerCount& operator+=(const TriggerCount& other) {
    hits += other.hits;
    samples += other.samples;
    return *this;
  }
  friend bool operator==(const TriggerCount&, const TriggerCount&) = default;
};

/// nullopt for fewer than two triggers, and where fewer than five samples are to be expected of
/// each, which the approximation by a chi-square distribution needs.
std::optional<Bias> bias_of(std::span<const TriggerCount> triggers);

/// Samples by class and offset.
struct Tally {
  Breakdown breakdown;
  OffsetCounts instructions, bytes;
  OffsetCounts censored;                ///< of `instructions`, those that are censored
  std::uint64_t exact_samples = 0;      ///< of all, with PERF_RECORD_MISC_EXACT_IP
  std::uint64_t exact_hits = 0;         ///< of the hits
  std::uint64_t exact_off_trigger = 0;  ///< of the judged samples that are no hits
  std::uint64_t inside_instruction = 0;
  std::vector<TriggerCount>
      triggers;  ///< by their number; those after the last sampled one left out

  /// Samples at one place. `exact`: with PERF_RECORD_MISC_EXACT_IP.
  void add(const Classified& place, std::uint64_t samples, bool exact);
  Tally& operator+=(const Tally& other);
};

struct Basis {
  Tally tally = {};
  std::optional<Geometry> geometry = {};  ///< nullopt: the address of the trigger is not known
  NotJudged not_judged = NotJudged::no_trigger;
  bool ignores_level = false;  ///< a software event or breakpoint accepts a level, ignores it
  /// The offset of each sample of an event that ignores levels; nullopt: not known.
  std::optional<std::int64_t> known_offset = {};
  ExactIp exact_ip = ExactIp::unknown;           ///< on the recorded CPU, of this event
  LevelThree level_three = LevelThree::unknown;  ///< likewise
  bool equal_triggers = true;                    ///< each trigger causes the event equally often
  bool trigger_repeats = false;  ///< a string instruction: between two rounds it is the next one
  std::optional<double> ticks_per_instruction = {};  ///< measured TSC ticks per runway NOP
  /// TSC ticks of an iteration of the target, of an event that samples time; else nullopt.
  std::optional<double> ticks_per_iteration = {};
  /// Retired instructions of the target. Set for an event that counts all of them and has precise
  /// distribution at level 3 on this CPU; else nullopt.
  std::optional<double> instructions_per_iteration = {};
  /// Events from an overflow to the one that is recorded, where nothing delays that: 0 with an
  /// interrupt; 1 with PEBS, whose counter is armed by the overflow, so that the next event is
  /// recorded (SDM volume 3B, "Processor Event Based Sampling"); nullopt: not known, as IBS
  /// randomizes its period.
  std::optional<std::uint64_t> events_to_record = 0;
  /// Sum of the periods of all samples; nullopt where they do not contain theirs.
  std::optional<std::uint64_t> period_sum = {};
  /// Iterations of the target while the event was counted; nullopt where they were not counted.
  std::optional<std::uint64_t> iterations = {};
  std::optional<Addresses> addresses = {};          ///< nullopt: the samples carry none
  std::optional<SkidInEvents> skid_in_events = {};  ///< nullopt: no counter values were recorded
  /// nullopt: no event of PEBS with a fixed period whose places in the loop are known.
  std::optional<SamplePairs> sample_pairs = {};
};

/// The share of hits to expect of an event that samples whatever runs: the share of time that NOPs
/// do not take, where that was measured; else as if all instructions took equally long. nullopt
/// where the instructions are not known.
std::optional<double> expected_hit_share(const Basis& basis);

/// hit, skid, before and censored, the first of SampleClass: those with an offset.
inline constexpr std::size_t kLocatedClasses = 4;

/// Offsets lowest to highest in bins of `width` instructions that begin at multiples of it, so that
/// 0 always begins one.
struct OffsetAxis {
  std::int64_t lowest = 0, highest = 0;
  std::int64_t width = 1;
};

/// Samples with lo <= offset < hi, in instructions.
struct Bin {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::uint64_t count = 0;
  std::array<std::uint64_t, kLocatedClasses> by_class{};  ///< of `count`, by SampleClass

  std::uint64_t operator[](SampleClass sample_class) const {
    return by_class.at(static_cast<std::size_t>(sample_class));
  }
};

struct Histogram {
  std::vector<Bin> bins;        ///< ascending, empty ones left out
  std::uint64_t underflow = 0;  ///< below the axis
  std::uint64_t overflow = 0;   ///< above it
};

/// Offsets of a measurement's axis: two times the longest runway and lead-in of a generated target.
inline constexpr std::int64_t kLongestAxis = std::int64_t{1} << 22;

/// offset / width, rounded down.
constexpr std::int64_t bin_of(std::int64_t offset, std::int64_t width) {
  return offset / width - (offset % width < 0 ? 1 : 0);
}

/// The located samples of `tally`, each once. Throws std::invalid_argument when the ends of the
/// axis are in the wrong order or 2^30 bins apart, or the width is below 1.
Histogram histogram_of(const Tally& tally, const OffsetAxis& axis);

}  // namespace skid::analysis
