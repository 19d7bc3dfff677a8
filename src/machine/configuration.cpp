#include "src/machine/configuration.h"

#include "src/machine/cpu_identity.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace skid::machine {

std::vector<std::pair<Property, Property>> differences(const Configuration& a,
                                                       const Configuration& b) {
  std::vector<std::pair<Property, Property>> found;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) found.emplace_back(a[i], b[i]);
  }
  return found;
}

Configuration configuration_of(const CpuIdentity& cpu, const std::string& kernel,
                               bool knows_hypervisor) {
  const auto number = [](const std::optional<int>& value) {
    return value ? std::to_string(*value) : std::string();
  };
  return {{"architecture", cpu.arch},
          {"CPU vendor", cpu.vendor},
          {"CPU family", number(cpu.family)},
          {"CPU model", number(cpu.model)},
          {"CPU stepping", number(cpu.stepping)},
          {"microcode", cpu.microcode},
          {"kernel", kernel},
          {"hypervisor", cpu.hypervisor.value_or(knows_hypervisor ? "none" : "")}};
}

}  // namespace skid::machine
