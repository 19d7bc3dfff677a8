// Which instructions can cause a retired event of Intel's, by the words of its name.
#pragma once

#include "src/events/causes.h"

#include <string_view>
#include <vector>

namespace skid::events {

/// A verdict for each category of x86-64 instructions, in the order of instructions::kCategories;
/// all of them `unknown` where `name` belongs to no family. docs/events.md lists the families.
/// `name`: as Intel's event files and libpfm4 write it, in any case.
///
/// The names and their meaning are from the descriptions in Intel's event files, Nehalem to Nova
/// Lake. `never` is said only where the definition leaves no other reading: what the descriptions
/// of one core count and those of another leave open (software prefetches) is `maybe`.
std::vector<Cause> causes_by_name(std::string_view name);

}  // namespace skid::events
