// Places whose mapping changed between their samples: read once more, each sample by its own time.
#pragma once

#include "src/locate/located_samples.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample_counts.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::locate {

/// Samples of one place at one location, counted in a row of SampleCounts as those of others are:
/// what stands for their space is a number of (space, placement).
class MovedCounts {
 public:
  void count(const perfdata::Sighting& sighting, std::uint32_t placement);
  void seal() {
    counts_.note(0, 0, 0, 0);  // nobody asks when
    counts_.seal();
  }

  /// Calls `visit(LocatedSamples)` for each place and each of its locations.
  template <typename Visit>
  void for_each(const Placements& placements, Visit visit) const {
    counts_.for_each([&](std::size_t, const perfdata::SampleCount& count) {
      const auto [space, placement] = spots_[static_cast<std::size_t>(count.of.space)];
      visit(LocatedSamples{count.of.ip, space, count.of.attribute, count.of.kind,
                           placements.location(placement, count.of.ip), count.samples});
    });
  }

 private:
  using Spot = std::pair<std::int32_t, std::uint32_t>;  // space, number of the placement

  std::map<Spot, std::int32_t> numbers_;
  std::vector<Spot> spots_;  ///< by number
  perfdata::SampleCounts counts_;
};

/// Notes the moved places of a file, then counts their samples by location.
class MovedPlaces {
 public:
  /// `count` is of a moved place; its `space` is space_of its samples.
  void add(const perfdata::SampleCount& count);

  /// Reads `recording` from its beginning until behind the last sample of a moved place.
  MovedCounts read(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                   Placements& placements);

 private:
  struct Place {
    std::uint64_t ip;
    std::int32_t space;
    std::uint32_t event_and_kind;

    friend bool operator<(const Place& a, const Place& b) {
      return std::tie(a.ip, a.space, a.event_and_kind) < std::tie(b.ip, b.space, b.event_and_kind);
    }
  };
  static Place place_of(const perfdata::Sighting& sighting) {
    return {sighting.ip, sighting.space,
            sighting.attribute << perfdata::SampleKind::kBits | sighting.kind.bits()};
  }

  std::vector<Place> places_;
  std::uint64_t end_ = 0;  ///< position behind which none of their samples stands
};

}  // namespace skid::locate
