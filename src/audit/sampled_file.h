// Which samples have code to be judged by, and the files with it.
#pragma once

#include "analysis/not_judged.h"
#include "src/locate/module_store.h"
#include "src/perfdata/format.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"

#include <filesystem>
#include <optional>

namespace skid::audit {

/// Why samples of a CPU mode are not judged; nullopt: they are.
std::optional<analysis::NotJudged> reason_of_mode(perfdata::CpuMode mode);

/// The iteration of a target that skidscan built; nullopt for all other files.
std::optional<AddressRange> loop_of(const std::filesystem::path& file);

/// Why a file has no module that may be used.
analysis::NotJudged reason_without_module(const symbols::MappedFile& file,
                                          const locate::ModuleStore::Found& found);

}  // namespace skid::audit
