// Numbers of a measurement as cells of a table.
#pragma once

#include "src/output/cell.h"
#include "src/support/field_values.h"

#include <cstdint>
#include <string_view>

namespace skid::analysis {
struct Measurement;
struct PreciseLevel;
}  // namespace skid::analysis

namespace skid::output {

struct Page;

/// A known number as the JSON of its measurement has it.
struct Number {
  const Json& value;     ///< not null
  const Json& object;    ///< the object that has it
  std::string_view key;  ///< its key there
  const analysis::Measurement& measurement;
  const Page& page;
};

/// Returns the cell of a number.
using CellOf = Cell (*)(const Number& number);

Cell whole_cell(const Number& number);
/// Returns a count, dim if it is 0.
Cell count_cell(const Number& number);
Cell count_cell(std::uint64_t count);
/// Returns a number with decimals: "2.50"; "-" unless it is finite.
Cell decimal_cell(const Number& number);
Cell percent_cell(const Number& number);
Cell p_cell(const Number& number);
/// Returns a text that is no name from a recording.
Cell word_cell(const Number& number);
/// Returns a statistic of a distance: "3"; ">=4948" if the list `at_least` of the distance has it.
Cell length_cell(const Number& number);
/// Returns an interval of a statistic of a distance: "11–13"; "from 11" without an upper end;
/// ">=11" if its lower end is a lower bound.
Cell interval_cell(const Number& number);

/// Returns the precise level: "2"; "3 -> 2 !" if the recorded level is not the requested one.
Cell level_cell(const analysis::PreciseLevel& precise);
/// Returns the requested period, and the effective one if it differs: "1000 -> 1204.5".
Cell period_cell(const Number& number);

/// Returns a length: "3"; ">=4948" if it is a lower bound.
Cell length_cell(double length, bool at_least);
/// Returns a range of lengths: "11–13"; ">=11" if its ends are lower bounds.
Cell range_cell(const Page& page, double low, double high, bool at_least = false);

}  // namespace skid::output
