// What measurements have in common or not: properties by name, those of the machine among them.
#pragma once

#include <algorithm>
#include <compare>
#include <string>
#include <utility>
#include <vector>

namespace skid::machine {

struct CpuIdentity;

/// A property of what was measured, such as the microcode.
struct Property {
  std::string name;
  std::string value;  ///< empty: not known

  friend auto operator<=>(const Property&, const Property&) = default;
};

/// Properties in the order in which differences are reported.
using Configuration = std::vector<Property>;

/// Lists the properties that differ between configurations, with both values. They have the same
/// names in the same order, as far as the shorter one goes.
std::vector<std::pair<Property, Property>> differences(const Configuration& a,
                                                       const Configuration& b);

/// Returns what machines must have in common for a measurement of one to hold for another: the CPU
/// but for its name, microcode, kernel and hypervisor. `knows_hypervisor`: none is known to be
/// there where `cpu` has none, which a recording without a run does not contain.
Configuration configuration_of(const CpuIdentity& cpu, const std::string& kernel,
                               bool knows_hypervisor = false);

}  // namespace skid::machine
