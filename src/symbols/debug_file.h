// Separate debug info: the file in which a distribution keeps the stripped parts.
#pragma once

#include "src/symbols/binary_places.h"
#include "src/symbols/elf_file.h"

#include <optional>
#include <string>

namespace skid::symbols {

/// The separate debug file of `file`: by build-id where `places` keep such files and below
/// /usr/lib/debug/.build-id, else by the name in .gnu_debuglink beside the file, in .debug beside
/// it, or below a debug directory, as gdb documents ("Debugging Information in Separate Files").
/// Used only if its build-id is that of `file`, or, if either has none, if its checksum is that in
/// .gnu_debuglink. No network is used.
std::optional<ElfFile> find_debug_file(const ElfFile& file, const BinaryPlaces& places = {});

/// The file of that build-id that dwz moved shared DWARF to, named by `name` in the
/// .gnu_debugaltlink of `file`; only below /usr/lib/debug.
std::optional<ElfFile> find_shared_debug_file(const ElfFile& file, const char* name,
                                              const std::string& build_id);

}  // namespace skid::symbols
