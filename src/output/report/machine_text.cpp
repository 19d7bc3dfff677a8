#include "src/output/report/machine_text.h"

#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/output/name_list.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

/// Names an Arm CPU, whose name the kernel does not report: "Arm Neoverse N1", "Ampere part 0xac3";
/// empty for other CPUs.
std::string arm_name(const machine::CpuIdentity& cpu) {
  const std::string_view vendor = cpu.vendor;
  if (!vendor.starts_with("0x")) return {};
  const auto implementer = whole_number<unsigned>(vendor.substr(2), 16);
  const std::string_view maker = implementer ? machine::arm_implementer(*implementer) : "";
  if (maker.empty()) return {};
  if (!cpu.model || *cpu.model < 0) return std::string(maker);
  const auto part = static_cast<unsigned>(*cpu.model);
  const std::string_view core = machine::arm_core_name(*implementer, part);
  return core.empty() ? fmt::format("{} part {:#x}", maker, part)
                      : fmt::format("{} {}", maker, core);
}

}  // namespace

std::string cpu_name(const machine::CpuIdentity& cpu) {
  if (!cpu.model_name.empty()) return escape_for_terminal(cpu.model_name);
  if (std::string name = arm_name(cpu); !name.empty()) return name;
  if (!cpu.vendor.empty()) return escape_for_terminal(cpu.vendor);
  return "unknown CPU";
}

std::string machine_text(const machine::CpuIdentity& cpu, std::string_view kernel) {
  std::string text = cpu_name(cpu);
  // Different CPUs can have the same name, such as those of QEMU.
  if (cpu.family && cpu.model && cpu.stepping) {
    // The format is that of perf's CPUID and of `events --cpu`.
    text += fmt::format(" ({}-{:X}-{:X})", *cpu.family, *cpu.model, *cpu.stepping);
  }
  if (!cpu.microcode.empty()) text += ", microcode " + escape_for_terminal(cpu.microcode);
  if (cpu.hypervisor) text += ", under " + escape_for_terminal(*cpu.hypervisor);
  if (!kernel.empty()) text += ", Linux " + escape_for_terminal(kernel);
  return text;
}

std::string cpu_details(const machine::CpuIdentity& cpu, const std::string& name,
                        const std::string& number_of_core) {
  std::vector<std::string> details;
  const auto number = [&details](const char* what, const std::optional<int>& value) {
    if (value) details.push_back(fmt::format("{} {}", what, *value));
  };
  if (!cpu.vendor.empty()) details.push_back(escape_for_terminal(cpu.vendor));
  if (!number_of_core.empty()) details.push_back(number_of_core);
  number("family", cpu.family);
  number("model", cpu.model);
  number("stepping", cpu.stepping);
  if (!cpu.microcode.empty()) details.push_back("microcode " + escape_for_terminal(cpu.microcode));
  if (!cpu.arch.empty()) details.push_back(escape_for_terminal(cpu.arch));
  return details.empty() ? name : fmt::format("{} ({})", name, joined(details));
}

}  // namespace skid::output
