// /proc/cpuinfo in its x86 and its Arm form.
#pragma once

#include "src/machine/machine.h"

#include <optional>
#include <string>
#include <string_view>

namespace skid::machine {

struct CpuInfo {
  /// `arch` is what the form of the text tells, or empty; `hypervisor` is left to hypervisor.h.
  CpuIdentity identity;
  bool hypervisor_flag = false;  ///< x86: the CPU says that a hypervisor runs it
};

/// Reads the first processor of the text. What is missing or no number is left empty.
CpuInfo parse_cpuinfo(std::string_view text);

/// The integer that the whole of a text is, in decimal or after 0x in hexadecimal.
std::optional<int> parse_integer(std::string_view text);

/// `text` without white space at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace skid::machine
