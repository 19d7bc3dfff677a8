// MiniDebugInfo: the symbols of a stripped file, compressed in the file itself.
#pragma once

#include <optional>

namespace skid::symbols {

class ElfFile;

/// Returns the file in the section .gnu_debugdata of `file`, an ELF file compressed by xz with the
/// names of functions that are not dynamic symbols, as Fedora's and RHEL's find-debuginfo writes it
/// (gdb's documentation, "Debugging information in a special section"). nullopt if there is none,
/// or if it is damaged or takes more memory than ElfFile::allowance() of `file`.
std::optional<ElfFile> mini_debug_info(const ElfFile& file);

}  // namespace skid::symbols
