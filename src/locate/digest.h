// A recording read: its samples located and counted, its losses added up.
#pragma once

#include "src/locate/filter.h"
#include "src/locate/located_counts.h"
#include "src/perfdata/repeated_records.h"
#include "src/support/losses.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace skid {
class Cores;
}  // namespace skid

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::locate {

class SampleFilter;

struct Digest : Losses {
  std::shared_ptr<const SampleFilter> filter;  ///< null: all samples were counted
  Filtered filtered;                           ///< how many samples the filter selected
  LocatedCounts located;
  std::vector<EventTotals> totals;  ///< totals of each attribute, by its index
  symbols::AddressSpaces spaces;
  std::uint64_t unknown_ids = 0;  ///< samples whose id belongs to no event
  perfdata::RepeatedRecords repeated;
};

/// How to read a recording; only the filter affects the digest.
struct DigestSetup {
  /// Bytes of samples from which on a second thread is started.
  std::uint64_t worth = std::uint64_t{2} << 20;
  /// Bytes that a thread reads at a time; up to one read of ByteStream more.
  std::uint64_t piece = std::uint64_t{256} << 10;
  /// Bytes of samples, at least 1, after which the second thread of the first pass starts. From
  /// then on, samples may be counted in the first pass, in case no mapping follows.
  std::uint64_t quiet = std::uint64_t{1} << 20;
  /// Leases the core of the second thread; null: use one if the machine has several cores.
  Cores* cores = nullptr;
  /// Selects the samples that are counted, by one thread; those of events that it does not select
  /// are counted, too. Null: all samples are counted.
  const Filter* filter = nullptr;
};

/// Reads `recording` to its end, twice. The first pass reads the records that are not samples,
/// among them all mappings. The second locates each sample by its own time and counts it. A long
/// part after the last mapping is read only once. Records need not be in the order of time. A pipe
/// is copied to a temporary file first (Recording::spool). Memory grows with sampled code and with
/// mappings, not with samples or processes. Damage is listed in `recording.faults()`. Throws
/// InputError if the recording lacks what the filter needs.
Digest digest(perfdata::Recording& recording, const DigestSetup& setup = {});

/// Counts the samples of each attribute that have PERF_RECORD_MISC_EXACT_IP.
std::vector<std::uint64_t> exact_samples(const Digest& digest);

}  // namespace skid::locate
