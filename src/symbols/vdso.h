// The vdso: code that the kernel maps into every process and that is in no file.
#pragma once

#include "src/symbols/module.h"

#include <optional>

namespace skid::symbols {

/// The vdso of this very process, and so of every process of the running kernel with its word size.
/// nullopt when the kernel gives none or it cannot be read.
std::optional<Module> running_vdso();

}  // namespace skid::symbols
