// The numbers of a measurement, each stated once: its key in JSON, its column of CSV and its row of
// `report --details` are in numbers.cpp.
#pragma once

#include "src/output/report/number_cells.h"
#include "src/support/field_values.h"

#include <string_view>
#include <vector>

namespace skid {
class FieldWriter;
}  // namespace skid

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::output {

/// Adds all numbers of a measurement as the keys of its JSON, from "precise" to "address".
/// `histogram` is the value of the key between them that can be long and has no number of its own.
void add_numbers(FieldWriter& io, const analysis::Measurement& measurement, const Json& histogram);

// Columns of CSV (csv.h), before and after those of a bin.
extern const std::string_view kNumbersBeforeBin, kNumbersAfterBin;

/// The title of the row of an interval under that of its number.
inline constexpr const char* kIntervalRow = "    95% interval";

/// A number in the table of an event.
struct NumberRow {
  /// if_any: unless all its cells are dim, which means unknown or a count of 0.
  enum class Shown { always, if_any };
  std::string_view title;
  std::string_view place;  ///< the keys that lead to it in the JSON of a measurement (csv.h)
  CellOf cell_of;
  Shown shown = Shown::always;
};

/// The rows of numbers by subject, each in the order of the table.
struct NumberRows {
  std::vector<NumberRow> settings, iteration, hits, skid, skid_in_events, triggers, delay, evenness,
      losses, addresses;
};
const NumberRows& number_rows();

}  // namespace skid::output
