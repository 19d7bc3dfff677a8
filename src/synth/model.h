// A model: the contents of a synthetic recording. docs/synth.md describes its JSON.
#pragma once

#include "runway/specification.h"
#include "src/machine/machine.h"
#include "src/synth/offsets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace skid::synth {

inline constexpr const char* kModelSchema = "skidscan.model/1";

/// The maximum number of samples of a recording, all of its events together.
inline constexpr std::uint64_t kMostSamples = 10'000'000;
/// The maximum of events times levels of a recording, whose description has to fit into one record
/// of a pipe.
inline constexpr std::size_t kMostAttributes = 64;
inline constexpr unsigned kMostCpus = 64;

/// Shares of samples that are on no trigger, runway or lead-in; they add up to 1 at most.
struct Elsewhere {
  double kernel = 0;         ///< in kernel mode
  double foreign = 0;        ///< in another process, or in this one before its exec
  double unmapped = 0;       ///< at addresses where nothing is mapped
  double loop = 0;           ///< in the loop's head and end
  double other_trigger = 0;  ///< on instructions that the target declares as other triggers
  double iteration = 0;      ///< on any instruction of the iteration, each equally likely

  double sum() const { return kernel + foreign + unmapped + loop + other_trigger + iteration; }
};

/// Shares of samples with PERF_RECORD_MISC_EXACT_IP, by where they are.
struct ExactShares {
  double hits = 0;       ///< on a trigger
  double misses = 0;     ///< at other places where offsets put them
  double elsewhere = 0;  ///< at the places of Elsewhere
};

/// Instructions that retire between the overflow of the counter and the arming of PEBS, which
/// samples the first event from then on: each number from `lowest` to `highest` is equally likely.
struct Shadow {
  std::uint64_t lowest = 0, highest = 0;
};

/// Shares of samples by the data address that they have. The remaining samples have none, which
/// is 0.
struct AddressShares {
  double cause = 0;      ///< the address accessed by the instruction that caused the event
  double elsewhere = 0;  ///< an address that the target does not access
};

/// One event at one precise level.
struct LevelModel {
  int level = 0;       ///< as requested, 0 to 3
  int precise_ip = 0;  ///< as recorded
  /// nullopt: `offsets` is a table, and each of its offsets occurs exactly as often as in it.
  std::optional<std::uint64_t> samples;
  /// Share of the samples that are on a trigger, among those not in `elsewhere`. The others draw an
  /// offset.
  double hits = 0;
  Distribution offsets;
  Elsewhere elsewhere;
  ExactShares exact;
  std::vector<double> triggers;  ///< shares of the triggers, adding up to 1; empty: all are equal
  double other_triggers = 0;     ///< share of the events that other triggers cause
  std::optional<Shadow> shadow;  ///< nullopt: samples are distributed as events are
  /// Events of all causes from one sample to the next; nullopt: causes are drawn at random.
  std::optional<std::uint64_t> distance;
  std::optional<AddressShares> address;  ///< nullopt: no PERF_SAMPLE_ADDR
  std::string refused;     ///< why the kernel refuses the level; empty: it accepts the level
  std::uint64_t lost = 0;  ///< samples that PERF_RECORD_LOST reports
  std::uint64_t lost_samples = 0;  ///< samples that PERF_RECORD_LOST_SAMPLES reports
  std::uint64_t throttled = 0;     ///< PERF_RECORD_THROTTLE records
};

/// An event in perf_event_attr. The target supplies the other members for `access` and `execute`.
struct EventCode {
  std::string name;  ///< "cycles"
  std::uint32_t type = 0;
  std::uint64_t config = 0;
};

/// An event at all of its levels.
struct EventModel {
  std::string name;       ///< as requested, without level and modifiers: "access", "r20d1"
  std::string modifiers;  ///< "u"
  EventCode recorded;     ///< the recorded event; another one if the event was substituted
  std::uint64_t period = 0;
  /// Events of all causes together; nullopt: as the target declares, else one for each trigger.
  std::optional<double> events_per_iteration;
  std::vector<LevelModel> levels;
};

/// How samples reach the file: each CPU has a buffer, and perf empties one after the other.
struct Buffers {
  unsigned cpus = 1;
  std::uint64_t round_samples = 2000;  ///< samples taken while perf empties all buffers once
  bool finished_round = true;          ///< whether perf marks the rounds
};

struct Model {
  std::string name, description;
  std::uint64_t seed = 1;
  runway::Specification target;
  machine::Machine machine;  ///< the machine that the recording names
  double ticks_per_nop = 0.25;
  double ticks_per_second = 2e9;
  Buffers buffers;
  std::vector<EventModel> events;
};

}  // namespace skid::synth
