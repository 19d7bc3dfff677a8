// The CPU whose events are requested, by the names that Intel's event files, perf, libpfm4 and
// people use.
#pragma once

#include "src/machine/machine.h"

#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

/// Cores in the tables of this layer. Skylake includes Kaby Lake and Coffee Lake, Ice Lake its
/// servers, Tiger Lake and Rocket Lake.
enum class Core {
  other,
  core_2,
  bonnell,
  nehalem,
  westmere,
  sandy_bridge,
  ivy_bridge,
  haswell,
  broadwell,
  skylake,
  skylake_server,
  icelake,
  sapphire_rapids,
  silvermont,
  goldmont,
  knights_landing
};

/// The fields of an event in perf_event_attr.config
/// (/sys/bus/event_source/devices/PMU/format).
enum class ConfigLayout { intel, amd, arm };

struct Cpu {
  std::string name = {};  ///< of Intel's event file ("skylake"), of its directory, of libpfm4
  std::string description = {};  ///< "AMD64 Fam19h Zen4"; may be empty
  std::string source = {};       ///< "Intel's event file skylake V59", "libpfm4", "perfmon V1.24"
  ConfigLayout layout = ConfigLayout::intel;
  Core core = Core::other;
  bool at_hand = false;       ///< found by looking at this machine, not named
  std::string pfm_name = {};  ///< the PMU of libpfm4 that has further spellings; empty: none

  /// The source with the name: "Intel's event file skylake V59", "libpfm4, core".
  std::string catalogue() const;
};

/// Names of a CPU or of one of its core types.
struct CpuNames {
  std::string_view
      intel;  ///< event file, first part of the files of a hybrid CPU, or "6-BE"; may be empty
  std::string_view pfm;  ///< PMU of libpfm4; may be empty
  Core core;
  std::string_view others;  ///< microarchitectures, products, directories, a space between two
};

/// By any of its names, in any case, with '-' or '_'. Null: none has this name.
const CpuNames* find_cpu(std::string_view name);

/// A name of each CPU and core type.
std::vector<std::string> cpu_names();

/// Whether `name` is another name of `cpu`, or of one of its core types.
bool is_called(std::string_view cpu, std::string_view name);

/// The name that libpfm4 has for a PMU which the user calls `name`, in any case: "zen4" is
/// "amd64_fam19h_zen4"; a name without an entry comes back in lower case.
std::string pfm_name_of(std::string_view name);

/// The PMU in libpfm4 with the events of a CPU that is not in Intel's table, by vendor, family and
/// model (on Arm implementer and part). It is found for any CPU, while libpfm4 itself only finds
/// that of the CPU it runs on. Empty for CPUs that libpfm4 does not have.
std::string pfm_name_of(const machine::CpuIdentity& cpu);

/// The core of a CPU by any of its names; `other` for a hybrid one.
Core core_of(std::string_view name);
Core core_of(const machine::CpuIdentity& cpu);

/// Whether it is one of Arm's architecture, of 32 bits too.
bool is_arm(const machine::CpuIdentity& cpu);
/// Intel's layout for CPUs of unknown vendors.
ConfigLayout layout_of(const machine::CpuIdentity& cpu);

}  // namespace skid::events
