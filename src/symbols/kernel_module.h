// A module of the kernel for x86-64 or arm64 (.ko), placed and relocated as the kernel does it.
#pragma once

#include "src/support/address.h"
#include "src/symbols/elf_file.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::symbols {

struct KernelModule {
  /// The module as a file with addresses and segments. Its code begins at address 0, where a
  /// recording has the mapping of the module. What is elsewhere or nowhere in memory, such as data
  /// and .init.text, is at 64 MiB (arm64) or 1 GiB and above.
  ElfFile file;
  std::uint64_t code_end = 0;  ///< the address after the code whose place is certain
  /// Fields of instructions whose value depends on addresses outside of that code, ascending. They
  /// have the value for an address that is none of the module's. Also an ADRP that may be a jump
  /// out of the code, on Cortex-A53.
  std::vector<AddressRange> unresolved;
};

/// Returns the module in `file`; nullopt if that is no relocatable file of a kernel's module, or
/// has what no kernel loads. Throws Error.
std::optional<KernelModule> load_kernel_module(const ElfFile& file);

}  // namespace skid::symbols
