// The header of a recording, and the sections of one in file mode: attributes with their ids, where
// the records are, features.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/perfdata/fault_log.h"
#include "src/perfdata/metadata.h"
#include "src/support/file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace skid::perfdata {

/// Bytes [offset, offset + size) of a file.
struct FileSection {
  static constexpr std::size_t kEntrySize = 16;  ///< bytes of a struct perf_file_section

  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct FileHeader {
  static constexpr std::size_t kPipeSize = 16;      ///< struct perf_pipe_file_header
  static constexpr std::size_t kLargestSize = 104;  ///< struct perf_file_header

  ByteOrder order = ByteOrder::little;
  /// Attributes and features are records among the others, and there are no sections.
  bool pipe = false;
  std::uint64_t attribute_entry_size = 0;  ///< a perf_event_attr and the section of its ids
  FileSection attributes, data;
  std::vector<unsigned> features;  ///< the bits that are set, ascending
};

/// Reads the header from the first bytes of a recording (kLargestSize, or all there are).
/// Throws InputError, naming `path`, when they are no header that can be read.
FileHeader parse_file_header(std::span<const std::byte> bytes, const std::filesystem::path& path);

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
