// The counts of one event at one level, from which all of its figures follow.
#pragma once

#include "analysis/addresses.h"
#include "analysis/delay.h"
#include "analysis/geometry.h"
#include "analysis/not_judged.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "src/support/precise_level.h"

#include <cstdint>
#include <optional>

namespace skid::analysis {

struct Basis {
  Tally tally = {};
  std::optional<Geometry> geometry = {};  ///< nullopt: the address of the trigger is not known
  NotJudged not_judged = NotJudged::no_trigger;
  /// True for a software event or breakpoint, which accepts a precise level and ignores it.
  bool ignores_level = false;
  /// The offset of each sample of an event that ignores levels; nullopt: not known.
  std::optional<std::int64_t> known_offset = {};
  ExactIp exact_ip = ExactIp::unknown;  ///< what the flag means for this event on the recorded CPU
  LevelThree level_three = LevelThree::unknown;  ///< what level 3 is there
  bool equal_triggers = true;    ///< true if each trigger causes the event equally often
  bool trigger_repeats = false;  ///< a string instruction: between two rounds it is the next one
  std::optional<double> ticks_per_instruction = {};  ///< measured TSC ticks per runway NOP
  /// TSC ticks per iteration of the target, for an event that samples time; else nullopt.
  std::optional<double> ticks_per_iteration = {};
  /// Retired instructions of the target. Set for an event that counts all of them and has precise
  /// distribution at level 3 on this CPU; else nullopt.
  std::optional<double> instructions_per_iteration = {};
  /// Events from an overflow to the recorded one, where nothing delays the record. It is 0 with an
  /// interrupt or precise distribution, and 1 with PEBS on other counters (events_to_record() in
  /// src/events/kernel_rules.h). nullopt if it is not known: 0 or 1.
  std::optional<std::uint64_t> events_to_record = 0;
  bool random_period = false;  ///< IBS: the hardware or the kernel randomizes the period
  /// Sum of the periods of all samples; nullopt if the samples do not contain their periods.
  std::optional<std::uint64_t> period_sum = {};
  /// Iterations of the target while the event was counted; nullopt if they were not counted.
  std::optional<std::uint64_t> iterations = {};
  std::optional<Addresses> addresses = {};          ///< nullopt: the samples contain none
  std::optional<SkidInEvents> skid_in_events = {};  ///< nullopt: no counter values were recorded
  /// Set for a PEBS event with a fixed period whose places in the loop are known; else nullopt.
  std::optional<SamplePairs> sample_pairs = {};
};

/// Returns the share of hits to expect of an event that samples any instruction that runs: the
/// share of time that NOPs do not take, if it was measured; else the share if all instructions took
/// equally long. nullopt if the instructions are not known.
std::optional<double> expected_hit_share(const Basis& basis);

}  // namespace skid::analysis
