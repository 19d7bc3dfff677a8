// By how many events samples are late: the value of an event's counter in each sample
// (PERF_SAMPLE_READ, perf's modifier S) against the multiples of its period.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace skid::analysis {
struct SkidInEvents;
}  // namespace skid::analysis

namespace skid::perfdata {
struct CounterValue;
}  // namespace skid::perfdata

namespace skid::measure {

struct RecordedEvent;

/// Explains why values of an event's counter contain no overshoot; empty: they do.
std::string no_skid_in_events(const RecordedEvent& event);

/// Finds the multiple of the period that each sample is of. The kernel programs every overflow at
/// the next multiple, as long as no interrupt is a period late or more; then the next one is a
/// period after that interrupt (x86_perf_event_set_period() in arch/x86/events/core.c,
/// armpmu_event_set_period() in drivers/perf/arm_pmu.c). So the multiples of a counter's samples
/// are 1, 2, 3 …, lost samples between them (PERF_FORMAT_LOST, Linux 6.0). From the first sample of
/// a counter that breaks this order, its samples are left out: either samples are missing, or an
/// overshoot was a period or more, and the multiples that follow are not known.
class OvershootCounter {
 public:
  /// `period`: events per sample, at least 1. `result`, in which they are counted, must outlive the
  /// counter.
  OvershootCounter(std::uint64_t period, analysis::SkidInEvents& result)
      : period_(period), result_(result) {}

  /// Adds the next sample in the order of the recording, in which those of a counter ascend.
  /// nullopt: its value could not be read.
  void add(const std::optional<perfdata::CounterValue>& value);

 private:
  struct Counter {
    std::uint64_t multiple = 0;  ///< multiple of the last sample
    std::uint64_t lost = 0;      ///< samples lost until then
    bool is_known = true;
  };

  std::uint64_t period_;
  /// Counters by id; no hash table, because a file may contain any ids.
  std::map<std::uint64_t, Counter> counters_;
  analysis::SkidInEvents& result_;
};

}  // namespace skid::measure
