// The header of a recording: where the file's sections are.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace skid {
class ByteReader;
}  // namespace skid

namespace skid::perfdata {

/// Bytes [offset, offset + size) of a file.
struct FileSection {
  static constexpr std::size_t kEntrySize = 16;  ///< bytes of a struct perf_file_section

  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Reads a struct perf_file_section.
FileSection read_section(ByteReader& reader);

struct FileHeader {
  static constexpr std::size_t kPipeSize = 16;      ///< struct perf_pipe_file_header
  static constexpr std::size_t kLargestSize = 104;  ///< struct perf_file_header

  ByteOrder order = ByteOrder::little;
  /// Pipe mode: there are no sections; attributes and features are records among the others.
  bool pipe = false;
  std::uint64_t attribute_entry_size = 0;  ///< size of a perf_event_attr and a FileSection, its ids
  FileSection attributes, data;
  std::vector<unsigned> features;  ///< the bits that are set, ascending
};

/// Reads the header from the first bytes of a recording (kLargestSize, or all that it has). Throws
/// an InputError that names `path` if they are not a header that can be read.
FileHeader parse_file_header(std::span<const std::byte> bytes, const std::filesystem::path& path);

}  // namespace skid::perfdata
