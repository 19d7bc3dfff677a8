// The files that are missing to judge samples and branch records.
#pragma once

#include "src/symbols/file_location.h"

#include <cstdint>
#include <map>
#include <vector>

namespace skid::audit {
struct MissingFile;
}  // namespace skid::audit

namespace skid::locate {
struct Digest;
class ModuleStore;
}  // namespace skid::locate

namespace skid::audit {

using SamplesByFile = std::map<symbols::FileIndex, std::uint64_t>;

/// Lists the missing files, those with most samples first. `samples`, `records`: samples and branch
/// records that need the file.
std::vector<MissingFile> missing_files(const locate::Digest& digest, locate::ModuleStore& modules,
                                       const SamplesByFile& samples, const SamplesByFile& records);

}  // namespace skid::audit
