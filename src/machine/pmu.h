// The performance monitoring units that the kernel offers, as its sysfs describes them.
#pragma once

#include "src/machine/file_tree.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {

/// One directory of /sys/bus/event_source/devices
/// (Documentation/ABI/testing/sysfs-bus-event_source-devices*).
struct Pmu {
  std::string name;
  std::uint32_t type = 0;  ///< perf_event_attr.type
  bool core = false;       ///< counts hardware events of the CPU cores: "cpu", "cpu_atom"
  std::map<std::string, std::string> caps;  ///< "max_precise", "pmu_name", "branches", …
  std::vector<int> cpus;                    ///< file `cpus`: the CPUs it belongs to; empty: all
  std::vector<int> cpumask;                 ///< file `cpumask`: the CPUs to open its events on
  std::vector<std::string> formats;         ///< names of the terms of its events

  /// caps/max_precise as a number.
  std::optional<int> max_precise() const;
};

/// By name. A directory without a type is left out, because its events cannot be opened. Excess
/// entries are left out, and long ones truncated; the kernel has neither.
std::vector<Pmu> read_pmus(const FileTree& files);

/// The one of that name, or nullptr.
const Pmu* find_pmu(const std::vector<Pmu>& pmus, std::string_view name);

/// Arm's statistical profiling extension: "arm_spe_0".
bool is_arm_spe(const Pmu& pmu);
/// AMD's instruction-based sampling: "ibs_op", "ibs_fetch".
bool is_amd_ibs(const Pmu& pmu);

}  // namespace skid::machine
