// Where a recording is less precise than was requested: one sentence an event, for reports, audits
// and `inspect`.
#pragma once

#include "analysis/measurement.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/support/precise_level.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::measure {

/// An event as it was requested and recorded.
struct RecordedPrecision {
  const perfdata::Attribute& attribute;
  const analysis::Measurement& described;  ///< of describe_measurement()
  std::string_view pmu_name;               ///< of attribute.type, empty when unknown
  ExactIp exact_ip = ExactIp::unknown;     ///< of the event on the recorded CPU
  /// Read; of these with EXACT_IP. None: only what was requested is compared with the attribute.
  std::uint64_t samples = 0, exact = 0;
};

/// Another event or level was recorded than requested, a clock in place of an event of the CPU, or
/// a level that the samples show to be ignored. Empty: nothing was lost, or nothing is known of it.
std::string precision_lost(const RecordedPrecision& of);

/// Why samples of an event are not precise: what was lost; or it is a clock, or an event of the CPU
/// at level 0. Empty: precise, or no level concerns the event (page faults, breakpoints,
/// tracepoints).
std::string why_not_precise(const RecordedPrecision& of);

/// Both texts, of an event of a recording.
struct EventPrecision {
  std::string lost, not_precise;
};
/// By attribute; empty texts for dummy events. `counts`: of the whole recording.
std::vector<EventPrecision> precision_of(const perfdata::Recording& recording,
                                         const perfdata::RecordCounts& counts);

}  // namespace skid::measure
