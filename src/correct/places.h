// The sums of spread samples by place.
#pragma once

#include "src/correct/correction.h"
#include "src/correct/spread.h"
#include "src/symbols/file_location.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::correct {

/// Adds the spreads to the Counts to which `counts_of` returns a reference for each of their
/// places. Samples whose candidates are all in one place are certainly there, unless their cause is
/// not known.
template <typename CountsOf>
void add_up(const std::vector<Spread>& spreads, CountsOf counts_of) {
  for (const Spread& spread : spreads) {
    counts_of(spread.place).recorded += spread.recorded;
    std::set<Counts*> reached;
    for (std::size_t i = 0; i < spread.candidates.size(); ++i) {
      Counts& counts = counts_of(spread.candidates[i]);
      counts.corrected += spread.samples[i];
      reached.insert(&counts);
    }
    for (Counts* counts : reached) {
      counts->high += spread.recorded;
      if (reached.size() == 1 && !spread.is_open) counts->low += spread.recorded;
    }
  }
}

/// First addresses of blocks, by file and address of an instruction.
using Blocks = std::map<std::pair<symbols::FileIndex, std::uint64_t>, std::uint64_t>;

/// Adds up the spreads by the chosen unit. `blocks`: for By::block. Returns the places with most
/// corrected samples first.
std::deque<Place> fold(std::vector<Spread> spreads, By by, const measure::Profile& profile,
                       const Blocks& blocks);

}  // namespace skid::correct
