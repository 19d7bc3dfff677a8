// The header of a recording, and its metadata: its events and features, from the sections of a file
// or from records.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/features.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace skid {
class FileDescriptor;
}  // namespace skid

namespace skid::perfdata {

class FaultLog;
class IdTable;
struct Record;

/// More events than anyone records: a kernel has some 2,500 tracepoints. Bounds the memory for a
/// damaged recording, up to 14 KB an event in a report.
inline constexpr std::size_t kMostAttributes = std::size_t{1} << 14;

/// Maximum number of sample ids (events × CPUs × threads). Each is an open file of perf, and
/// fs.nr_open is 2^20 by default. Bounds memory for sparse or compressed files.
inline constexpr std::uint64_t kMostIds = std::uint64_t{1} << 20;

/// Maximum size of a decoded feature, far more than build-ids of 100,000 files need.
inline constexpr std::uint64_t kLargestFeature = std::uint64_t{64} << 20;  // bytes

/// The maximum for build-ids in records, which can be compressed, and need ten times their
/// bytes in memory.
inline constexpr std::uint64_t kMostBuildIdBytes = std::uint64_t{16} << 20;

struct Metadata {
  std::vector<Attribute> attributes;
  Features features;
  std::uint64_t ids_from_records = 0;             ///< that HEADER_ATTR records brought
  std::uint64_t build_id_bytes_from_records = 0;  ///< of HEADER_BUILD_ID records
};

/// Gives the attributes the names and, where they have none, the ids of HEADER_EVENT_DESC.
void adopt_event_descriptions(Metadata& metadata);

/// The change that a record makes to what decoding samples depends on.
enum class MetadataChange {
  none,
  attribute_added,   ///< at the end of `attributes`
  events_described,  ///< attributes may have got ids
};

struct TakenMetadata {
  MetadataChange change = MetadataChange::none;
  std::string problem;  ///< what is wrong with the record, if anything
};

/// Adds a metadata record: HEADER_ATTR, HEADER_FEATURE, HEADER_BUILD_ID or EVENT_UPDATE. Others are
/// ignored. `ids` maps ids to the attributes so far. Of several records of one feature the first is
/// used; perf writes only one.
TakenMetadata take_metadata(const Record& record, ByteOrder order, const IdTable& ids,
                            Metadata& metadata);

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
