// A CPU as the tables of events name it: its names, its core and the layout of its events.
#pragma once

#include "src/support/address.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::events {

/// Cores of Intel, each kind in the order of their age. Skylake includes Kaby Lake and Coffee Lake,
/// Ice Lake its servers, Tiger Lake and Rocket Lake, Lion Cove also Cougar Cove. `other`: a core of
/// another vendor, a hybrid CPU, or a core that the tables of this layer do not have.
enum class Core {
  other,
  core_2,
  nehalem,
  westmere,
  sandy_bridge,
  ivy_bridge,
  haswell,
  broadwell,
  skylake,
  skylake_server,
  icelake,
  golden_cove,
  redwood_cove,
  lion_cove,
  coyote_cove,
  bonnell,
  silvermont,
  knights_landing,
  goldmont,
  goldmont_plus,
  tremont,
  gracemont,
  crestmont,
  skymont,
  darkmont,
  arctic_wolf
};

/// Whether the kernel treats a core like Golden Cove or Gracemont, or their successors
/// (intel_pmu_init_glc() and intel_pmu_init_grt() in arch/x86/events/intel/core.c).
constexpr bool is_since_golden_cove(Core core) {
  return (core >= Core::golden_cove && core <= Core::coyote_cove) || core >= Core::gracemont;
}

/// The fields of an event in perf_event_attr.config (/sys/bus/event_source/devices/PMU/format).
enum class ConfigLayout { intel, amd, arm };

/// A CPU, or what a catalogue covers of it.
struct Cpu {
  /// Name of Intel's event file ("skylake"), of its directory, or of libpfm4's PMU.
  std::string name = {};
  std::string description = {};  ///< "AMD64 Fam19h Zen4"; may be empty
  std::string source = {};       ///< "Intel's event file skylake V59", "libpfm4", "perfmon V1.24"
  ConfigLayout layout = ConfigLayout::intel;
  Core core = Core::other;
  bool at_hand = false;       ///< true if detected on this machine, not named
  std::string pfm_name = {};  ///< the PMU of libpfm4 that has further spellings; empty: none

  /// Joins the source and the name: "Intel's event file skylake V59", "libpfm4, core".
  std::string catalogue() const;
};

/// Names of a CPU or of one of its core types.
struct CpuNames {
  /// Name of the event file, first part of the names of a hybrid CPU's files, or "6-BE"; may be
  /// empty.
  std::string_view intel;
  std::string_view pfm;  ///< PMU of libpfm4; may be empty
  Core core;
  /// Microarchitectures, products and directories; unused elements are empty.
  std::array<std::string_view, 6> others;
};

/// Finds a CPU by any of its names, in any case, with '-', '_' or neither, also as the kernel, QEMU
/// and compilers write them ("SKYLAKE_X", "Skylake-Server"). Returns null if none has this name.
const CpuNames* find_cpu(std::string_view name);

/// Lists the names of each CPU and core type.
std::vector<std::vector<std::string>> all_cpu_names();
/// Lists one name of each CPU and core type.
std::vector<std::string> cpu_names();

/// Whether `name` is another name of `cpu`, or of one of its core types.
bool is_called(std::string_view cpu, std::string_view name);

/// Returns the name that libpfm4 has for a PMU which the user calls `name`, in any case: "zen4" is
/// "amd64_fam19h_zen4"; names not in the table are returned in lower case.
std::string pfm_name_of(std::string_view name);

/// Returns the PMU in libpfm4 with the events of a CPU that is not in Intel's table, by vendor,
/// family and model (on Arm implementer and part). It is found for any CPU, while libpfm4 itself
/// only finds that of the CPU it runs on. The name is empty for CPUs that libpfm4 does not have.
std::string pfm_name_of(const machine::CpuIdentity& cpu);

/// Returns the generation of a Zen by the name that libpfm4 has or would have for its PMU,
/// "amd64_fam19h_zen4"; 0: it is no Zen's.
int zen_of(std::string_view pmu);

/// Returns the name by which --cpu finds the events of a CPU: "skylakex", "zen4"; empty for a CPU
/// without a table of events.
std::string name_of(const machine::CpuIdentity& cpu);

/// Returns the core of a CPU by any of its names; `other` for a hybrid CPU.
Core core_of(std::string_view name);
/// Returns the core of a CPU by vendor, family and model; `other` for a hybrid CPU.
Core core_of(const machine::CpuIdentity& cpu);

/// Whether a CPU has Arm's architecture, of 64 or 32 bits.
bool is_arm(const machine::CpuIdentity& cpu);
/// Returns the layout of a CPU's events; CPUs of unknown vendors get Intel's.
ConfigLayout layout_of(const machine::CpuIdentity& cpu);

/// Returns the architecture that a CPU's targets are built for.
Arch arch_of(ConfigLayout layout);

}  // namespace skid::events
