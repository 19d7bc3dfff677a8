// The measurements of a figure, machine by machine.
#pragma once

#include "src/output/report/grouping.h"

#include <vector>

namespace skid::plots {

using Machines = std::vector<output::MachineGroup>;

}  // namespace skid::plots
