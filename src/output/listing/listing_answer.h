// The first sentence of annotate.
#pragma once

#include <string>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::listing {
struct Listing;
}  // namespace skid::listing

namespace skid::output {

struct ListingChoices;

/// Returns where the samples of the most sampled event are: in the code shown, or at the most
/// sampled place (ListingChoices::by). What was read in part, or sampled by a timer in place of the
/// requested event, comes first. `described`: the measurements of the listing's columns.
std::string listing_answer(const listing::Listing& listing, const ListingChoices& choices,
                           const std::vector<analysis::Measurement>& described);

}  // namespace skid::output
