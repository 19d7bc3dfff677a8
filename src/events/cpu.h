// The CPU whose events are requested, by the names that libpfm4, Intel's event files and people
// use.
#pragma once

#include "src/machine/machine.h"

#include <string>
#include <string_view>

namespace skid::events {

/// Cores in the tables of this layer. Skylake includes Kaby Lake and Coffee Lake,
/// whose events libpfm4 does not distinguish.
enum class Core {
  other,
  nehalem,
  westmere,
  sandy_bridge,
  ivy_bridge,
  haswell,
  broadwell,
  skylake,
  skylake_server,
  icelake,
  sapphire_rapids
};

/// The fields of an event in perf_event_attr.config
/// (/sys/bus/event_source/devices/PMU/format).
enum class ConfigLayout { intel, amd, arm };

struct Cpu {
  std::string name;         ///< of libpfm4 ("skl"), or the directory of Intel's files ("gnr")
  std::string description;  ///< "Intel Skylake"
  std::string source;       ///< where the events are from: "libpfm4", "perfmon V1.24"
  ConfigLayout layout = ConfigLayout::intel;
  Core core = Core::other;
  bool at_hand = false;  ///< found by looking at this machine, not named
};

/// The name that libpfm4 has for a PMU which the user calls `name`, in any case: "zen4" and
/// "skylake" are "amd64_fam19h_zen4" and "skl"; a name without an entry comes back in lower case.
std::string pfm_name_of(std::string_view name);

/// The PMU of libpfm4 that has the events of a CPU, by vendor, family and model (on Arm implementer
/// and part): of any CPU, where libpfm4 itself only finds the one it runs on. Empty for those it
/// does not have.
std::string pfm_name_of(const machine::CpuIdentity& cpu);

/// The core of a name of libpfm4 or of a directory of Intel's files, in lower case.
Core core_of(std::string_view name);

}  // namespace skid::events
