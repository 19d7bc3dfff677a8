#include "src/synth/perf_settings.h"

#include "runway/trigger.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/support/address.h"
#include "src/support/text.h"
#include "src/synth/model_reader.h"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::synth {

void set_modes(const std::string& modifiers, perfdata::Attribute& attribute) {
  const auto has = [&](char mode) { return contains(modifiers, mode); };
  if (!has('u') && !has('k') && !has('h')) return;
  attribute.exclude_user = !has('u');
  attribute.exclude_kernel = !has('k');
  attribute.exclude_hypervisor = !has('h');
}

perfdata::Features synthetic_features(const machine::Machine& machine, unsigned cpus,
                                      std::vector<std::string> command_line) {
  perfdata::Features features;
  features.hostname = machine.hostname;
  features.os_release = machine.kernel;
  features.perf_version = fmt::format("{} {}", perfdata::kSyntheticVersion, SKIDSCAN_VERSION);
  features.arch = machine.cpu.arch;
  features.cpu_description = machine.cpu.model_name;
  features.cpu_counts = {cpus, cpus};
  features.command_line = std::move(command_line);
  // The PMU of Arm's cores has a dynamic type number.
  constexpr std::uint32_t kFirstFree = 8;
  const bool is_x86 = machine.cpu.arch == runway::name_of(Arch::x86_64);
  features.pmu_mappings = {{PERF_TYPE_SOFTWARE, "software"},
                           {PERF_TYPE_TRACEPOINT, "tracepoint"},
                           {PERF_TYPE_BREAKPOINT, "breakpoint"}};
  for (const machine::CorePmu& pmu : machine.core_pmus) {
    features.pmu_mappings.emplace_back(pmu.type, pmu.name);
  }
  if (machine.core_pmus.empty()) {
    features.pmu_mappings.emplace_back(is_x86 ? std::uint32_t{PERF_TYPE_RAW} : kFirstFree,
                                       is_x86 ? "cpu" : "armv8_pmuv3_0");
  }
  std::ranges::sort(features.pmu_mappings);
  for (const auto bit : {perfdata::HEADER_HOSTNAME, perfdata::HEADER_OSRELEASE,
                         perfdata::HEADER_VERSION, perfdata::HEADER_ARCH, perfdata::HEADER_CPUDESC,
                         perfdata::HEADER_CMDLINE, perfdata::HEADER_PMU_MAPPINGS}) {
    features.present.set(bit);
  }
  const machine::CpuIdentity& cpu = machine.cpu;
  if (!cpu.vendor.empty() && cpu.family && cpu.model && cpu.stepping) {
    features.cpuid = fmt::format("{},{},{},{}", cpu.vendor, *cpu.family, *cpu.model, *cpu.stepping);
    features.present.set(perfdata::HEADER_CPUID);
  }
  if (arch_of_vendor(cpu.vendor) == Arch::aarch64 && cpu.model) {
    // On aarch64 perf's CPUID is MIDR_EL1: implementer, variant 0, architecture 0xf, part,
    // revision.
    const std::uint64_t implementer = std::strtoul(cpu.vendor.c_str(), nullptr, 16) & 0xff;
    const auto part = static_cast<std::uint64_t>(*cpu.model) & 0xfff;
    const auto revision = static_cast<std::uint64_t>(cpu.stepping.value_or(0)) & 0xf;
    features.cpuid = fmt::format("{:#018x}", implementer << 24 | 0xf'0000 | part << 4 | revision);
    features.present.set(perfdata::HEADER_CPUID);
  }
  return features;
}

}  // namespace skid::synth
