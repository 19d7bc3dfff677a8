// What this computer is: read for run.json before anything is recorded.
#pragma once

#include "src/machine/answer_reason.h"
#include "src/machine/cpu_identity.h"
#include "src/support/error.h"
#include "src/support/since.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {

/// Returns whether a core is of AMD or Hygon, whose precise levels come from IBS.
inline bool is_amd(const CpuIdentity& cpu) {
  return cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine";
}

/// The highest precise level, perf_event_attr.precise_ip.
inline constexpr int kHighestLevel = 3;
/// Returns a level as perf's modifiers write it: "none", "p", "pp", "ppp"; other levels are
/// "level 4".
std::string level_name(int level);
/// Returns the level that level_name() calls so; nullopt: none.
std::optional<int> level_named(std::string_view name);
/// Returns the levels from 0 to `highest`, but not above kHighestLevel.
std::vector<int> levels_up_to(int highest);

/// A PMU of the CPU cores, which counts and samples hardware events: "cpu", "cpu_core",
/// "armv8_pmuv3_0".
struct CorePmu {
  std::string name;
  std::uint32_t type = 0;          ///< perf_event_attr.type
  std::optional<int> max_precise;  ///< caps/max_precise
  std::vector<int> cpus;           ///< the CPUs it belongs to on a hybrid machine; empty: all
};

/// The PMU ibs_op, which samples operations on AMD.
struct IbsOp {
  std::uint32_t type = 0;  ///< perf_event_attr.type
  bool swfilt = false;     ///< format/swfilt, Linux 6.14: the kernel drops samples of other modes
};

/// A cache for data, or for data and instructions.
struct DataCache {
  int level = 0;
  std::uint64_t bytes = 0;
};

struct Machine {
  CpuIdentity cpu;
  std::vector<std::string> cpu_flags;                 ///< x86: the features in cpuinfo, "avx512f"
  std::map<int, std::vector<DataCache>> data_caches;  ///< for each CPU that this process may run on
  std::uint64_t memory_bytes = 0;                     ///< size of the main memory; 0: unknown
  std::string kernel;                                 ///< uname -r
  std::string hostname;                               ///< uname -n
  std::vector<CorePmu> core_pmus;
  std::vector<std::string> other_pmus;  ///< that sample instructions too: "ibs_op", "arm_spe_0"
  std::optional<IbsOp> ibs_op;          ///< nullopt also in a run that was read
  std::optional<int> perf_event_paranoid;
  std::optional<int> perf_event_max_sample_rate;
  std::optional<bool> smt_active;  ///< two threads of one core are online
  bool privileged = false;         ///< this process has CAP_PERFMON or CAP_SYS_ADMIN, as root has
  std::vector<int> allowed_cpus;   ///< CPUs this process may run on, ascending

  bool has_core_pmu() const noexcept { return !core_pmus.empty(); }
  /// perf_allow_kernel() of the kernel.
  bool may_sample_kernel() const noexcept {
    return privileged || perf_event_paranoid.value_or(0) <= 1;
  }
};

/// Reads /proc and /sys below `root`. Missing files leave fields empty; never throws for them.
/// uname(2) and the CPUID instruction are asked only for the root "/".
Machine inspect(const std::filesystem::path& root = "/");

struct PerfTool {
  std::filesystem::path path = {};
  std::string version;  ///< "6.1.187"
  int major = 0, minor = 0;

  /// Whether it has an option that a version introduced.
  bool has(const Since& option) const noexcept { return Since{major, minor} >= option; }
  bool has_control() const noexcept { return has(kControl); }

  static constexpr Since kControl{5, 10};    ///< `perf record --control`, of Linux 5.10
  static constexpr Since kNoBpfEvent{5, 1};  ///< `perf record --no-bpf-event`, of Linux 5.1
};

/// The version in the output of `perf --version`: "perf version 6.1.187" gives "6.1.187", 6, 1.
/// nullopt when none is found. `path` is left empty.
std::optional<PerfTool> parse_perf_version(std::string_view output);

/// The error that no perf can be run.
class NoPerf : public Error {
 public:
  explicit NoPerf(const Reason& reason) : Error(text_of(reason)), reason_(reason) {}
  const Reason& reason() const noexcept { return reason_; }

 private:
  Reason reason_;
};

/// The perf to use: `chosen`, a path or a program in PATH, else the one that PERF in the
/// environment names, else the one in PATH. Throws NoPerf with the package to install when there is
/// none, or it does not run (Ubuntu's wrapper without a perf for the running kernel).
PerfTool find_perf(const std::string& chosen = {});

/// Who implemented a core, by bits 31:24 of MIDR_EL1 (Arm Architecture Reference Manual, D19.2):
/// 0x41 is "Arm"; 0, which is reserved for software, "emulated". Empty where he is not known here.
std::string_view arm_implementer(unsigned implementer);

/// Whether the part numbers of an implementer are those of Arm: its own, and those of emulated
/// cores.
inline bool has_parts_of_arm(unsigned implementer) {
  return implementer == 0x41 || implementer == 0;
}

/// "Neoverse N1": a core by its implementer and his part number, bits 15:4 of MIDR_EL1 (the cores'
/// technical reference manuals). Empty where it is not known here.
std::string_view arm_core_name(unsigned implementer, unsigned part);

}  // namespace skid::machine
