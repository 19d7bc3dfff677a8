// A recording read once: its samples counted and located, its losses added up.
#pragma once

#include "src/locate/space_epochs.h"
#include "src/perfdata/bulk_counter.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample_counts.h"
#include "src/symbols/address_space.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace skid::locate {

/// All samples of one event at one address of one space, in one mode.
struct LocatedSamples {
  std::uint64_t ip = 0;
  std::int32_t space = 0;  ///< perfdata::space_of
  std::uint32_t attribute = 0;
  perfdata::SampleKind kind;
  std::optional<symbols::FileLocation> location;  ///< nullopt: nothing was mapped there
  std::uint64_t samples = 0;
};

/// Samples by place. What a place costs in memory is a row of SampleCounts and its location.
class LocatedCounts {
 public:
  /// Calls `visit(LocatedSamples)` for all places: each once, or, where they came through a pipe,
  /// once for each stretch of time between the mapping changes of its space.
  template <typename Visit>
  void for_each(Visit visit) const {
    counts_.for_each([&](std::size_t row, const perfdata::SampleCount& count) {
      const symbols::FileLocation& place = locations_[row];
      if (place.file == kMoved) return;
      LocatedSamples located{count.of.ip,   space_of(count), count.of.attribute,
                             count.of.kind, std::nullopt,    count.samples};
      if (place.file != kNowhere) located.location = place;
      visit(located);
    });
    for (const LocatedSamples& located : moved_) visit(located);
  }

 private:
  friend class Digester;
  static constexpr symbols::FileIndex kNowhere = 0xffff'ffff;
  /// The mapping changed between the first and the last sample; these stand in `moved_`.
  static constexpr symbols::FileIndex kMoved = 0xffff'fffe;

  std::int32_t space_of(const perfdata::SampleCount& count) const {
    return epochs_.empty() ? count.of.space : epoch_of(count).space;
  }
  const SpaceEpochs::Numbered& epoch_of(const perfdata::SampleCount& count) const {
    return epochs_[static_cast<std::size_t>(count.of.space)];
  }
  /// Between which times they were sampled. What came through a pipe was counted when its time was
  /// over, so a slice of it holds samples from before and behind a change; their epochs do not.
  std::pair<std::uint64_t, std::uint64_t> times_of(const perfdata::SampleCount& count) const {
    if (epochs_.empty()) return {count.first, count.last};
    const auto& epoch = epoch_of(count);
    return {std::max(count.first, epoch.first), std::min(count.last, epoch.last)};
  }

  perfdata::SampleCounts counts_;
  std::vector<symbols::FileLocation> locations_;  ///< by row
  std::vector<LocatedSamples> moved_;
  std::vector<SpaceEpochs::Numbered> epochs_;  ///< by number, where a pipe was read
};

struct Digest {
  LocatedCounts located;
  std::vector<perfdata::EventTotals> totals;  ///< by attribute
  symbols::AddressSpaces spaces;
  std::uint64_t lost_records = 0;  ///< sum over PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;  ///< sum over PERF_RECORD_LOST_SAMPLES
  std::uint64_t throttled = 0;     ///< PERF_RECORD_THROTTLE records
  std::uint64_t unknown_ids = 0;   ///< samples whose id belongs to no event
  /// Samples from a pipe that came so long before a mapping of their time that they may have been
  /// given to the mapping before. 0 where the recording could be read twice.
  std::uint64_t uncertain = 0;
};

/// Reads `recording` to its end. Memory grows with distinct (event, space, address) and with
/// mappings, not with samples. Places whose mapping changed between their first and last sample are
/// split by time: a file is read a second time for them, a pipe is cut in epochs as it comes.
/// Damage is listed in `recording.faults()`.
Digest digest(perfdata::Recording& recording);

}  // namespace skid::locate
