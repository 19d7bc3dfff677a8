// Where binaries and debug files are stored by build-id, apart from where they are installed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace skid::symbols {

class ElfFile;

struct BinaryPlaces {
  /// Directories with the layout of /usr/lib/debug, which are searched before it.
  std::vector<std::filesystem::path> debug_directories;
  std::filesystem::path build_id_cache;    ///< perf's cache, "~/.debug"; empty: none
  std::filesystem::path debuginfod_cache;  ///< cache of debuginfod's clients; empty: none

  friend bool operator==(const BinaryPlaces&, const BinaryPlaces&) = default;
};

/// Returns files that may contain the code of the binary with that build-id, best first; they need
/// not exist. `build_id`: hexadecimal; the result is empty if it is too short. perf's cache has a
/// link .build-id/xx/rest to a directory with `elf` or `vdso` in it, or, before Linux 4.11, to the
/// file itself. debuginfod's cache has BUILDID/executable. A debug directory may have a link
/// .build-id/xx/rest to the installed file.
std::vector<std::filesystem::path> executables_of(const BinaryPlaces& places,
                                                  const std::string& build_id);

/// Returns files that may be the separate debug file of the binary with that build-id, with symbols
/// and lines but no code; best first. They need not exist.
std::vector<std::filesystem::path> debug_files_of(const BinaryPlaces& places,
                                                  const std::string& build_id);

/// Returns all directories in which binaries and debug files are searched, for messages.
std::vector<std::filesystem::path> directories_of(const BinaryPlaces& places);

/// Where distributions install debug files.
inline constexpr const char* kDebugDirectory = "/usr/lib/debug";

/// Finds the separate debug file of `file`, in which a distribution stores stripped parts. It is
/// searched by build-id in `places` and below /usr/lib/debug/.build-id; else by the name in
/// .gnu_debuglink in the directory of the file, in its .debug, or below a debug directory, as gdb
/// documents ("Debugging Information in Separate Files"); at last it is a copy in `places` with a
/// symbol table, such as perf's of the file before it was stripped. It is used only if its build-id
/// is that of `file` or, if one of them has none, if its checksum is that in .gnu_debuglink. The
/// network is not used.
std::optional<ElfFile> find_debug_file(const ElfFile& file, const BinaryPlaces& places = {});

/// Finds the file with that build-id to which dwz moved DWARF that several files share. `name`: its
/// name in the .gnu_debugaltlink of `file`. Only files below /usr/lib/debug are used.
std::optional<ElfFile> find_shared_debug_file(const ElfFile& file, const char* name,
                                              const std::string& build_id);

}  // namespace skid::symbols
