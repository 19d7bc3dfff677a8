#include "src/output/csv.h"
#include "src/output/listing/listing.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

using listing::Code;
using listing::Row;
using listing::RowKind;

constexpr std::string_view kOwnHeader =
    "function,module,samples_read,samples_in_code,kind,part,begin,end,instructions,first_offset,"
    "last_offset,"
    "text,destination,source_file,source_line,verdict,samples,exact_ip_samples";

/// Fields of a column of some code that are equal in all rows, with a comma at the end.
std::string prefix_of(const listing::Column& column, const Code& code, std::uint64_t samples) {
  const std::array<std::string, 5> fields{identity_fields(column.described), csv_field(code.name),
                                          csv_field(code.dso), fmt::format("{}", column.read()),
                                          fmt::format("{}", samples)};
  return fmt::format("{},", fmt::join(fields, ","));
}

/// Fields of the place of a row, with a comma at the end.
std::string place_of(const Code& code, const Row& row) {
  const bool has_place = row.kind != RowKind::inside && row.kind != RowKind::not_decoded;
  const std::array<std::string, 11> fields{
      std::string(name_of(row.kind)),
      has_place && code.map ? std::string(name_of(row.part)) : std::string(),
      has_place ? fmt::format("{:#x}", row.range.begin) : std::string(),
      has_place && !row.range.empty() ? fmt::format("{:#x}", row.range.end) : std::string(),
      fmt::format("{}", row.instructions),
      csv_field(row.first_offset),
      csv_field(row.last_offset),
      csv_field(row.text),
      csv_field(row.destination),
      row.source ? csv_field(row.source->file) : std::string(),
      row.source ? fmt::format("{}", row.source->line) : std::string()};
  return fmt::format("{},", fmt::join(fields, ","));
}

void add_rows(const listing::Listing& listing, const Code& code, const ListingChoices& choices,
              std::string& csv) {
  std::vector<std::string> prefixes;
  for (const std::size_t column : code.columns) {
    prefixes.push_back(prefix_of(listing.columns[column], code, code.total(column).samples));
  }
  for (const Row& row : listing::rows(listing, code, code.columns, choices.folding)) {
    const std::string place = place_of(code, row);
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      csv += fmt::format("{}{}{},{},{}\n", prefixes[i], place,
                         row.verdicts[i] ? name_of(*row.verdicts[i]) : std::string_view(),
                         row.counts[i].samples, row.counts[i].exact);
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
