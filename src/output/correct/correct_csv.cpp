#include "src/output/correct/correct.h"
#include "src/output/csv.h"

#include <numeric>

namespace skid::output {
namespace {

constexpr std::string_view kCorrectionHeader =
    "run,file,event,requested,recorded_as,level,synthetic,emulated,verdict,skid,skid_source,row,by,"
    "module,"
    "symbol,offset,address,source_file,source_line,recorded,corrected,low,high,moved,in_place,"
    "split,unexplained,unknown,not_placed,reason,advice\n";

using Count = std::optional<std::uint64_t>;

/// The columns after those that all rows of an event share. Empty: does not apply.
struct PlaceColumns {
  std::string_view row, by = {}, module = {}, symbol = {};
  Count offset = {};
  std::string address = {};
  std::string_view source_file = {};
  std::optional<int> source_line = {};
  Count recorded = {}, corrected = {}, low = {}, high = {};
  Count moved = {}, in_place = {}, split = {}, unexplained = {}, unknown = {}, not_placed = {};
  std::string_view reason = {}, advice = {};
};

void add_event(const correct::Correction& correction, const correct::EventCorrection& event,
               std::string& csv) {
  const std::string prefix =
      csv_fields(correction.run, correction.file, event.event, event.requested, event.recorded,
                 event.level, correction.synthetic, correction.cpu.emulated(),
                 name_of(event.skid.verdict), event.skid.instructions, name_of(event.skid.source));
  const auto add = [&](const PlaceColumns& c) {
    csv += prefix + ',' +
           csv_fields(c.row, c.by, c.module, c.symbol, c.offset, c.address, c.source_file,
                      c.source_line, c.recorded, c.corrected, c.low, c.high, c.moved, c.in_place,
                      c.split, c.unexplained, c.unknown, c.not_placed, c.reason, c.advice) +
           '\n';
  };
  add({.row = "event",
       .recorded = event.samples,
       .moved = event.moved,
       .in_place = event.in_place,
       .split = event.split,
       .unexplained = event.unexplained,
       .unknown = event.unknown,
       .not_placed =
           std::accumulate(event.not_placed.begin(), event.not_placed.end(), std::uint64_t{0}),
       .reason = event.skid.reason,
       .advice = event.skid.advice});
  for (const correct::Place& place : event.places) {
    const bool has_source = !place.source_file.empty();
    add({.row = "place",
         .by = name_of(correction.by),
         .module = place.module,
         .symbol = place.symbol,
         .offset = place.offset,
         .address = place.address ? fmt::format("{:#x}", *place.address) : std::string(),
         .source_file = place.source_file,
         .source_line = has_source ? std::optional(place.source_line) : std::nullopt,
         .recorded = place.recorded,
         .corrected = place.corrected,
         .low = place.low,
         .high = place.high});
  }
}

}  // namespace

std::string correct_csv(const std::vector<correct::Correction>& corrections) {
  std::string csv(kCorrectionHeader);
  for (const correct::Correction& correction : corrections) {
    for (const correct::EventCorrection& event : correction.events) {
      add_event(correction, event, csv);
    }
  }
  return csv;
}

}  // namespace skid::output
