// /proc/cpuinfo in its x86 and its Arm form.
#pragma once

#include "src/machine/machine.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {

struct CpuInfo {
  /// `arch` is inferred from the form of the text, or empty; `hypervisor` is left to hypervisor.h.
  CpuIdentity identity;
  std::vector<std::string> flags;  ///< x86: "sse2", "hypervisor"
};

/// Reads the first processor of the text. What is missing or no number is left empty.
CpuInfo parse_cpuinfo(std::string_view text);

/// The integer that the whole of a text is, in decimal or after 0x in hexadecimal.
std::optional<int> parse_integer(std::string_view text);

}  // namespace skid::machine
