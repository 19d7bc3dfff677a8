// What Slurm needs to record a kit on many machines: scripts beside run.sh.
#pragma once

#include "src/kit/kit.h"

#include <string_view>
#include <vector>

namespace skid::kit {

/// Where submit.sh leaves runs and reports unless it is told otherwise, in the kit.
inline constexpr const char* kSlurmResults = "results";

/// The texts of src/kit/slurm: what people call, a task of its array, and the job behind it.
std::string_view slurm_submit_script();
std::string_view slurm_record_script();
std::string_view slurm_reduce_script();

/// Adds the scripts to the files of a kit, and to its text for people what they are.
void add_slurm(std::vector<File>& files);

}  // namespace skid::kit
