#include "src/measure/no_samples.h"

#include "analysis/wording.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::measure {

std::string why_no_samples(const perfdata::Recording& recording) {
  if (const auto& trace = recording.hardware_trace(); trace.type != 0 || trace.bytes > 0) {
    return fmt::format(
        "no samples were recorded, but a hardware trace ({}) of {} bytes, which is not decoded "
        "here; 'perf script' decodes it",
        perfdata::name_of_trace_type(trace.type), analysis::in_thousands(trace.bytes));
  }
  const bool is_of_cpu =
      std::ranges::any_of(recording.attributes(), [&](const perfdata::Attribute& attribute) {
        return is_core_event(attribute, pmu_name(recording.features(), attribute));
      });
  return is_of_cpu
             ? "no samples were recorded: the event was opened, and no counter overflowed or no "
               "interrupt came; in a guest the hypervisor may not deliver it ('skidscan doctor' "
               "samples each event for a moment)"
             : "no samples were recorded: no event occurred as often as its period";
}

}  // namespace skid::measure
