// /proc/cpuinfo in its x86 and its Arm form, and which hypervisor runs the machine, if one does.
#pragma once

#include "src/machine/machine.h"

namespace skid::machine {

struct CpuInfo {
  /// `arch` is inferred from the form of the text, or empty; `hypervisor` is left empty.
  CpuIdentity identity;
  std::vector<std::string> flags;  ///< x86: "sse2", "hypervisor"
};

/// Reads the first processor of the text. Fields that are missing or no number are left empty.
CpuInfo parse_cpuinfo(std::string_view text);

/// The integer that the whole of a text is, in decimal or after 0x in hexadecimal.
std::optional<int> parse_integer(std::string_view text);

/// What a machine shows of the hypervisor that runs it; empty if nothing is visible.
struct HypervisorTraces {
  bool x86 = false;   ///< on x86 the flag decides; elsewhere no such flag exists
  bool flag = false;  ///< x86: CPUID leaf 1, ECX bit 31
  std::vector<std::string> signatures = {};  ///< x86: CPUID leaves 0x40000000, 0x40000100
  std::string sys_hypervisor = {};           ///< /sys/hypervisor/type
  std::string device_tree = {};              ///< /proc/device-tree/hypervisor/compatible
  std::string dmi_vendor = {};               ///< /sys/class/dmi/id/sys_vendor
  std::string dmi_product = {};              ///< /sys/class/dmi/id/product_name
};

/// "KVM", "VMware", …, "unknown hypervisor"; nullopt on bare metal.
std::optional<std::string> name_hypervisor(const HypervisorTraces& traces);

/// The 12-byte signatures that the CPUID instruction gives here, when it reports a
/// hypervisor; none on other architectures.
std::vector<std::string> cpuid_signatures();

/// The same as a target prints them with --print hypervisor: 24 hexadecimal digits a line. Other
/// lines are left out.
std::vector<std::string> parse_signatures(std::string_view text);

}  // namespace skid::machine
