// The generations of AMD's Zen cores.
#pragma once

#include <optional>

namespace skid::machine {

struct CpuIdentity;

/// Returns the generation of a Zen core, 1 to 6, by family and model: bsp_init_amd() in
/// arch/x86/kernel/cpu/amd.c of Linux 7.2. nullopt: the core is no Zen, or its model is not in that
/// list.
std::optional<int> zen_generation(const CpuIdentity& cpu);

}  // namespace skid::machine
