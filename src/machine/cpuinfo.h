// /proc/cpuinfo in its x86 and its Arm form, and which hypervisor runs the machine, if one does.
#pragma once

#include "src/machine/cpu_identity.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {

/// The first processor of /proc/cpuinfo.
struct CpuInfo {
  /// `arch` is inferred from the form of the text, or empty; `hypervisor` is left empty.
  CpuIdentity identity;
  std::vector<std::string> flags;  ///< x86: "sse2", "hypervisor"
};

/// Reads the first processor of the text. Fields that are missing or no number are left empty.
CpuInfo parse_cpuinfo(std::string_view text);

/// Parses all of a text as an integer, in decimal or after 0x in hexadecimal.
std::optional<int> parse_integer(std::string_view text);

/// What a machine shows of the hypervisor that runs it; empty if nothing is visible.
struct HypervisorTraces {
  bool x86 = false;   ///< true on x86, where the flag decides; elsewhere there is none
  bool flag = false;  ///< x86: CPUID leaf 1, ECX bit 31
  std::vector<std::string> signatures = {};  ///< x86: CPUID leaves 0x40000000, 0x40000100
  std::string sys_hypervisor = {};           ///< /sys/hypervisor/type
  std::string device_tree = {};              ///< /proc/device-tree/hypervisor/compatible
  std::string dmi_vendor = {};               ///< /sys/class/dmi/id/sys_vendor
  std::string dmi_product = {};              ///< /sys/class/dmi/id/product_name
};

/// Names the hypervisor: "KVM", "VMware", …, "unknown hypervisor (Nutanix AHV)" with the names in
/// its firmware; nullopt on bare metal.
std::optional<std::string> name_hypervisor(const HypervisorTraces& traces);

/// Reads the 12-byte signatures that CPUID gives on this machine if it reports a hypervisor; none
/// on other architectures.
std::vector<std::string> cpuid_signatures();

}  // namespace skid::machine
