// Metadata of a recording: its events and features, from sections or from records.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/id_table.h"
#include "src/perfdata/record.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace skid::perfdata {

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

}  // namespace skid::perfdata
