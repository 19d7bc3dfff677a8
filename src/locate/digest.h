// A recording read: its samples located and counted, its losses added up.
#pragma once

#include "src/locate/filter.h"
#include "src/locate/place_counter.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/symbols/address_space.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace skid {
class Cores;
}  // namespace skid

namespace skid::perfdata {
struct BulkLayout;
struct Record;
struct Sample;
}  // namespace skid::perfdata

namespace skid::locate {

struct Digest {
  std::shared_ptr<const SampleFilter> filter;  ///< null: all samples were counted
  Filtered filtered;                           ///< how many it selected
  LocatedCounts located;
  std::vector<EventTotals> totals;  ///< by attribute
  symbols::AddressSpaces spaces;
  std::uint64_t lost_records = 0;  ///< sum over PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;  ///< sum over PERF_RECORD_LOST_SAMPLES
  std::uint64_t throttled = 0;     ///< PERF_RECORD_THROTTLE records
  std::uint64_t unknown_ids = 0;   ///< samples whose id belongs to no event
  perfdata::RepeatedRecords repeated;
};

/// How to read a recording; only the filter affects the digest.
struct DigestSetup {
  /// Bytes of samples from which on a second thread is started.
  std::uint64_t worth = std::uint64_t{2} << 20;
  /// Bytes that a thread reads at a time; up to one read of ByteStream more.
  std::uint64_t piece = std::uint64_t{256} << 10;
  /// Bytes of samples, at least 1, after which the second thread of the first pass starts. From
  /// then on, samples may be counted in the first pass, in the hope that no mapping follows.
  std::uint64_t quiet = std::uint64_t{1} << 20;
  /// Leases the core of the second thread; null: every machine with several cores has one.
  Cores* cores = nullptr;
  /// Which samples are counted, by one thread: those of unselected events are, too. Null: all.
  const Filter* filter = nullptr;
};

/// Reads `recording` to its end, twice. The first pass reads the records that are not samples,
/// among them all mappings. The second locates each sample by its own time and counts it. A long
/// part after the last mapping is read only once. Records need not be in the order of time. A pipe
/// is copied to a temporary file first (Recording::spool). Memory grows with sampled code and with
/// mappings, not with samples or processes. Damage is listed in `recording.faults()`. Throws
/// InputError where the recording lacks what the filter needs.
Digest digest(perfdata::Recording& recording, const DigestSetup& setup = {});

/// By attribute, samples with PERF_RECORD_MISC_EXACT_IP.
std::vector<std::uint64_t> exact_samples(const Digest& digest);

/// A record as it is read again.
struct VisitedRecord {
  const perfdata::Record& record;
  /// Null: another record, a damaged sample, or one that the filter of the digest leaves out.
  const perfdata::Sample* sample = nullptr;
  std::optional<symbols::FileLocation> location;  ///< of `sample`, at its time
  const perfdata::Sample* left_out = nullptr;     ///< by the filter
};
using Visitor = std::function<void(const VisitedRecord&)>;

/// Calls `visitor` for each record in the order of the recording. For what depends on single
/// samples, such as their data addresses, after the digest: only then is it known which mapped file
/// is the target. `recording`: after digest(), which gave `digest`.
void visit_records(perfdata::Recording& recording, const Digest& digest, const Visitor& visitor);

// What digest() is made of: pieces of samples, and the second half of a file, which another thread
// walks.

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
