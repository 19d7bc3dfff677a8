// Everything that decides what can be sampled on a machine: the machine, its PMUs, the kernel's
// settings, what this process may do, and perf.
#pragma once

#include "src/machine/answer_reason.h"
#include "src/machine/file_tree.h"
#include "src/machine/machine.h"
#include "src/support/text.h"

#include <cstdint>
#include <filesystem>
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

/// By name. A directory without a type is left out, because its events cannot be opened.
std::vector<Pmu> read_pmus(const FileTree& files);

/// The one of that name, or nullptr.
inline const Pmu* find_pmu(const std::vector<Pmu>& pmus, std::string_view name) {
  return find_by(pmus, &Pmu::name, name);
}

/// Arm's statistical profiling extension: "arm_spe_0".
inline bool is_arm_spe(const Pmu& pmu) {
  return pmu.name.starts_with("arm_spe_");
}
/// AMD's instruction-based sampling: "ibs_op", "ibs_fetch".
inline bool is_amd_ibs(const Pmu& pmu) {
  return pmu.name == "ibs_op" || pmu.name == "ibs_fetch";
}

/// Arm's main ID register, MIDR_EL1 (Arm ARM, D19.2): who made the core, which, and of which
/// revision.
struct Midr {
  std::uint64_t value = 0;
  unsigned implementer = 0;  ///< bits 31:24; 0x41 is Arm
  unsigned variant = 0;      ///< bits 23:20, the n of revision rnpm
  unsigned part = 0;         ///< bits 15:4
  unsigned revision = 0;     ///< bits 3:0, the m of rnpm

  /// "Neoverse N1 r3p1", or "" where the part is not known here.
  std::string name() const;
};

/// "0x00000000413fd0c1" taken apart; nullopt when the text is no such number.
std::optional<Midr> parse_midr(std::string_view text);

/// What the process may do, of /proc/self/status; nullopt if that does not contain it.
struct ProcessRights {
  std::optional<std::uint64_t> user;                    ///< effective user id
  std::optional<std::uint64_t> effective_capabilities;  ///< bit N: capability N
  bool seccomp_filter = false;                          ///< system calls are filtered
  bool container = false;                               ///< Docker's or Podman's mark exists

  bool has_capability(unsigned number) const noexcept {
    return effective_capabilities && ((*effective_capabilities >> number) & 1U) != 0;
  }
  bool has_perfmon() const noexcept { return has_capability(kPerfmon); }
  bool has_sys_admin() const noexcept { return has_capability(kSysAdmin); }
  /// perfmon_capable() of the kernel: not held back by a perf_event_paranoid of up to 2.
  bool may_sample_all() const noexcept { return has_perfmon() || has_sys_admin(); }

  static constexpr unsigned kSysAdmin = 21;  ///< CAP_SYS_ADMIN of capabilities(7)
  static constexpr unsigned kSyslog = 34;    ///< CAP_SYSLOG
  static constexpr unsigned kPerfmon = 38;   ///< CAP_PERFMON, since Linux 5.8
};

/// CapEff of a /proc/PID/status.
inline std::optional<std::uint64_t> effective_capabilities(std::string_view status) {
  return whole_number<std::uint64_t>(status_value(status, "CapEff"), 16);
}

struct SamplingSupport {
  Machine machine;
  std::optional<Midr> midr;
  std::vector<Pmu> pmus;
  std::optional<int> perf_event_mlock_kb;
  std::optional<int> nmi_watchdog;   ///< 1: on, and one hardware counter is taken
  std::optional<int> kptr_restrict;  ///< 0: kernel addresses are shown to all
  ProcessRights rights;
  std::optional<PerfTool> perf;
  std::optional<Reason> perf_missing;  ///< why no perf can be run; nullopt if not known
};

/// Reads the files below `root`; never throws for missing ones. For the root "/" alone find_perf()
/// finds `perf`.
SamplingSupport read_sampling_support(const std::filesystem::path& root = "/",
                                      const std::string& perf = {});

}  // namespace skid::machine
