// One event at one precise level on one machine: all that a report contains.
#pragma once

#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/delay.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/statistics.h"
#include "src/machine/cpu_identity.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

using Cpu = machine::CpuIdentity;

struct EventIdentity {
  std::optional<std::string>
      requested;           ///< "cycles:pp", nullopt when the recording does not contain it
  std::string recorded;    ///< "cpu-clock:ppH"
  std::string label;       ///< the event without its level: "access", "cycles"
  std::uint32_t type = 0;  ///< perf_event_attr.type
  std::uint64_t config = 0;
  std::uint64_t config1 = 0, config2 = 0;
  std::uint32_t breakpoint_type = 0;  ///< perf_event_attr.bp_type: 1 read, 2 write, 4 execute
  /// Modes that were not counted: "user", "kernel", "hypervisor", "host", "guest".
  std::vector<std::string> excluded;
  bool substituted = false;  ///< another event was recorded than requested
  std::string remark;        ///< what the catalogue adds to the recording; may be empty
};

struct PreciseLevel {
  std::optional<int> requested;
  int recorded = 0;
  std::uint64_t exact_ip_samples = 0;
};

struct Period {
  std::optional<std::uint64_t> requested;  ///< nullopt where a frequency was requested
  std::optional<double> effective;         ///< events per sample; nullopt when unknown
};

/// How samples got from the counter into the recording. A verdict covers the path that was
/// recorded.
struct RecordingPath {
  std::optional<std::uint64_t> frequency = {};  ///< samples per second; nullopt: a fixed period
  bool call_graph = false;                      ///< PERF_SAMPLE_CALLCHAIN
  bool branch_stack = false;                    ///< PERF_SAMPLE_BRANCH_STACK
  /// PEBS: the CPU writes many records before an interrupt (large PEBS); false: one interrupt a
  /// record. nullopt: no PEBS, or unknown.
  std::optional<bool> batched = {};

  friend bool operator==(const RecordingPath&, const RecordingPath&) = default;
};

/// "fixed period, PEBS records in batches", "4000 samples a second with call graphs".
std::string describe(const RecordingPath& path);

struct Trigger {
  std::string kind;  ///< "load"; "function" with --hit
  std::uint64_t address = 0;
  std::string symbol;
};

struct EventsPerIteration {
  std::optional<double> measured, expected;
  /// Of the elements of a pointer chase, the share that the caches can hold whose misses are
  /// counted: that much less than `expected` is to be expected. 1: their sizes are not known.
  /// nullopt: the event does not depend on it.
  std::optional<double> cached_share = {};

  /// The least number that the trigger gives.
  std::optional<double> fewest() const;
};

/// The sampled addresses compared with those that a tracepoint recorded of the same events.
struct IpCheck {
  struct Difference {
    std::uint64_t sampled = 0, traced = 0;  ///< addresses
    std::int32_t tid = 0;
    std::uint64_t time = 0;  ///< ns of the recording's clock
  };
  std::string tracepoint;      ///< the tracepoint: "exceptions:page_fault_user"
  std::uint64_t compared = 0;  ///< samples whose event the tracepoint recorded too
  std::uint64_t agreeing = 0;  ///< of those compared
  std::uint64_t unpaired = 0;  ///< user-mode samples that could not be compared
  std::optional<Difference> first_difference;
};

/// Times of the first and last sample, in ns of the recording's clock.
struct SampleTime {
  std::uint64_t first = 0, last = 0;
  friend auto operator<=>(const SampleTime&, const SampleTime&) = default;
};

/// A program and its arguments.
using CommandLine = std::vector<std::string>;
/// Longer arguments are left out.
inline constexpr std::size_t kMostArguments = 1000;

/// The most parts of a sum that are listed.
inline constexpr std::size_t kMostParts = 1000;

/// One of the measurements whose samples were added up.
struct Part {
  std::string run, file;  ///< as in Measurement
  int repeat = 1;
  std::uint64_t samples = 0;  ///< read
  std::optional<SampleTime> time;
  friend auto operator<=>(const Part&, const Part&) = default;
};

/// Intervals of the quantiles and the mean of the offsets in instructions.
struct DistanceIntervals {
  /// Ends at or above the first censored offset are lower bounds, "at least".
  struct Quantile : QuantileInterval {
    bool low_at_least = false, high_at_least = false;
  };
  Quantile p50, p90, p99;
  /// nullopt for a single sample. Where the mean is a lower bound, so are its ends.
  std::optional<Interval> mean;
};

/// What a measurement is of: event, machine, target and recording.
struct Description {
  std::string run;                 ///< the run directory as given, empty for a bare perf.data
  std::string file;                ///< the perf.data file as given or found
  int repeat = 1;                  ///< which repetition of all levels, from 1
  std::optional<SampleTime> time;  ///< of all events of the recording, where it contains them
  /// The measurements that were added up (`merge`), at most the first kMostParts of them; empty for
  /// the measurement of one recording.
  std::vector<Part> merged_from;
  std::uint64_t parts = 1;  ///< how many measurements of one recording each
  /// The command lines that recorded it: skidscan's from the run, else perf's from the recording. A
  /// sum has those of its parts, each once and kMostParts at most. Empty where unknown.
  std::vector<CommandLine> command_lines;
  bool synthetic = false;
  bool read_in_part = false;  ///< damage ended the reading early; see warnings
  Cpu cpu;
  std::string kernel;
  EventIdentity event;
  PreciseLevel precise;
  Period period;
  std::optional<RecordingPath> path;  ///< nullopt in older reports
  std::optional<Trigger> trigger;  ///< nullopt when its address is not known; of several the first
  std::uint64_t lost_records = 0;  ///< sum of PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;  ///< sum of PERF_RECORD_LOST_SAMPLES; may be the same loss
  std::uint64_t throttled = 0;     ///< PERF_RECORD_THROTTLE records
  std::uint64_t unknown_ids = 0;   ///< samples of the file whose id belongs to no attribute
  std::int64_t bin_width = 1;      ///< of the histogram, in instructions
  EventsPerIteration events_per_iteration;
  std::optional<IpCheck> ip_check;    ///< nullopt where no tracepoint was recorded beside the event
  std::vector<std::string> warnings;  ///< of what was requested, recorded and found
  /// Warnings about the recording as a whole: one list for all of its measurements. May be null.
  std::shared_ptr<const std::vector<std::string>> recording_warnings;
};

/// All results that are computed from a description and a basis.
struct Figures {
  Breakdown samples;
  Share hit_ratio;
  /// The share of hits to expect if every instruction of the iteration took equally long; set where
  /// any instruction can be sampled (timers, cycles, instructions).
  std::optional<double> expected_hit_share;
  std::optional<Distance> instructions, bytes, tsc_ticks;
  std::optional<DistanceIntervals> intervals;         ///< where there is a distance in instructions
  std::optional<ConstantSkid> constant_skid;          ///< the same
  std::optional<RetirementGroups> retirement_groups;  ///< nullopt without skids on the runway
  Histogram histogram;
  /// Ends of the histogram's axis: those of the geometry, at most kLongestAxis apart.
  std::int64_t lowest_offset = 0, highest_offset = 0;
  std::optional<std::int64_t> censored_from;  ///< offset in instructions
  Contract contract;
  /// Where there are several triggers, in the order of their addresses; else empty.
  std::vector<TriggerCount> triggers;
  std::vector<std::uint64_t> trigger_addresses;
  std::optional<Bias> bias;
  std::optional<Delay> delay;        ///< nullopt: the order of samples does not show it
  std::optional<Evenness> evenness;  ///< of precise distribution; nullopt: not to be expected
  std::vector<std::string> count_warnings;
};

/// That of the contract; broken also where PDist promises an even distribution and it is uneven.
Verdict verdict_of(const Figures& figures);
/// "kept, certified", "kept, uneven"
std::string verdict_words(const Figures& figures);

/// The basis is kept: sums of measurements and comparisons are computed from it.
struct Measurement : Description, Figures {
  Basis basis;
};

/// Whether there are several triggers at known distances, over which samples can be unevenly
/// spread.
bool has_trigger_distances(const Measurement& measurement);

/// A sentence where no sample of an event of the CPU has EXACT_IP, although the kernel sets it at
/// this level, or the PMU is known to have no levels; else empty. `level`: precise_ip; `exact` of
/// `samples` have the flag.
std::string ignored_level(int level, ExactIp exact_ip, std::uint64_t exact, std::uint64_t samples);

/// The figures of a basis. Without a geometry nothing is judged (no_trigger). Warnings: censored
/// samples above 0.1% unless any instruction can be sampled, throttled or lost ones above 1%,
/// samples inside instructions, exact samples off the trigger where the flag is evidence, a
/// contradicted cause, events per iteration more than 5% above or below those to be expected.
Figures figures_of(const Description& description, const Basis& basis);

/// Sets what follows from the description and the basis: the figures, the number of exact samples,
/// the effective period where `basis.period_sum` is known and the measured events per iteration
/// where `basis.iterations` is.
void complete(Measurement& measurement);

/// A delay and what shows it.
struct MeasuredDelay {
  Delay delay;
  SamplePairs pairs;
};
/// Of several runs of one event and level, added up by their targets.
std::vector<MeasuredDelay> delays_over(const std::vector<const Measurement*>& runs);

}  // namespace skid::analysis
