// The counts of one event at one level, from which all of its figures follow.
#pragma once

#include "analysis/addresses.h"
#include "analysis/bias.h"
#include "analysis/breakdown.h"
#include "analysis/delay.h"
#include "analysis/not_judged.h"
#include "analysis/skid_in_events.h"
#include "analysis/statistics.h"
#include "analysis/target_map.h"
#include "src/support/precise_level.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

/// The samples of one event at one address, as the reader and the address space found them.
enum class Place { target, other_user, kernel, guest, unmapped };
struct LocatedCount {
  Place place = Place::other_user;
  std::uint64_t address = 0;  ///< link-time address in the target's file; only for Place::target
  std::uint64_t samples = 0;
  bool exact = false;  ///< PERF_RECORD_MISC_EXACT_IP
};

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

  /// `map` null: the address of the trigger is not known; user samples are other_user then.
  /// `level`: precise_ip of the event.
  void add(const LocatedCount& count, const TargetMap* map, int level = 0);
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

}  // namespace skid::analysis
