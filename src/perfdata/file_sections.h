// The sections of a recording in file mode: attributes with their ids, where the records are,
// features.
#pragma once

#include "src/perfdata/fault_log.h"
#include "src/perfdata/file_header.h"
#include "src/perfdata/metadata.h"
#include "src/support/file.h"

#include <cstdint>
#include <filesystem>

namespace skid::perfdata {

struct FileSections {
  Metadata metadata;
  std::uint64_t records_begin = 0, records_end = 0;  ///< offsets in the file
};

/// Reads the sections of `header` from `file`, which is `size` bytes long and is called `path` in
/// faults. Sections that extend past the end of the file, or add up to more than its size, are
/// truncated or left out, with a fault. Throws InputError if no attribute can be read.
FileSections read_file_sections(const FileDescriptor& file, std::uint64_t size,
                                const std::filesystem::path& path, const FileHeader& header,
                                FaultLog& faults);

}  // namespace skid::perfdata
