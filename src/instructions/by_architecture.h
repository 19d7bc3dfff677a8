// Classification by architecture, used only by classify().
#pragma once

#include "src/instructions/instruction.h"

namespace skid::instructions {

std::optional<Instruction> classify_x86_64(std::span<const std::byte> code, std::uint64_t address);
std::optional<Instruction> classify_aarch64(std::span<const std::byte> code, std::uint64_t address);

}  // namespace skid::instructions
