// `skidscan annotate`: sampled code with its counts, as text, JSON and CSV.
#pragma once

#include "src/listing/listing.h"
#include "src/listing/rows.h"
#include "src/listing/source_text.h"
#include "src/output/page.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace skid::output {

struct ListingChoices {
  listing::Folding folding;
  /// Text of source lines; null: not shown. Not owned.
  listing::SourceText* sources = nullptr;
  /// Modules as recorded, and link-time addresses.
  using Places = std::set<std::pair<std::string, std::uint64_t>>;
  Places shadowed = {};  ///< instructions that a delay keeps from being sampled

  bool is_shadowed(const listing::Code& code, const listing::Row& row) const {
    return row.kind == listing::RowKind::instruction &&
           shadowed.contains({code.dso, row.range.begin});
  }
};

/// For each machine its code, and for each event of it a table with the precise levels side by
/// side. All names are escaped.
std::string listing_text(const listing::Listing& listing, const ListingChoices& choices,
                         const Page& page);

/// Schema skidscan.annotate/1, documented in docs/formats.md. Ends with a newline.
std::string listing_json(const listing::Listing& listing, const ListingChoices& choices);

/// One row a line of the listing, event and level; docs/formats.md lists the columns.
std::string listing_csv(const listing::Listing& listing, const ListingChoices& choices);

}  // namespace skid::output
