// What a recording says of itself: its events and features, from sections or from records.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/record.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace skid::perfdata {

/// More events than anyone records; bounds what a damaged recording makes us keep.
inline constexpr std::size_t kMostAttributes = std::size_t{1} << 16;

/// More sample ids (events by CPUs by threads) than a process can have files open, each being one:
/// fs.nr_open is 2^20 by default. Bounds memory where a file is larger than what the disk holds.
inline constexpr std::uint64_t kMostIds = std::uint64_t{1} << 22;

struct Metadata {
  std::vector<Attribute> attributes;
  Features features;
};

/// Gives the attributes the names and, where they have none, the ids of HEADER_EVENT_DESC.
void adopt_event_descriptions(Metadata& metadata);

/// Enters a record that carries metadata: HEADER_ATTR, HEADER_FEATURE, HEADER_BUILD_ID and
/// EVENT_UPDATE. Others are left alone. `changed` is set when the attributes changed, after which
/// samples may have to be decoded differently. Returns what is wrong with the record, or an empty
/// string.
std::string take_metadata(const Record& record, ByteOrder order, Metadata& metadata, bool& changed);

}  // namespace skid::perfdata
