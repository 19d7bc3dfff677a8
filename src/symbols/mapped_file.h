// A mapped file as a recording names it.
#pragma once

#include <cstdint>
#include <string>

namespace skid::symbols {

/// A mapped file as the recording names it; not opened or verified.
struct MappedFile {
  std::string path;      ///< "/usr/bin/x", "[vdso]", "[kernel.kallsyms]", "//anon"
  std::string build_id;  ///< lower-case hexadecimal; empty when the recording has none
  /// The size in bytes of code that the kernel generated and named in a record; 0: this is a file.
  std::uint64_t symbol_size = 0;
  /// Whether one of its mappings could be executed but not read.
  bool is_execute_only = false;

  friend bool operator==(const MappedFile&, const MappedFile&) = default;
};

}  // namespace skid::symbols
