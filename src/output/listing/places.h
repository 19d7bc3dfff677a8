// Sampled modules, functions and source lines with their counts.
#pragma once

#include "src/listing/sampled_code.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace skid::output {

struct EventGroup;

struct Page;

/// A place, and the samples of each column there; both are owned by the listing.
struct PlaceCounts {
  const listing::Place* place = nullptr;
  const std::map<std::size_t, listing::Count>* counts = nullptr;
  std::uint64_t sum = 0;  ///< samples of the columns asked for
};

/// Returns the indices of all columns.
std::vector<std::size_t> all_columns(const listing::Listing& listing);

/// Returns the places with samples of these columns (indices of Listing::columns), the most sampled
/// first.
std::vector<PlaceCounts> most_sampled(const listing::Listing& listing,
                                      const std::vector<std::size_t>& columns);

/// Names a place in a sentence: "deflate.c:1302, longest_match of gzip", "longest_match of gzip",
/// "0x1130 of gzip" (a function without a name), "/usr/bin/gzip". Escaped.
std::string place_text(const listing::Place& place, listing::By by);

/// Returns a table of an event's most sampled places with a column for each of `event.columns`,
/// whose indices in Listing::columns are `columns`. Further rows have the places left
/// out, and the samples in modules that were not selected. `all`: none is left out.
std::string places_table(const Page& page, const listing::Listing& listing, listing::By by,
                         const EventGroup& event, const std::vector<std::size_t>& columns,
                         bool all);

/// Returns what gives functions their names and lines where a file has none.
std::string unnamed_remedy();

/// Returns notes on the sampled files that are missing, and on those that have no source line (or
/// no function's name, unless `by` lines) at any sample; may be empty.
std::string note_on_files(const Page& page, const listing::Listing& listing, listing::By by);

}  // namespace skid::output
