#include "src/output/csv.h"
#include "src/output/listing/listing.h"

#include <optional>
#include <vector>

namespace skid::output {
namespace {

using listing::Code;
using listing::Row;
using listing::RowKind;

constexpr std::string_view kOwnHeader =
    "function,module,samples_read,samples_in_code,kind,part,begin,end,instructions,first_offset,"
    "last_offset,text,destination,source_file,source_line,verdict,samples,exact_ip_samples,"
    "shadowed";

/// Fields of the place of a row.
std::string place_of(const Code& code, const Row& row) {
  const bool has_place = row.kind != RowKind::inside && row.kind != RowKind::not_decoded;
  return csv_fields(name_of(row.kind), has_place && code.map ? name_of(row.part) : "",
                    has_place ? fmt::format("{:#x}", row.range.begin) : "",
                    has_place && !row.range.empty() ? fmt::format("{:#x}", row.range.end) : "",
                    row.instructions, row.first_offset, row.last_offset, row.text, row.destination,
                    row.source ? row.source->file : "",
                    row.source ? std::optional(row.source->line) : std::nullopt);
}

void add_rows(const listing::Listing& listing, const Code& code, const ListingChoices& choices,
              std::string& csv) {
  std::vector<std::string> prefixes;
  for (const std::size_t index : code.columns) {
    const listing::Column& column = listing.columns[index];
    prefixes.push_back(identity_fields(column.described) + ',' +
                       csv_fields(code.name, code.dso, column.read(), code.total(index).samples));
  }
  for (const Row& row : listing::rows(listing, code, code.columns, choices.folding)) {
    const std::string place = place_of(code, row);
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      const listing::Count& count = row.counts[i];
      csv += fmt::format(
          "{},{},{}\n", prefixes[i], place,
          csv_fields(row.verdicts[i] ? name_of(*row.verdicts[i]) : "", count.samples, count.exact,
                     choices.is_shadowed(listing.columns[code.columns[i]], code, row)));
    }
  }
}

}  // namespace

std::string listing_csv(const listing::Listing& listing, const ListingChoices& choices) {
  std::string csv = fmt::format("{},{}\n", kIdentityHeader, kOwnHeader);
  for (const Code& code : listing.codes) add_rows(listing, code, choices, csv);
  return csv;
}

}  // namespace skid::output
