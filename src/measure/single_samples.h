// What depends on single samples, for which a recording is read once more: whether the addresses of
// page faults are those of the faulting instructions; consecutive samples of a target's thread; the
// value of an event's counter in each of its samples (PERF_SAMPLE_READ, perf's modifier S) against
// the multiples of its period.
#pragma once

#include "analysis/basis.h"
#include "src/measure/profile.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/tracepoint.h"

namespace skid::measure {

/// The tracepoint whose payload names the instruction of each fault in user mode (x86:
/// arch/x86/mm/fault.c). It fires before the page-fault event of the same fault.
inline constexpr std::string_view kPageFaultTracepoint = "exceptions:page_fault_user";

/// Compares every user-mode sample of the page-fault events with the tracepoint's sample of the
/// same fault: the last one of the same thread before it in the file that no sample of the event
/// was compared with, no later than it by the recording's clock, and with no lost records between.
/// Both are written by one CPU, one right after the other, unless the thread moves in between.
class PageFaultChecker {
 public:
  /// `recording` must outlive the checker.
  explicit PageFaultChecker(const perfdata::Recording& recording);

  /// Whether records are to be added: the recording has both a page-fault event and the tracepoint
  /// with its format.
  bool reads() const noexcept { return tracepoint_.has_value(); }
  void add(const locate::VisitedRecord& visited);

  /// Index of the tracepoint's attribute; nullopt: nothing is compared.
  std::optional<std::uint32_t> tracepoint() const noexcept { return tracepoint_; }
  /// Of the event with that attribute index, after the last record. Null: it is not compared.
  const analysis::IpCheck* check_of(std::uint32_t index) const;

 private:
  /// The last fault of a thread that the tracepoint recorded.
  struct Traced {
    std::uint64_t time = 0;  ///< ns; 0 where the recording has no times
    std::uint64_t ip = 0;
  };
  /// One page-fault event against the tracepoint.
  struct Comparison {
    analysis::IpCheck check;
    std::map<std::int32_t, Traced>
        traced;  ///< by thread, until compared; no hash: any ids may come
  };

  void trace(const perfdata::Record& record, const perfdata::Sample& sample);
  static void compare(const perfdata::Sample& sample, Comparison& comparison);

  const perfdata::Recording& recording_;
  perfdata::Tracepoints tracepoints_;
  std::optional<std::uint32_t> tracepoint_;
  std::map<std::uint32_t, Comparison> comparisons_;  ///< by attribute index
};

/// The warning of a check that failed; nullopt when it passed.
std::optional<std::string> warning_of(const analysis::IpCheck& check);

/// Why values of an event's counter contain no overshoot; empty: they do.
std::string no_skid_in_events(const RecordedEvent& event);

/// Finds the multiple of the period that each sample is of. The kernel programs every overflow at
/// the next multiple, as long as no interrupt is a period late or more; then the next one is a
/// period after that interrupt (x86_perf_event_set_period() in arch/x86/events/core.c,
/// armpmu_event_set_period() in drivers/perf/arm_pmu.c). So the multiples of a counter's samples
/// are 1, 2, 3 …, lost samples between them (PERF_FORMAT_LOST, Linux 6.0). From the first sample of
/// a counter for which they are not, its samples are left out: either samples are missing, or an
/// overshoot was a period or more, and the multiples that follow are not known.
class OvershootCounter {
 public:
  /// `period`: events per sample, at least 1. `result`, in which they are counted, must outlive the
  /// counter.
  OvershootCounter(std::uint64_t period, analysis::SkidInEvents& result)
      : period_(period), result_(result) {}

  /// The next sample in the order of the recording, in which those of a counter ascend. nullopt:
  /// its value could not be read.
  void add(const std::optional<perfdata::CounterValue>& value);

 private:
  struct Counter {
    std::uint64_t multiple = 0;  ///< of the last sample
    std::uint64_t lost = 0;      ///< until then
    bool is_known = true;
  };

  std::uint64_t period_;
  std::map<std::uint64_t, Counter> counters_;  ///< by id; no hash: any ids may come
  analysis::SkidInEvents& result_;
};

/// Sets the results that depend on single samples: reads the recording once more, unless nothing
/// does. `geometry`: of the target; null where none was found. `bases`, by attribute, get tables of
/// data addresses, pairs of samples and skids in events.
void count_single_samples(const Profile& profile, const TargetGeometry* geometry,
                          PageFaultChecker& checker, std::vector<analysis::Basis>& bases);

}  // namespace skid::measure
