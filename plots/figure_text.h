// What all figures say of the measurements that they show.
#pragma once

#include "analysis/measurement.h"
#include "src/output/grouping.h"

#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

/// CPU, hypervisor and kernel, and the names behind the letters of several sources.
std::string machine_text(const output::MachineGroup& machine);

/// "5101 samples, period 7"
std::string samples_text(const analysis::Measurement& measurement);

/// `what`, with "(SYNTHETIC)" where any of the measurements is.
std::string title_of(std::string_view what, const std::vector<output::MachineGroup>& machines);

}  // namespace skid::plots
