// Whether the addresses of page-fault samples are those of the faulting instructions.
#pragma once

#include "analysis/ip_check.h"
#include "src/perfdata/tracepoint.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace skid::locate {
struct VisitedRecord;
}  // namespace skid::locate

namespace skid::perfdata {
class Recording;
struct Record;
struct Sample;
}  // namespace skid::perfdata

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

  /// Whether records must be added: the recording has both a page-fault event and the tracepoint
  /// with its format.
  bool reads() const noexcept { return tracepoint_.has_value(); }
  void add(const locate::VisitedRecord& visited);

  /// Returns the index of the tracepoint's attribute; nullopt: nothing is compared.
  std::optional<std::uint32_t> tracepoint() const noexcept { return tracepoint_; }
  /// Returns the check of the event with that attribute index, after the last record; null: the
  /// event is not compared.
  const analysis::IpCheck* check_of(std::uint32_t index) const;

 private:
  /// The last fault of a thread that the tracepoint recorded.
  struct Traced {
    std::uint64_t time = 0;  ///< ns; 0 where the recording has no times
    std::uint64_t ip = 0;
  };
  /// A comparison of one page-fault event with the tracepoint.
  struct Comparison {
    analysis::IpCheck check;
    /// Faults by thread until compared; no hash table, because a file may contain any ids.
    std::map<std::int32_t, Traced> traced;
  };

  void trace(const perfdata::Record& record, const perfdata::Sample& sample);
  static void compare(const perfdata::Sample& sample, Comparison& comparison);

  const perfdata::Recording& recording_;
  perfdata::Tracepoints tracepoints_;
  std::optional<std::uint32_t> tracepoint_;
  std::map<std::uint32_t, Comparison> comparisons_;  ///< comparisons by attribute index
};

/// Describes a check that failed; nullopt when it passed.
std::optional<std::string> warning_of(const analysis::IpCheck& check);

}  // namespace skid::measure
