// The load address of the recorded kernel.
#pragma once

#include <cstdint>
#include <string>

namespace skid::symbols {

/// The load address of the recorded kernel, from one of its symbols.
struct KernelReference {
  std::string symbol;  ///< "_text" or "_stext"
  std::uint64_t address = 0;

  friend bool operator==(const KernelReference&, const KernelReference&) = default;
};

}  // namespace skid::symbols
