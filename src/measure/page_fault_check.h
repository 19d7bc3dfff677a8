// Whether the addresses of sampled page faults are those of the faulting instructions.
#pragma once

#include "analysis/measurement.h"
#include "src/locate/visit.h"
#include "src/perfdata/recording.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace skid::measure {

/// The tracepoint whose payload names the instruction of each fault in user mode (x86:
/// arch/x86/mm/fault.c). It fires before the page-fault event of the same fault.
inline constexpr std::string_view kPageFaultTracepoint = "exceptions:page_fault_user";

struct PageFaultCheck {
  std::uint32_t tracepoint = 0;                         ///< index of the tracepoint's attribute
  std::map<std::uint32_t, analysis::IpCheck> by_event;  ///< index of a page-fault attribute
};

/// Compares every user-mode sample of the page-fault events with the tracepoint's sample of the
/// same fault: the last one of the same thread before it in the file that no sample of the event
/// was compared with, no later than it by the recording's clock, and with no lost records between.
/// Both are written by one CPU, one right after the other, unless the thread moves in between.
class PageFaultChecker {
 public:
  PageFaultChecker();
  PageFaultChecker(const PageFaultChecker&) = delete;
  PageFaultChecker& operator=(const PageFaultChecker&) = delete;
  PageFaultChecker(PageFaultChecker&&) = delete;
  PageFaultChecker& operator=(PageFaultChecker&&) = delete;
  ~PageFaultChecker();

  /// A visitor for locate::visit_records that compares. It refers to this and the recording. None
  /// when the recording does not hold both a page-fault event and the tracepoint with its format.
  locate::Visitor visitor(const perfdata::Recording& recording);

  /// After the last record; nullopt where there was no visitor.
  std::optional<PageFaultCheck> finish();

 private:
  struct Comparing;
  std::unique_ptr<Comparing> comparing_;
};

/// The warning of a check that failed; nullopt when it passed.
std::optional<std::string> warning_of(const analysis::IpCheck& check);

/// Enters the check of the event with this attribute index, and its warning, where there is one.
void add_page_fault_check(const PageFaultCheck& check, std::uint32_t index,
                          analysis::Measurement& measurement);

}  // namespace skid::measure
