// A model: the contents of a synthetic recording, and draws of its skids. docs/synth.md describes
// its JSON.
#pragma once

#include "runway/specification.h"
#include "src/machine/machine.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skid {
class Random;
}  // namespace skid

namespace skid {
class JsonValue;
}

namespace skid::synth {

/// Offsets of a model are within this distance: two times the longest runway and lead-in.
inline constexpr std::int64_t kFurthestOffset = std::int64_t{1} << 22;

/// Offsets by how often they occur. One row is a uniform distribution, one offset a constant.
struct OffsetTable {
  struct Row {
    std::int64_t lowest = 0, highest = 0;  ///< instructions; each of them equally likely
    std::uint64_t count = 1;
  };
  std::vector<Row> rows;

  /// The counts of single offsets: row by row, offset i of w has floor((i+1) c / w) - floor(i c /
  /// w) of its count c.
  std::map<std::int64_t, std::uint64_t> counts() const;
  std::uint64_t total() const;
};

/// A delay in core cycles after the trigger, normal, converted to instructions by the speed of the
/// runway: the sample is at the instruction that is next to retire when the delay is over. A
/// delay below 0 is none. In c cycles floor(c / cycles_per_nop) instructions retire, in whole
/// groups; the offset is 1 more.
struct NormalCycles {
  double mean = 0, stddev = 0;     ///< core cycles
  double cycles_per_nop = 0.25;    ///< core cycles per instruction of the runway
  std::uint64_t retire_group = 1;  ///< instructions that retire together
};

using Distribution = std::variant<OffsetTable, NormalCycles>;

/// Every sample at one offset.
inline Distribution always(std::int64_t offset) {
  return OffsetTable{{{offset, offset}}};
}

/// Draws offsets from a distribution, to which it refers. A table must have a count.
class OffsetSampler {
 public:
  explicit OffsetSampler(const Distribution& distribution);

  /// Instructions from the trigger, within kFurthestOffset.
  std::int64_t draw(Random& random) const;

 private:
  const Distribution& distribution_;
  std::vector<std::uint64_t> counts_;  ///< of a table, up to and including each row
};

inline constexpr const char* kModelSchema = "skidscan.model/1";

/// Of one recording, all of its events together.
inline constexpr std::uint64_t kMostSamples = 10'000'000;
/// Events times levels of a recording, whose description has to fit into one record of a pipe.
inline constexpr std::size_t kMostAttributes = 64;
inline constexpr unsigned kMostCpus = 64;

/// Shares of samples that are on no trigger, runway or lead-in; they add up to 1 at most.
struct Elsewhere {
  double kernel = 0;         ///< in kernel mode
  double foreign = 0;        ///< in other code: of another process, or of this one before its exec
  double unmapped = 0;       ///< where nothing is mapped
  double loop = 0;           ///< in the loop's head and end
  double other_trigger = 0;  ///< on instructions that the target declares as other triggers
  double iteration = 0;      ///< on any instruction of the iteration, each equally likely

  double sum() const { return kernel + foreign + unmapped + loop + other_trigger + iteration; }
};

/// Shares of samples with PERF_RECORD_MISC_EXACT_IP, by where they are.
struct ExactShares {
  double hits = 0;       ///< on a trigger
  double misses = 0;     ///< wherever else their offsets put them
  double elsewhere = 0;  ///< of those of Elsewhere
};

/// Instructions that retire between the overflow of the counter and the arming of PEBS, which
/// samples the first event from then on: each number from `lowest` to `highest` is equally likely.
struct Shadow {
  std::uint64_t lowest = 0, highest = 0;
};

/// Shares of samples by the data address that they carry; the others carry none, which is 0.
struct AddressShares {
  double cause = 0;      ///< of what the instruction that caused the event accesses
  double elsewhere = 0;  ///< of nothing that the target accesses
};

/// One event at one precise level.
struct LevelModel {
  int level = 0;       ///< as requested, 0 to 3
  int precise_ip = 0;  ///< as recorded
  /// nullopt: `offsets` is a table, and each of its offsets occurs exactly as often as in it.
  std::optional<std::uint64_t> samples;
  double hits = 0;  ///< share of samples that are put on a trigger, before `offsets` is asked
  Distribution offsets;
  Elsewhere elsewhere;
  ExactShares exact;
  std::vector<double> triggers;  ///< shares of the triggers, adding up to 1; empty: all the same
  double other_triggers = 0;     ///< share of the events that other triggers cause
  std::optional<Shadow> shadow;  ///< nullopt: samples are distributed as events are
  std::optional<AddressShares> address;  ///< nullopt: no PERF_SAMPLE_ADDR
  std::string refused;                   ///< why the kernel refuses the level; empty: it takes it
  std::uint64_t lost = 0;                ///< samples that PERF_RECORD_LOST reports
  std::uint64_t lost_samples = 0;        ///< samples that PERF_RECORD_LOST_SAMPLES reports
  std::uint64_t throttled = 0;           ///< PERF_RECORD_THROTTLE records
};

/// An event in perf_event_attr. Of `access` and `execute` the target supplies the rest.
struct EventCode {
  std::string name;  ///< "cycles"
  std::uint32_t type = 0;
  std::uint64_t config = 0;
};

struct EventModel {
  std::string name;       ///< as requested, without level and modifiers: "access", "r20d1"
  std::string modifiers;  ///< "u"
  EventCode recorded;     ///< what became of it; another name where the event was substituted
  std::uint64_t period = 0;
  /// All causes together; nullopt: as the target declares, else one of each trigger.
  std::optional<double> events_per_iteration;
  std::vector<LevelModel> levels;
};

/// How samples reach the file: each CPU has a buffer, and perf empties one after the other.
struct Buffers {
  unsigned cpus = 1;
  std::uint64_t round_samples = 2000;  ///< samples that come in while perf goes round once
  bool finished_round = true;          ///< whether perf marks the rounds
};

struct Model {
  std::string name, description;
  std::uint64_t seed = 1;
  runway::Specification target;
  machine::Machine machine;  ///< as the recording claims
  double ticks_per_nop = 0.25;
  double ticks_per_second = 2e9;
  Buffers buffers;
  std::vector<EventModel> events;
};

/// The architecture of a vendor's CPUs, as /proc/cpuinfo and perf call it: "GenuineIntel", Arm's
/// implementers "0x41"; nullopt for others.
std::optional<Arch> arch_of_vendor(std::string_view vendor);

/// Reads a model. Throws InputError naming the file, the key, what was found and what is allowed.
Model read_model(const std::filesystem::path& path);
/// The same for a text; `name` replaces the file in messages.
Model parse_model(std::string_view text, const std::string& name);

/// "machine" of a document: the machine that the recording names. `arch`: of its code, which the
/// vendor must match. Throws InputError.
machine::Machine read_machine(const JsonValue& document, Arch arch);
/// The architecture of the vendor of its "machine"; nullopt for none or an unknown one.
std::optional<Arch> arch_of_machine(const JsonValue& document);
/// "buffers" of a document. Throws InputError.
Buffers read_buffers(const JsonValue& document);

/// Models that are part of skidscan, by name.
std::vector<std::string> built_in_model_names();
/// The JSON of one. Throws UsageError naming those there are.
std::string_view built_in_model_text(std::string_view name);

}  // namespace skid::synth
