// The second half of a long file, walked by another thread while the first half is.
#pragma once

#include "src/locate/place_counter.h"
#include "src/perfdata/record_counts.h"

namespace skid::locate {

using Pieces = std::vector<perfdata::Recording::StoredRecords>;

/// Appends samples that are stored in one place to the last of `pieces`, or, if they do not follow
/// it or it has `most` bytes, as a new one.
void append_piece(Pieces& pieces, const perfdata::Recording::StoredRecords& samples,
                  std::uint64_t most);

/// Whether a record of this type may be among the samples of a piece: nothing follows it that is
/// not a record, and it does not affect how samples are read.
bool may_be_in_piece(std::uint32_t type);

/// Extends the last of `pieces` over `record`, which may be in a piece, if it follows there:
/// samples after it are then in the same piece. Whether it does.
bool extend_piece(Pieces& pieces, const perfdata::Recording::StoredRecords& record,
                  std::uint64_t most);

/// What a walk over record headers found in the rest of a file. Records do not mark their
/// beginning: the walk begins at a guess, which is right if a walk from the front arrives at it.
struct SecondHalf {
  std::size_t segment = 0;  ///< StoredRecords::segment
  Pieces pieces;            ///< samples
  /// The other records, of kinds that do not affect how records are read: some in each element.
  std::vector<std::vector<std::byte>> others;
  std::vector<std::uint64_t> offsets;  ///< of each of these records in the file
  perfdata::RepeatedRecords repeated;
};

/// A place near the middle of `rest` where records seem to begin; nullopt if there is none.
std::optional<std::uint64_t> guess_boundary(const perfdata::Recording& recording,
                                            const perfdata::Recording::StoredRecords& rest);

/// Walks from `rest.begin`, the guess, to the end. Positions are those after `rest.position`.
/// nullopt where the file has to be read in order: it is damaged, compressed, has records that
/// announce bytes after them, or more than 32 MiB of other records. Pieces have `piece` bytes.
/// `counter`, if any, counts the samples.
std::optional<SecondHalf> walk_second_half(const perfdata::Recording& recording,
                                           const perfdata::Recording::StoredRecords& rest,
                                           const perfdata::BulkLayout& layout, std::uint64_t piece,
                                           PlaceCounter* counter);

}  // namespace skid::locate
