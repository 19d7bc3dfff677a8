// A recording read once: its samples counted and located, its losses added up.
#pragma once

#include "src/locate/address_space_epochs.h"
#include "src/locate/located_samples.h"
#include "src/locate/moved_places.h"
#include "src/perfdata/bulk_counter.h"
#include "src/perfdata/lanes.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample_counts.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skid::locate {

/// Samples by place. What a place costs in memory is a row of SampleCounts and four bytes.
class LocatedCounts {
 public:
  /// Calls `visit(LocatedSamples)` for all places: each once, or, if its mapping changed, once
  /// per location. From a pipe also once per mapping, even if the same file was mapped again.
  template <typename Visit>
  void for_each(Visit visit) const {
    counts_.for_each([&](std::size_t row, const perfdata::SampleCount& count) {
      visit(LocatedSamples{count.of.ip, address_space_of(count), count.of.attribute, count.of.kind,
                           placements_.location(placement_by_row_[row], count.of.ip),
                           count.samples});
    });
    moved_.for_each(placements_, visit);
  }

 private:
  friend class Digester;
  std::int32_t address_space_of(const perfdata::SampleCount& count) const {
    if (epochs_.empty()) return count.of.address_space;
    return epochs_[static_cast<std::size_t>(count.of.address_space)].address_space;
  }

  perfdata::SampleCounts counts_;
  std::vector<std::uint32_t> placement_by_row_;
  Placements placements_;
  MovedCounts moved_;  ///< places whose mapping changed between their first and last sample
  std::vector<AddressSpaceEpochs::Numbered> epochs_;  ///< by number, where a pipe was read
};

struct Digest {
  LocatedCounts located;
  std::vector<perfdata::EventTotals> totals;  ///< by attribute
  symbols::AddressSpaces spaces;
  std::uint64_t lost_records = 0;  ///< sum over PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;  ///< sum over PERF_RECORD_LOST_SAMPLES
  std::uint64_t throttled = 0;     ///< PERF_RECORD_THROTTLE records
  std::uint64_t unknown_ids = 0;   ///< samples whose id belongs to no event
  /// Samples from a pipe that arrived so long before a mapping of their time that they may have
  /// been assigned to the previous mapping. 0 if the recording could be read twice.
  std::uint64_t uncertain = 0;
};

/// Reads `recording` to its end. Memory grows with distinct (event, address space, address) and
/// with mappings, not with samples. Places whose mapping changed between their first and last
/// sample are split by time: a file is read a second time for them, on a pipe they are
/// distinguished on arrival. Damage is listed in `recording.faults()`. `lanes`: how to read long
/// files; it does not affect the digest.
Digest digest(perfdata::Recording& recording, const perfdata::LaneSetup& lanes = {});

}  // namespace skid::locate
