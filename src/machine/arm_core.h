// Names of Arm cores, which the kernel only numbers.
#pragma once

#include <string_view>

namespace skid::machine {

/// Who implemented a core, by bits 31:24 of MIDR_EL1 (Arm Architecture Reference Manual, D19.2):
/// 0x41 is "Arm". Empty where he is not known here.
std::string_view arm_implementer(unsigned implementer);

/// "Neoverse N1": a core by its implementer and his part number, bits 15:4 of MIDR_EL1 (the cores'
/// technical reference manuals). Empty where it is not known here, as of all but Arm's own.
std::string_view arm_core_name(unsigned implementer, unsigned part);

}  // namespace skid::machine
