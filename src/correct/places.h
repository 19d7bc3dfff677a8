// The sums of samples by place.
#pragma once

#include "src/correct/correction.h"
#include "src/correct/spread.h"

#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::correct {

/// Adds the spreads to the Counts to which `counts_of` returns a reference for each of their
/// places. Samples move to the place in which all of their candidates are, or to the likely one;
/// others stay.
template <typename CountsOf>
void add_up(const std::vector<Spread>& spreads, CountsOf counts_of) {
  for (const Spread& spread : spreads) {
    Counts& here = counts_of(spread.place);
    here.recorded += spread.samples;
    std::set<Counts*> reached;
    for (const SpreadPlace& place : spread.candidates) reached.insert(&counts_of(place));
    if (spread.is_open) reached.insert(&here);
    const bool is_certain = reached.size() == 1;
    Counts& uncertain = spread.likely ? counts_of(*spread.likely) : here;
    Counts& there = is_certain ? **reached.begin() : uncertain;
    there.corrected += spread.samples;
    if (is_certain && !spread.is_open) there.low += spread.samples;
    reached.insert(&there);
    for (Counts* counts : reached) counts->high += spread.samples;
  }
}

/// Adds up the spreads by the chosen unit. Returns the places with most corrected samples first.
std::deque<Place> fold(std::vector<Spread> spreads, By by, const measure::Profile& profile);

}  // namespace skid::correct
