#include "src/machine/cpuinfo.h"

#include "src/support/text.h"

#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#if defined(__x86_64__)
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include <cpuid.h>
#endif

namespace skid::machine {
namespace {

using Fields = std::map<std::string_view, std::string_view>;

/// "key : value" lines up to the first empty line that follows one of them.
Fields first_block(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::string_view line = take_until('\n', text);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      fields.emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    } else if (trimmed(line).empty() && !fields.empty()) {
      break;
    }
  }
  return fields;
}

std::string_view value_of(const Fields& fields, std::string_view key) {
  const auto found = fields.find(key);
  return found == fields.end() ? std::string_view() : found->second;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) words.emplace_back(take_until(' ', text));
  return words;
}

struct Known {
  std::string_view trace;
  std::string_view name;
};

// Signatures as in the kernel's arch/x86/kernel/cpu/{vmware,mshyperv}.c, kvm.c and as published by
// the hypervisors. "Microsoft Hv" is last: KVM and Xen can have it at the first leaf, for guests
// that support only Hyper-V, and their own signature at the next.
constexpr std::array kSignatures{
    Known{"KVMKVMKVM", "KVM"},         Known{"Linux KVM Hv", "KVM"},
    Known{"XenVMMXenVMM", "Xen"},      Known{"VMwareVMware", "VMware"},
    Known{"TCGTCGTCGTCG", "QEMU TCG"}, Known{"VBoxVBoxVBox", "VirtualBox"},
    Known{"bhyve bhyve ", "bhyve"},    Known{"ACRNACRNACRN", "ACRN"},
    Known{" lrpepyh vr", "Parallels"}, Known{" prl hyperv ", "Parallels"},
    Known{"Microsoft Hv", "Hyper-V"},
};

constexpr std::array kVendors{
    Known{"QEMU", "QEMU"},
    Known{"VMware", "VMware"},
    Known{"innotek GmbH", "VirtualBox"},
    Known{"Xen", "Xen"},
    Known{"Parallels", "Parallels"},
    Known{"BHYVE", "bhyve"},
    Known{"Amazon EC2", "Amazon EC2"},
};

constexpr std::array kProducts{
    Known{"KVM", "KVM"},
    Known{"VirtualBox", "VirtualBox"},
    Known{"Virtual Machine", "Hyper-V"},
    Known{"Google Compute Engine", "Google Compute Engine"},
};

constexpr std::array kDeviceTree{
    Known{"linux,kvm", "KVM"},
    Known{"xen,xen", "Xen"},
};

std::optional<std::string> known_by_prefix(std::span<const Known> table, std::string_view trace) {
  for (const Known& known : table) {
    if (trace.starts_with(known.trace)) return std::string(known.name);
  }
  return std::nullopt;
}

std::optional<std::string> known_by_signature(const std::vector<std::string>& signatures) {
  for (const Known& known : kSignatures) {
    for (const std::string& signature : signatures) {
      if (signature.starts_with(known.trace)) return std::string(known.name);
    }
  }
  return std::nullopt;
}

std::optional<std::string> known_by_firmware(const HypervisorTraces& traces) {
  // The rented bare-metal machines carry the same vendor as the virtual ones.
  if (traces.dmi_product.ends_with(".metal")) return std::nullopt;
  if (auto name = known_by_prefix(kVendors, traces.dmi_vendor)) return name;
  return known_by_prefix(kProducts, traces.dmi_product);
}

}  // namespace

std::optional<int> parse_integer(std::string_view text) {
  return decimal_or_hexadecimal<int>(trimmed(text));
}

CpuInfo parse_cpuinfo(std::string_view text) {
  const Fields fields = first_block(text);
  CpuInfo info;
  CpuIdentity& cpu = info.identity;
  cpu.model_name = value_of(fields, "model name");
  if (fields.contains("CPU implementer")) {
    cpu.arch = "aarch64";
    cpu.vendor = value_of(fields, "CPU implementer");
    cpu.model = parse_integer(value_of(fields, "CPU part"));
    cpu.stepping = parse_integer(value_of(fields, "CPU revision"));
  } else if (fields.contains("vendor_id")) {
    cpu.arch = "x86_64";
    cpu.vendor = value_of(fields, "vendor_id");
    cpu.family = parse_integer(value_of(fields, "cpu family"));
    cpu.model = parse_integer(value_of(fields, "model"));
    cpu.stepping = parse_integer(value_of(fields, "stepping"));
    cpu.microcode = value_of(fields, "microcode");
    info.flags = words_of(value_of(fields, "flags"));
  }
  return info;
}

std::optional<std::string> name_hypervisor(const HypervisorTraces& traces) {
  if (auto name = known_by_signature(traces.signatures)) return name;
  if (traces.sys_hypervisor == "xen") return "Xen";
  if (!traces.sys_hypervisor.empty()) return traces.sys_hypervisor;
  if (auto name = known_by_prefix(kDeviceTree, traces.device_tree)) return name;
  // Firmware strings survive on bare metal too, so on x86 the CPU's flag has the last word.
  if (traces.x86 && !traces.flag) return std::nullopt;
  if (auto name = known_by_firmware(traces)) return name;
  if (!traces.flag) return std::nullopt;
  if (traces.dmi_vendor.empty()) return "unknown hypervisor";
  return fmt::format("unknown hypervisor ({} {})", traces.dmi_vendor, traces.dmi_product);
}

std::vector<std::string> cpuid_signatures() {
  std::vector<std::string> signatures;
#if defined(__x86_64__)
  constexpr std::uint32_t kHypervisorBit = 1U << 31U;
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kHypervisorBit) == 0) return signatures;
  for (const std::uint32_t leaf : {0x40000000U, 0x40000100U}) {
    __cpuid(leaf, eax, ebx, ecx, edx);
    const std::array signature{ebx, ecx, edx};
    signatures.emplace_back(reinterpret_cast<const char*>(signature.data()), sizeof signature);
  }
#endif
  return signatures;
}

}  // namespace skid::machine
