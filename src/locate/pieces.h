// Pieces of a recording: ranges of whole records, most of them samples, that are counted at once.
#pragma once

#include "src/perfdata/format.h"
#include "src/perfdata/stored_records.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace skid::locate {

using Pieces = std::vector<perfdata::StoredRecords>;

/// Appends `samples` to the last of `pieces`; as a new piece if they do not directly follow it or
/// it already has `most` bytes.
void append_piece(Pieces& pieces, const perfdata::StoredRecords& samples, std::uint64_t most);

/// Extends the last of `pieces` over `record`, which may be in a piece, if the record directly
/// follows it: samples after the record are then in the same piece. Returns whether it did.
bool extend_piece(Pieces& pieces, const perfdata::StoredRecords& record, std::uint64_t most);

/// Whether the kernel, not perf, writes records of this type.
constexpr bool is_kernel_record(std::uint32_t type) {
  return type > 0 && type < perfdata::PERF_RECORD_HEADER_ATTR;
}

/// Whether a record of this type may be among the samples of a piece: only records follow it, no
/// other bytes, and it does not affect how samples are read.
constexpr bool may_be_in_piece(std::uint32_t type) {
  return is_kernel_record(type) || type == perfdata::PERF_RECORD_FINISHED_ROUND;
}

}  // namespace skid::locate
