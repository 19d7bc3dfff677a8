// The sums of samples by place.
#pragma once

#include "src/correct/correction.h"
#include "src/correct/spread.h"

#include <deque>
#include <set>
#include <vector>

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::correct {

/// Adds the spreads to the Counts to which `counts_of` returns a reference for each of their
/// places. Samples whose candidates are all in one place are corrected to be there, others stay.
template <typename CountsOf>
void add_up(const std::vector<Spread>& spreads, CountsOf counts_of) {
  for (const Spread& spread : spreads) {
    Counts& here = counts_of(spread.place);
    here.recorded += spread.samples;
    std::set<Counts*> reached;
    for (const SpreadPlace& place : spread.candidates) reached.insert(&counts_of(place));
    if (spread.is_open) reached.insert(&here);
    const bool stays = reached.size() != 1;
    (stays ? here : **reached.begin()).corrected += spread.samples;
    if (!stays && !spread.is_open) (*reached.begin())->low += spread.samples;
    if (stays) reached.insert(&here);
    for (Counts* counts : reached) counts->high += spread.samples;
  }
}

/// Adds up the spreads by the chosen unit. Returns the places with most corrected samples first.
std::deque<Place> fold(std::vector<Spread> spreads, By by, const measure::Profile& profile);

}  // namespace skid::correct
