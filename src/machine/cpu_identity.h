// The identity of a machine's CPU, as it is recorded and compared.
#pragma once

#include <compare>
#include <optional>
#include <string>

namespace skid::machine {

/// The identity of a CPU; on a machine of unlike CPUs that of the first one in /proc/cpuinfo.
struct CpuIdentity {
  std::string arch;                            ///< uname -m: "x86_64"
  std::string vendor;                          ///< "GenuineIntel"; on Arm the implementer, "0x41"
  std::string model_name;                      ///< may be empty
  std::optional<int> family, model, stepping;  ///< decimal; on Arm: nullopt, part, revision
  std::string microcode;                       ///< "0x1000065"; may be empty
  std::optional<std::string> hypervisor;  ///< "KVM", "unknown hypervisor"; nullopt on bare metal

  /// Whether QEMU's TCG emulates it: its "max" is "QEMU TCG CPU version 2.5+" (QEMU,
  /// target/i386/cpu.c), those of the lab are "QEMU TCG CPU (Skylake)" and the like. On Arm the
  /// implementer 0 is reserved for software (Arm ARM, MIDR_EL1); QEMU's "max" and the lab's have
  /// it.
  bool emulated() const { return model_name.starts_with("QEMU TCG CPU") || vendor == "0x00"; }

  friend auto operator<=>(const CpuIdentity&, const CpuIdentity&) = default;
};

}  // namespace skid::machine
