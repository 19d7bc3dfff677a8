// What all figures say of the measurements that they show.
#pragma once

#include "analysis/measurement.h"
#include "src/output/grouping.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

/// CPU, hypervisor and kernel, and the names behind the letters of several sources. `of_several`:
/// with the microcode, in which machines of the same name may differ.
std::string machine_text(const output::MachineGroup& machine, bool of_several);

/// `text`, escaped, in lines of `room` pixels in a font of `points`; more than `most` lines end in
/// "…". At least one line.
std::vector<std::string> lines_of(const std::string& text, int room, int points, std::size_t most);

/// "5101 samples, period 7"
std::string samples_text(const analysis::Measurement& measurement);

/// `what`, with "(SYNTHETIC)" where any of the measurements is.
std::string title_of(std::string_view what, const std::vector<output::MachineGroup>& machines);

}  // namespace skid::plots
