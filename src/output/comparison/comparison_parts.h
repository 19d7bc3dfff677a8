// Parts of the texts and pages of comparisons.
#pragma once

#include "analysis/comparison.h"
#include "analysis/not_judged.h"
#include "src/output/page.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skid::output {

using analysis::Comparison;
using analysis::ComparisonCell;
using analysis::ComparisonRow;
using analysis::Outcome;

/// The most sides that are columns. More sides are rows, and only those that differ are shown.
inline constexpr std::size_t kMostSideBySide = 16;
/// Sides of a level that are shown with the baseline's, and differences of a level.
inline constexpr std::size_t kMostTold = 12;

/// An outcome as it is shown.
struct ShownOutcome {
  Outcome outcome;
  std::string_view cell;     ///< short enough for a column
  std::string_view counted;  ///< after a number of comparisons; empty: not counted
  Ink ink = Ink::dim;
};

/// The most severe first.
inline constexpr std::array<ShownOutcome, 8> kOutcomes{
    {{Outcome::worse, "worse", "worse", Ink::red},
     {Outcome::not_compared, "not compared", "not compared", Ink::yellow},
     {Outcome::different, "different", "different", Ink::yellow},
     {Outcome::better, "better", "better", Ink::green},
     {Outcome::too_few, "too few", "with too few samples"},
     {Outcome::no_difference, "none shown", "without a difference"},
     {Outcome::only_here, "no baseline", ""},
     {Outcome::baseline, "baseline", ""}}};

Ink ink_of(Outcome outcome);

/// "kept", or "2 broken" and "1 kept" where runs differ. `runs`: of the cell, by verdict.
template <typename Verdict, std::size_t kVerdicts>
std::vector<std::string> verdicts_of(const ComparisonCell& cell,
                                     const std::array<std::size_t, kVerdicts>& runs) {
  std::vector<std::string> verdicts;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (runs[i] == 0) continue;
    const std::string_view verdict = analysis::name_of(static_cast<Verdict>(i));
    verdicts.push_back(runs[i] == cell.runs.size() ? std::string(verdict)
                                                   : fmt::format("{} {}", runs[i], verdict));
  }
  return verdicts;
}

/// "+1.8 points", "-2.03": of a difference, in the statistic's unit.
std::string signed_text(analysis::Statistic statistic, double difference, bool with_unit);

/// "95.5%", "2.03": of a side's value.
std::string value_text(analysis::Statistic statistic, double value);

/// A side by its letter; where there are many, with its input: "ab (node27.run)". Escaped.
std::string side_text(const Comparison& comparison, const std::vector<std::string>& inputs,
                      std::size_t side);

/// The cells of a row that differ from the baseline or cannot be compared with it: worse ones
/// first, among them the lowest hit ratios, and of the same ratio the longest skids. The cells are
/// not owned.
std::vector<const ComparisonCell*> by_severity(const ComparisonRow& row);

using RowIterator = std::vector<analysis::ComparisonRow>::const_iterator;

/// The levels of an event below each other, the sides side by side.
Table comparison_numbers(const Comparison& comparison, RowIterator begin, RowIterator end,
                         const Page& page);

/// Some sides of an event and level.
struct ShownRow {
  const ComparisonRow* row = nullptr;
  std::vector<const ComparisonCell*> cells;
};

/// A line a side. `with_rows`: also columns that name event and level.
std::string side_list(const Page& page, const Comparison& comparison,
                      const std::vector<std::string>& inputs, const std::vector<ShownRow>& rows,
                      bool with_rows);

/// The range of all sides of a level, and how many have which outcome.
std::string summary_of_sides(const Page& page, const Comparison& comparison,
                             const ComparisonRow& row);

}  // namespace skid::output
