#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "runway/trigger.h"
#include "src/listing/rows.h"
#include "src/listing/sampled_code.h"
#include "src/listing/source_text.h"
#include "src/output/cpu_fields.h"  // IWYU pragma: keep
#include "src/output/csv.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/listing/listing.h"
#include "src/output/listing/places.h"
#include "src/support/address.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/symbols/location.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using listing::Code;
using listing::RowKind;

Json column_of(const listing::Column& column) {
  const auto& value = column.described;
  Json samples = {{"read", column.read()}};
  samples.update(counts_by_name<listing::Where>(column.samples, Zeros::kept));
  FieldWriter io;
  SKID_MEMBERS_OR_NULL(run);
  SKID_MEMBERS(file, repeat, synthetic, read_in_part, cpu);
  SKID_MEMBERS_OR_NULL(kernel);
  io("event", Json{{"label", value.event.label},
                   {"requested", value.event.requested},
                   {"recorded", value.event.recorded},
                   {"type", value.event.type},
                   {"config", hexadecimal(value.event.config)},
                   {"swapped", value.event.substituted}});
  io("precise", Json{{"requested", value.precise.requested}, {"recorded", value.precise.recorded}});
  io("samples", samples);
  io("verdicts",
     Json{{"judged", !column.causes.empty()}, {"reason", text_or_null(column.not_judged)}});
  return io.take();
}

Json source_of(const listing::Row& row, listing::SourceText* sources) {
  if (!row.source) return nullptr;
  Json text;
  if (sources != nullptr) {
    if (const auto line = sources->line(row.source->file, row.source->line)) text = *line;
  }
  return {{"file", row.source->file}, {"line", row.source->line}, {"text", std::move(text)}};
}

/// Returns the samples of a column, of all code or of a place.
Json count_json(std::size_t column, const listing::Count& count) {
  return {{"column", column}, {"samples", count.samples}, {"exact_ip_samples", count.exact}};
}

Json row_of(const listing::Listing& listing, const Code& code, const listing::Row& value,
            const ListingChoices& choices) {
  const bool has_place = value.kind != RowKind::inside && value.kind != RowKind::not_decoded;
  Json counts = Json::array();
  for (std::size_t i = 0; i < code.columns.size(); ++i) {
    Json& count = counts.emplace_back(count_json(code.columns[i], value.counts[i]));
    count["verdict"] = FieldWriter::json_of(value.verdicts[i]);
    count["shadowed"] = choices.is_shadowed(listing.columns[code.columns[i]], code, value);
  }
  FieldWriter io;
  SKID_MEMBERS(kind);
  io("part", has_place && code.map ? Json(name_of(value.part)) : Json());
  io("begin", has_place ? Json(hexadecimal(value.range.begin)) : Json());
  io("end", has_place && !value.range.empty() ? Json(hexadecimal(value.range.end)) : Json());
  SKID_MEMBERS_OR_NULL(instructions, text, destination, first_offset, last_offset, trigger);
  io("source", source_of(value, choices.sources));
  io("counts", counts);
  return io.take();
}

Json code_of(const listing::Listing& listing, const Code& value, const ListingChoices& choices) {
  FieldWriter io;
  SKID_MEMBERS(kind, name);
  SKID_MEMBERS_OR_NULL(alias);
  io("module", OrNull{value.dso});
  io("build_id", OrNull{value.build_id});
  io("file", text_or_null(value.file.string()));
  io("begin", Hex{value.range.begin});
  io("end", Hex{value.range.end});
  io("arch", value.arch ? Json(runway::name_of(*value.arch)) : Json());
  io("instructions", value.starts.size());
  SKID_MEMBERS_OR_NULL(no_code);
  io("columns", array_of(value.columns, [&](std::size_t column) {
       return count_json(column, value.total(column));
     }));
  io("rows",
     array_of(listing::rows(listing, value, value.columns, choices.folding),
              [&](const listing::Row& row) { return row_of(listing, value, row, choices); }));
  return io.take();
}

constexpr std::string_view kColumnsOfCode =
    "function=name module samples_read=samples/read samples_in_code";
constexpr std::string_view kColumnsOfPlace =
    "kind part begin end instructions first_offset last_offset text destination "
    "source_file=source/file source_line=source/line";
constexpr std::string_view kColumnsOfCount = "verdict samples exact_ip_samples shadowed";

void add_rows(const listing::Listing& listing, const Code& code, const ListingChoices& choices,
              std::string& csv) {
  std::vector<std::string> prefixes;
  for (const std::size_t index : code.columns) {
    const Json of_code{{"name", code.name},
                       {"module", text_or_null(code.dso)},
                       {"samples_in_code", code.total(index).samples}};
    const Json column = column_of(listing.columns[index]);
    prefixes.push_back(csv_fields(kIdentityColumns, column) + ',' +
                       csv_fields(kColumnsOfCode, of_code, column));
  }
  ListingChoices without_text = choices;
  without_text.sources = nullptr;
  for (const listing::Row& row : listing::rows(listing, code, code.columns, choices.folding)) {
    const Json object = row_of(listing, code, row, without_text);
    const std::string place = csv_fields(kColumnsOfPlace, object);
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      csv += fmt::format("{},{},{}\n", prefixes[i], place,
                         csv_fields(kColumnsOfCount, object["counts"][i]));
    }
  }
}

Json json_of_place(const listing::Place& value,
                   const std::map<std::size_t, listing::Count>& counts) {
  Json of_columns = Json::array();
  for (const auto& [column, count] : counts) of_columns.push_back(count_json(column, count));
  FieldWriter io;
  SKID_MEMBERS_OR_NULL(module, function, inlined);
  io("address", Hex{value.address});
  io("source",
     value.source ? Json{{"file", value.source->file}, {"line", value.source->line}} : Json());
  io("kernel", value.in_kernel);
  io("counts", of_columns);
  return io.take();
}

Json places_of(const listing::Listing& listing) {
  return array_of(most_sampled(listing, all_columns(listing)), [](const PlaceCounts& of_place) {
    return json_of_place(*of_place.place, *of_place.counts);
  });
}

constexpr std::string_view kColumnsOfSum =
    "module function address source_file=source/file source_line=source/line in_kernel=kernel "
    "inlined";

/// Returns a row for each place and column, the most sampled place first.
std::string csv_of_places(const listing::Listing& listing) {
  std::string csv = fmt::format("{},{},samples_read,samples,exact_ip_samples\n",
                                csv_header(kIdentityColumns), csv_header(kColumnsOfSum));
  for (const PlaceCounts& of_place : most_sampled(listing, all_columns(listing))) {
    const std::string place = csv_fields(kColumnsOfSum, json_of_place(*of_place.place, {}));
    for (const auto& [column, count] : *of_place.counts) {
      csv += fmt::format("{},{},{},{},{}\n",
                         csv_fields(kIdentityColumns, column_of(listing.columns[column])), place,
                         listing.columns[column].read(), count.samples, count.exact);
    }
  }
  return csv;
}

}  // namespace

std::string listing_json(const listing::Listing& listing, const ListingChoices& choices) {
  return document_text(
      "skidscan.annotate/1",
      {{"context", choices.folding.context},
       {"all", choices.folding.all},
       {"by", choices.by ? Json(name_of(*choices.by)) : Json()},
       {"columns", array_of(listing.columns, column_of)},
       {"codes",
        array_of(listing.codes, [&](const Code& code) { return code_of(listing, code, choices); })},
       {"places", choices.by ? places_of(listing) : Json()}});
}

std::string listing_csv(const listing::Listing& listing, const ListingChoices& choices) {
  if (choices.by) return csv_of_places(listing);
  std::string csv =
      fmt::format("{},{},{},{}\n", csv_header(kIdentityColumns), csv_header(kColumnsOfCode),
                  csv_header(kColumnsOfPlace), csv_header(kColumnsOfCount));
  for (const Code& code : listing.codes) add_rows(listing, code, choices, csv);
  return csv;
}

}  // namespace skid::output
