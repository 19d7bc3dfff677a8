// A mapped file as a recording names it.
#pragma once

#include "src/support/address.h"
#include "src/support/file_identity.h"

#include <compare>
#include <cstdint>
#include <string>

namespace skid::symbols {

/// A mapped file as the recording names it; not opened or verified.
struct MappedFile {
  std::string path;           ///< "/usr/bin/x", "[vdso]", "[kernel.kallsyms]", "//anon"
  std::string build_id = {};  ///< lower-case hexadecimal; empty when the recording has none
  /// The size in bytes of code that the kernel generated and named in a record; 0: this is a file.
  std::uint64_t symbol_size = 0;
  /// Whether one of its mappings could be executed but not read.
  bool is_execute_only = false;
  bool is_memory = false;      ///< executable memory without a file
  bool is_code = false;        ///< whether one of its mappings is of a file and could be executed
  FileIdentity identity = {};  ///< not known if the kernel recorded a build-id
  /// Offsets in the file, in bytes, from the first that was mapped executable to the last. Empty:
  /// not known, or the kernel recorded a build-id, which is better evidence.
  AddressRange executable = {};

  friend auto operator<=>(const MappedFile&, const MappedFile&) = default;
};

}  // namespace skid::symbols
