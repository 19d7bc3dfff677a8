// What a side has of an event at a level, in the words of a table.
#pragma once

#include "analysis/comparison.h"
#include "src/output/page.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace skid::output {

/// With more sides than these they are rows, of which only those that differ are shown.
inline constexpr std::size_t kMostSideBySide = 16;

/// Names, of many the first ones.
std::string list_of(const std::vector<std::string>& names);

Ink ink_of(analysis::Outcome outcome);

/// Short enough for a column. `baseline`: its letter.
std::string outcome_cell(analysis::Outcome outcome, const std::string& baseline);

/// "99.92–100%", without the unit where `unit` is not %.
std::string interval_text(const analysis::Estimate& estimate, bool unicode,
                          const std::function<std::string(double)>& number);

std::string share_text(double share);

/// Hundredths of an instruction are as fine as anybody wants to know.
std::string instructions_text(double value);

/// "p = 0.012", "p <= 1e-04": after Holm.
std::string p_text(const analysis::StatisticDifference& difference);

/// "+1.8 points", "-2.03": of a difference, in the statistic's unit.
std::string signed_text(analysis::Statistic statistic, double difference, bool with_unit);

/// "95.5%", "2.03": of a side's value.
std::string value_text(analysis::Statistic statistic, double value);

/// "kept", "2 broken, 1 kept": of the runs of a cell.
std::string contract_text(const analysis::Cell& cell);
Ink contract_ink(const analysis::Cell& cell);

/// "access, pp"
std::string row_name(const analysis::ComparisonRow& row);

using RowIterator = std::vector<analysis::ComparisonRow>::const_iterator;

/// The levels of an event below each other, the sides side by side.
Table comparison_numbers(const analysis::Comparison& comparison, RowIterator begin, RowIterator end,
                         bool unicode);

/// A side by its letter; where there are many, with its input: "ab (node27.run)". Escaped.
std::string side_text(const analysis::Comparison& comparison,
                      const std::vector<std::string>& inputs, std::size_t side);

}  // namespace skid::output
