// What all figures say of the measurements that they show.
#pragma once

#include "analysis/measurement.h"
#include "src/output/report/grouping.h"

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

/// "CPU 2": what stands for a machine where there are several.
std::string machine_name(std::size_t machine);

/// What the labels' numbers and letters stand for, in lines of `room` pixels in a font of 9: for
/// each machine at least one, numbered where there are several.
std::vector<std::vector<std::string>> machine_lines(
    const std::vector<output::MachineGroup>& machines, int room);

/// "5101 samples, period 7"
std::string samples_text(const analysis::Measurement& measurement);
/// The samples of all runs; "several periods" where they differ.
std::string samples_text(const std::vector<const analysis::Measurement*>& runs);

/// `what`, with "(SYNTHETIC)" where any of the measurements is.
std::string title_of(std::string_view what, const std::vector<output::MachineGroup>& machines);

}  // namespace skid::plots
