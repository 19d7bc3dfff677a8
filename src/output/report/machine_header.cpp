#include "src/output/escape.h"
#include "src/output/page.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
std::string cpu_details(const analysis::Cpu& cpu) {
  std::vector<std::string> details;
  const auto number = [&details](const char* name, const std::optional<int>& value) {
    if (value) details.push_back(fmt::format("{} {}", name, *value));
  };
  if (!cpu.vendor.empty()) details.push_back(escape_for_terminal(cpu.vendor));
  number("family", cpu.family);
  number("model", cpu.model);
  number("stepping", cpu.stepping);
  if (!cpu.microcode.empty()) {
    details.push_back("microcode " + escape_for_terminal(cpu.microcode));
  }
  if (!cpu.arch.empty()) details.push_back(escape_for_terminal(cpu.arch));
  const std::string name = cpu_name(cpu);
  return details.empty() ? name : fmt::format("{} ({})", name, fmt::join(details, ", "));
}

std::string machine_header(const Page& page, const MachineGroup& machine) {
  std::string text = page.field("CPU", cpu_details(machine.cpu));
  if (machine.cpu.hypervisor) {
    text += page.field("hypervisor", escape_for_terminal(*machine.cpu.hypervisor));
  }
  text += page.field("kernel",
                     machine.kernel.empty() ? "unknown" : escape_for_terminal(machine.kernel));
  for (const Source& source : machine.sources) {
    const std::string name = source.is_run ? "run" : "file";
    text += page.field(machine.sources.size() > 1 ? name + ' ' + source.letter : name,
                       escape_for_terminal(source.name));
  }
  if (is_synthetic(machine)) {
    text +=
        page.field("SYNTHETIC", "samples made by skidscan synth; no CPU took them", Ink::yellow);
  }
  return text;
}

}  // namespace skid::output
