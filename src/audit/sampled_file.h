// Whether the code of a sampled file can be judged, and which part of it is a target's loop.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/rule.h"
#include "src/locate/module_store.h"

#include <filesystem>
#include <optional>

namespace skid {
struct AddressRange;
}  // namespace skid

namespace skid::symbols {
struct MappedFile;
}  // namespace skid::symbols

namespace skid::audit {

/// Returns the iteration of a target that skidscan built; nullopt for all other files.
std::optional<AddressRange> loop_of(const std::filesystem::path& file);

/// Why the code of a file cannot be used: none of the modules may be used, or it has no code.
/// NotJudged::none: it can be used.
analysis::NotJudged reason_of_file(const symbols::MappedFile& file,
                                   const locate::ModuleStore::Found& found);

}  // namespace skid::audit
