// Addresses that synthetic recordings use outside of the target's file.
#pragma once

#include "src/support/address.h"

#include <cstdint>

namespace skid::synth {

class LoopPath;

// Three ranges of code that are in no file. Linux has nothing at these addresses on x86-64 and on
// aarch64; at addresses of the kernel's text perf would show names of the running kernel.

/// Returns the pages of a process's other code, before it becomes the target: they cover the
/// target's code.
AddressRange code_before_exec(const LoopPath& path);
/// The code of the other process.
inline constexpr AddressRange kCodeOfOther{0x7f00'0000'0000, 0x7f00'0010'0000};
/// The code of the kernel.
inline constexpr AddressRange kCodeOfKernel{0xffff'ffff'4000'0000, 0xffff'ffff'4100'0000};

/// The memory of a pointer chase in synthetic targets.
inline constexpr std::uint64_t kChaseBegin = 0x7e00'0000'0000;

}  // namespace skid::synth
