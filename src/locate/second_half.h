// The second half of a file, whose records another thread walks from a guessed boundary.
#pragma once

#include "src/locate/pieces.h"
#include "src/perfdata/repeated_records.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::perfdata {
struct BulkLayout;
class Recording;
struct StoredRecords;
}  // namespace skid::perfdata

namespace skid::locate {

class PlaceCounter;

/// The result of a walk over record headers in the rest of a file. Nothing in the bytes marks where
/// a record begins: the walk starts at a guess, which is right if the walk from the start of the
/// file arrives at it.
struct SecondHalf {
  std::size_t segment = 0;  ///< StoredRecords::segment
  Pieces pieces;            ///< samples
  /// The other records, of types that do not affect how records are read, in buffers of up to
  /// 256 KiB.
  std::vector<std::vector<std::byte>> others;
  std::vector<std::uint64_t> offsets;  ///< offset in the file of each record in `others`
  perfdata::RepeatedRecords repeated;
};

/// Returns an offset near the middle of `rest` where records seem to begin: 64 plausible headers
/// follow each other from there. nullopt if there is none within 256 KiB.
std::optional<std::uint64_t> guess_boundary(const perfdata::Recording& recording,
                                            const perfdata::StoredRecords& rest);

/// Walks from `rest.begin`, the guess, to the end of the file. Positions count from
/// `rest.position`. Pieces have `piece` bytes. `counter`, if not null, counts the samples. Returns
/// nullopt if the file has to be read in order: it is damaged or compressed, has records that
/// announce bytes after them, or more than 32 MiB of records other than samples.
std::optional<SecondHalf> walk_second_half(const perfdata::Recording& recording,
                                           const perfdata::StoredRecords& rest,
                                           const perfdata::BulkLayout& layout, std::uint64_t piece,
                                           PlaceCounter* counter);

}  // namespace skid::locate
