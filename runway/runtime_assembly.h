// The runtime of targets (runway/runtime), compiled to assembly when skidscan was built.
#pragma once

#include "src/support/address.h"

#include <string_view>

namespace skid::runway {

/// Returns the assembly of all of a target but its loop and note; empty if skidscan was built
/// without a C compiler for the architecture.
std::string_view runtime_assembly(Arch arch);

}  // namespace skid::runway
