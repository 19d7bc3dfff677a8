// Of which event, recording and machine samples are: a measurement before anything is counted.
#pragma once

#include "analysis/measurement.h"
#include "src/machine/machine.h"
#include "src/measure/measure.h"
#include "src/perfdata/features.h"
#include "src/perfdata/recording.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::measure {

/// The name of a PMU of the recording by its number; empty when unknown.
std::string pmu_name(const perfdata::Features& features, std::uint32_t type);

/// By attribute, what the recording's own command line asked for; nullopt where unknown,
/// and for dummy events.
std::vector<std::optional<std::string>> requested_by_attribute(
    const perfdata::Recording& recording);

/// Whether it is the tracepoint that `record --check-ip` records with page faults, which is not a
/// requested event.
bool is_cross_check(const perfdata::Attribute& attribute, const Source& source);

/// Fills run, file, repeat, synthetic, read_in_part, time, command_lines, cpu, kernel, event and
/// precise for the attribute of that index, and warns where another event or level was recorded
/// than was asked for. `machine`: that the recording was made on. `requested`: of
/// requested_by_attribute().
analysis::Measurement describe_measurement(const Source& source,
                                           const perfdata::Recording& recording,
                                           const machine::Machine& machine, std::uint32_t index,
                                           const std::optional<std::string>& requested);

}  // namespace skid::measure
