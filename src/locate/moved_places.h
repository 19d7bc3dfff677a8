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

/// Samples of one place at one location, counted in a row of SampleCounts, with a number of
/// (address space, placement) in place of the address space.
class MovedCounts {
 public:
  void count(const perfdata::SampleKey& key, std::uint32_t placement);
  void seal() {
    counts_.note(0, 0, 0, 0);  // times are not used
    counts_.seal();
  }

  /// Calls `visit(LocatedSamples)` for each place and each of its locations.
  template <typename Visit>
  void for_each(const Placements& placements, Visit visit) const {
    counts_.for_each([&](std::size_t, const perfdata::SampleCount& count) {
      const auto [address_space, placement] =
          spots_[static_cast<std::size_t>(count.of.address_space)];
      visit(LocatedSamples{count.of.ip, address_space, count.of.attribute, count.of.kind,
                           placements.location(placement, count.of.ip), count.samples});
    });
  }

 private:
  using Spot = std::pair<std::int32_t, std::uint32_t>;  // address space, number of the placement

  std::map<Spot, std::int32_t> numbers_;
  std::vector<Spot> spots_;  ///< by number
  perfdata::SampleCounts counts_;
};

/// Notes the moved places of a file, then counts their samples by location.
class MovedPlaces {
 public:
  /// `count` is of a moved place; its `address_space` is address_space_of its samples.
  void add(const perfdata::SampleCount& count);

  /// Reads `recording` from its beginning to the last sample of a moved place.
  MovedCounts read(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                   Placements& placements);

 private:
  struct Place {
    std::uint64_t ip;
    std::int32_t address_space;
    std::uint32_t event_and_kind;

    friend bool operator<(const Place& a, const Place& b) {
      return std::tie(a.ip, a.address_space, a.event_and_kind) <
             std::tie(b.ip, b.address_space, b.event_and_kind);
    }
  };
  static Place place_of(const perfdata::SampleKey& key) {
    return {key.ip, key.address_space,
            key.attribute << perfdata::SampleKind::kBits | key.kind.bits()};
  }

  std::vector<Place> places_;
  std::uint64_t end_ = 0;  ///< position after which there are none of their samples
};

}  // namespace skid::locate
