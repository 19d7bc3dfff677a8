// The metadata of a recording: its events and features, from the sections of a file or from
// records.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/features.h"
#include "src/support/byte_order.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace skid {
class FileDescriptor;
}  // namespace skid

namespace skid::perfdata {

class FaultLog;
class IdTable;
struct FileHeader;
struct Record;

/// Maximum number of sample ids (events × CPUs × threads). Each is an open file of perf, and
/// fs.nr_open is 2^20 by default. Bounds memory for sparse or compressed files.
inline constexpr std::uint64_t kMostIds = std::uint64_t{1} << 20;

/// Maximum size of a decoded feature in bytes, far more than build-ids of 100,000 files need.
inline constexpr std::uint64_t kLargestFeature = std::uint64_t{64} << 20;

/// Maximum size of all build-ids in records, in bytes. Such records can be compressed, and need ten
/// times their bytes in memory.
inline constexpr std::uint64_t kMostBuildIdBytes = std::uint64_t{16} << 20;

struct Metadata {
  std::vector<Attribute> attributes;
  Features features;
  std::uint64_t ids_from_records = 0;             ///< number of ids in HEADER_ATTR records
  std::uint64_t build_id_bytes_from_records = 0;  ///< size of HEADER_BUILD_ID records
};

/// Gives the attributes the names and, where they have none, the ids of HEADER_EVENT_DESC.
void adopt_event_descriptions(Metadata& metadata);

/// The change that a record makes to what decoding samples depends on.
enum class MetadataChange {
  none,
  attribute_added,   ///< an attribute was added at the end
  events_described,  ///< ids may have been added to attributes
};

/// The result of adding a metadata record.
struct TakenMetadata {
  MetadataChange change = MetadataChange::none;
  std::string problem;  ///< what is wrong with the record, if anything
};

/// Adds a metadata record: HEADER_ATTR, HEADER_FEATURE, HEADER_BUILD_ID or EVENT_UPDATE. Others are
/// ignored. `ids` maps ids to the attributes so far. If a feature has several records, the first is
/// used; perf writes only one.
TakenMetadata take_metadata(const Record& record, ByteOrder order, const IdTable& ids,
                            Metadata& metadata);

/// The metadata of a file, and where its records are.
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
