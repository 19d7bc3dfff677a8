// Where binaries and their debug files are kept by build-id, besides where they are installed, and
// the separate debug file in which a distribution keeps the stripped parts of a binary.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace skid::symbols {

class ElfFile;

struct BinaryPlaces {
  /// With the layout of /usr/lib/debug, searched before it.
  std::vector<std::filesystem::path> debug_directories;
  std::filesystem::path build_id_cache;    ///< perf's, "~/.debug"; empty: none
  std::filesystem::path debuginfod_cache;  ///< of debuginfod's clients; empty: none

  friend bool operator==(const BinaryPlaces&, const BinaryPlaces&) = default;
};

/// Files that may contain the code of the binary with that build-id, best first; they need not
/// exist. `build_id`: hexadecimal; empty result if it is too short. A cache of perf's has
/// a link at .build-id/xx/rest to a directory with `elf` or `vdso` in it, or, before Linux 4.11, to
/// the file itself; one of debuginfod has BUILDID/executable; a debug directory may have a link
/// .build-id/xx/rest to the installed file.
std::vector<std::filesystem::path> executables_of(const BinaryPlaces& places,
                                                  const std::string& build_id);

/// The same for separate debug files, which have symbols and lines but no code.
std::vector<std::filesystem::path> debug_files_of(const BinaryPlaces& places,
                                                  const std::string& build_id);

/// All directories that the two look in, for people.
std::vector<std::filesystem::path> directories_of(const BinaryPlaces& places);

/// Where distributions install debug files.
inline constexpr const char* kDebugDirectory = "/usr/lib/debug";

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
