// The report that a target prints when it ends.
#pragma once

#include "src/support/address.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::runway {

/// Text in the report line of every target that ran to its end.
inline constexpr std::string_view kReportMarker = "skidscan_target_report";

/// The last line that a target prints on standard output, one JSON object.
struct TargetReport {
  std::uint64_t iterations = 0;       ///< iterations done after counting began
  double elapsed_seconds = 0.0;       ///< duration of those iterations
  double ticks_per_nop = 0.0;         ///< TSC (x86) or CNTVCT (aarch64) ticks per runway NOP
  double ticks_per_second = 0.0;      ///< rate of that counter by the monotonic clock
  int cpu = -1;                       ///< the CPU it was pinned to, or -1
  std::optional<AddressRange> chase;  ///< the elements of its pointer chase, but for the datum
  std::vector<std::string> warnings;  ///< "mlockall refused (errno 12)"
};

/// Finds and parses the report line. nullopt when the output has none: the target died before its
/// end.
std::optional<TargetReport> parse_target_report(std::string_view standard_output);

}  // namespace skid::runway
