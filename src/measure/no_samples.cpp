#include "src/measure/no_samples.h"

#include "analysis/wording.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::measure {
namespace {

constexpr std::uint32_t kCoreSight = 3;  ///< PERF_AUXTRACE_CS_ETM of tools/perf/util/auxtrace.h

/// Describes a hardware trace that is not decoded; empty: there is none.
std::string undecoded_trace(const perfdata::Recording& recording) {
  const auto& trace = recording.hardware_trace();
  if (trace.is_decoded || (trace.type == 0 && trace.bytes == 0)) return {};
  return fmt::format("a hardware trace ({}) of {} bytes, which skidscan does not decode; {}",
                     perfdata::name_of_trace_type(trace.type), analysis::in_thousands(trace.bytes),
                     trace.type == kCoreSight
                         ? "a 'perf script' with OpenCSD does, and 'simpleperf inject'"
                         : "'perf script' does");
}

/// Explains why a hardware trace gives no samples; empty: there is none.
std::string trace_without_samples(const perfdata::Recording& recording) {
  const auto& trace = recording.hardware_trace();
  if (trace.is_decoded) {
    return fmt::format("no samples: the AUX data of SPE, {} bytes, have no complete record",
                       analysis::in_thousands(trace.bytes));
  }
  const std::string undecoded = undecoded_trace(recording);
  return undecoded.empty() ? undecoded : "no samples were recorded, but " + undecoded;
}

}  // namespace

std::string why_no_samples(const perfdata::Recording& recording) {
  if (recording.read_in_part()) return "no samples were read: the recording is damaged";
  if (recording.left_out().unknown_ids > 0) return "no samples of an event that is known";
  if (std::string trace = trace_without_samples(recording); !trace.empty()) return trace;
  const bool is_of_cpu =
      std::ranges::any_of(recording.attributes(), [&](const perfdata::Attribute& attribute) {
        return is_core_event(attribute, pmu_name(recording.features(), attribute));
      });
  return is_of_cpu
             ? "no samples were recorded: the event was opened, and no counter overflowed or no "
               "interrupt came; in a guest the hypervisor may not deliver it ('skidscan doctor' "
               "there samples each event for a moment)"
             : "no samples were recorded: no event occurred often enough for a sample";
}

std::string trace_of(const RecordedEvent& event, const perfdata::Recording& recording) {
  const std::string name = perfdata::name_of_trace_type(recording.hardware_trace().type);
  // simpleperf does not record the names of PMUs.
  const bool is_of_trace = event.pmu_name.empty() ? event.attribute.type >= PERF_TYPE_MAX
                                                  : event.pmu_name.starts_with(name);
  return is_of_trace ? trace_without_samples(recording) : std::string();
}

std::string trace_beside(std::uint64_t samples, const perfdata::Recording& recording) {
  const std::string trace = samples > 0 ? undecoded_trace(recording) : std::string();
  return trace.empty() ? trace : "beside samples, the recording has " + trace;
}

}  // namespace skid::measure
