#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "src/instructions/counted.h"
#include "src/listing/rows.h"
#include "src/listing/sampled_code.h"
#include "src/listing/source_text.h"
#include "src/output/cpu_fields.h"
#include "src/output/csv.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/listing/listing.h"
#include "src/output/listing/places.h"
#include "src/support/address.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/symbols/location.h"

#include <algorithm>
#include <array>
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
  const auto& m = column.described;
  Json samples = {{"read", column.read()}};
  for (std::size_t i = 0; i < listing::kWheres; ++i) {
    samples[std::string(name_of(static_cast<listing::Where>(i)))] = column.samples[i];
  }
  return {{"run", text_or_null(m.run)},
          {"file", m.file},
          {"repeat", m.repeat},
          {"synthetic", m.synthetic},
          {"read_in_part", m.read_in_part},
          {"cpu", FieldWriter::json_of(m.cpu)},
          {"kernel", text_or_null(m.kernel)},
          {"event",
           {{"label", m.event.label},
            {"requested", m.event.requested},
            {"recorded", m.event.recorded},
            {"type", m.event.type},
            {"config", hexadecimal(m.event.config)},
            {"swapped", m.event.substituted}}},
          {"precise", {{"requested", m.precise.requested}, {"recorded", m.precise.recorded}}},
          {"samples", std::move(samples)},
          {"verdicts",
           {{"judged", !column.causes.empty()}, {"reason", text_or_null(column.not_judged)}}}};
}

Json source_of(const listing::Row& row, listing::SourceText* sources) {
  if (!row.source) return nullptr;
  Json text;
  if (sources != nullptr) {
    if (const auto line = sources->line(row.source->file, row.source->line)) text = *line;
  }
  return {{"file", row.source->file}, {"line", row.source->line}, {"text", std::move(text)}};
}

Json row_of(const listing::Listing& listing, const Code& code, const listing::Row& row,
            const ListingChoices& choices) {
  const bool has_place = row.kind != RowKind::inside && row.kind != RowKind::not_decoded;
  Json counts = Json::array();
  for (std::size_t i = 0; i < code.columns.size(); ++i) {
    const auto verdict = row.verdicts[i];
    counts.push_back(
        {{"column", code.columns[i]},
         {"samples", row.counts[i].samples},
         {"exact_ip_samples", row.counts[i].exact},
         {"verdict", verdict ? Json(name_of(*verdict)) : Json()},
         {"shadowed", choices.is_shadowed(listing.columns[code.columns[i]], code, row)}});
  }
  return {{"kind", name_of(row.kind)},
          {"part", has_place && code.map ? Json(name_of(row.part)) : Json()},
          {"begin", has_place ? Json(hexadecimal(row.range.begin)) : Json()},
          {"end", has_place && !row.range.empty() ? Json(hexadecimal(row.range.end)) : Json()},
          {"instructions", row.instructions},
          {"text", text_or_null(row.text)},
          {"destination", text_or_null(row.destination)},
          {"first_offset", row.first_offset},
          {"last_offset", row.last_offset},
          {"trigger", row.trigger},
          {"source", source_of(row, choices.sources)},
          {"counts", std::move(counts)}};
}

Json code_of(const listing::Listing& listing, const Code& code, const ListingChoices& choices) {
  std::string_view kind = "function";
  if (code.kind == listing::Kind::target) kind = "target";
  if (code.kind == listing::Kind::kernel_function) kind = "kernel_function";
  Json arch;
  if (code.arch) arch = *code.arch == Arch::x86_64 ? "x86_64" : "aarch64";
  return {{"kind", kind},
          {"name", code.name},
          {"alias", text_or_null(code.alias)},
          {"module", text_or_null(code.dso)},
          {"build_id", text_or_null(code.build_id)},
          {"file", text_or_null(code.file.string())},
          {"begin", hexadecimal(code.range.begin)},
          {"end", hexadecimal(code.range.end)},
          {"arch", std::move(arch)},
          {"instructions", code.starts.size()},
          {"no_code", text_or_null(code.no_code)},
          {"columns", array_of(code.columns,
                               [&](std::size_t column) -> Json {
                                 const listing::Count total = code.total(column);
                                 return {{"column", column},
                                         {"samples", total.samples},
                                         {"exact_ip_samples", total.exact}};
                               })},
          {"rows",
           array_of(listing::rows(listing, code, code.columns, choices.folding),
                    [&](const listing::Row& row) { return row_of(listing, code, row, choices); })}};
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

Json json_of_place(const listing::Place& place,
                   const std::map<std::size_t, listing::Count>& counts) {
  Json of_columns = Json::array();
  for (const auto& [column, count] : counts) {
    of_columns.push_back(
        {{"column", column}, {"samples", count.samples}, {"exact_ip_samples", count.exact}});
  }
  return {{"module", text_or_null(place.module)},
          {"function", text_or_null(place.function)},
          {"inlined", place.inlined},
          {"address", place.address ? Json(hexadecimal(*place.address)) : Json()},
          {"source", place.source ? Json{{"file", place.source->file}, {"line", place.source->line}}
                                  : Json()},
          {"kernel", place.in_kernel},
          {"counts", std::move(of_columns)}};
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
