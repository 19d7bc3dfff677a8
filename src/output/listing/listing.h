// `skidscan annotate`: sampled code with its counts, as text, JSON and CSV.
#pragma once

#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "src/listing/rows.h"
#include "src/listing/sampled_code.h"
#include "src/support/address.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace skid::listing {
class SourceText;
}  // namespace skid::listing

namespace skid::output {

struct Page;

/// What a listing shows.
struct ListingChoices {
  listing::Folding folding;
  std::optional<listing::By> by = {};  ///< what samples were added up by; nullopt: not at all
  /// Text of source lines; null: not shown. Not owned.
  listing::SourceText* sources = nullptr;
  /// An instruction in a recording's event.
  struct Place {
    std::string file;  ///< the recording
    std::string event;
    int level = 0;
    std::string module;         ///< as recorded
    std::uint64_t address = 0;  ///< link-time address

    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Places = std::set<Place>;
  /// The sentence before the one on the code, as most_sampled_place() returns it; may be empty.
  std::string most_sampled = {};
  std::string trust = {};  ///< what an audit says about the samples; empty: nothing
  Places shadowed = {};    ///< instructions that a delay keeps from being sampled

  /// Whether a delay keeps the instruction of a row from being sampled. `column`: one of `code`.
  bool is_shadowed(const listing::Column& column, const listing::Code& code,
                   const listing::Row& row) const {
    const auto& described = column.described;
    return row.kind == listing::RowKind::instruction &&
           shadowed.contains({described.file, described.event.label, described.precise.recorded,
                              code.dso, row.range.begin});
  }
};

/// Returns "6,754 of 13,354 samples (50.58%) are in deflate of gzip": the most sampled place of the
/// event with the most samples. Escaped.
std::string most_sampled_place(const listing::Listing& listing, listing::By by);

/// Returns the code of each machine, or its most sampled places, and for each event of it a table
/// with the precise levels side by side. All names are escaped.
std::string listing_text(const listing::Listing& listing, const ListingChoices& choices,
                         const Page& page);

/// Returns JSON of schema skidscan.annotate/1, documented in docs/formats.md. Ends with a newline.
std::string listing_json(const listing::Listing& listing, const ListingChoices& choices);

/// Returns CSV with a row for each line of the listing, event and level; docs/formats.md lists the
/// columns.
std::string listing_csv(const listing::Listing& listing, const ListingChoices& choices);

}  // namespace skid::output
