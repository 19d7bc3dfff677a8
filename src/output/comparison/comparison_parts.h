// Parts of the texts and pages of comparisons.
#pragma once

#include "analysis/comparison.h"
#include "src/output/cell.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>  // IWYU pragma: keep

namespace skid::output {

struct Page;
struct Table;

using analysis::Comparison;
using analysis::ComparisonCell;
using analysis::ComparisonRow;
using analysis::Outcome;

/// The maximum number of sides that are columns. More sides are rows, and only those that differ
/// are shown.
inline constexpr std::size_t kMostSideBySide = 16;
/// The maximum number of a level's sides that are shown with the baseline, and of its differences.
inline constexpr std::size_t kMostTold = 12;

/// An outcome as it is shown.
struct ShownOutcome {
  Outcome outcome;
  std::string_view cell;     ///< short enough for a column
  std::string_view counted;  ///< words after a number of comparisons; empty: not counted
  Ink ink = Ink::dim;
};

/// All outcomes, the most severe first.
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

/// Lists the verdicts of a cell's measurements: "kept", or "2 broken" and "1 kept" if they differ.
/// `runs`: numbers of them by verdict.
template <typename Verdict, std::size_t kVerdicts>
std::vector<std::string> verdicts_of(const ComparisonCell& cell,
                                     const std::array<std::size_t, kVerdicts>& runs) {
  std::vector<std::string> verdicts;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (runs[i] == 0) continue;
    const std::string_view verdict = name_of(static_cast<Verdict>(i));
    verdicts.push_back(runs[i] == cell.runs.size() ? std::string(verdict)
                                                   : fmt::format("{} {}", runs[i], verdict));
  }
  return verdicts;
}

/// Returns how a cell differs from the baseline's, or why it is not compared with it: "another
/// trigger: load here, store in the baseline". Not escaped.
std::vector<std::string> caveat_texts(const ComparisonCell& cell);

/// Formats a difference in the statistic's unit: "+1.8 points", "-2.03".
std::string signed_text(analysis::Statistic statistic, double difference, bool with_unit);

/// Formats a side's value of a statistic: "95.5%", "2.03".
std::string value_text(analysis::Statistic statistic, double value);

/// Formats a share. The interval of a mean over runs can exceed the bounds of a share.
std::string share_text(double share);
/// Formats a number of instructions, rounded to hundredths.
std::string instructions_text(double value);

Cell ratio_cell(const ComparisonCell& cell);
Cell length_cell(const std::optional<analysis::Estimate>& estimate);
/// Returns the interval of an estimate: "99.92–100%", "11–13", ">=4948".
Cell interval_cell(const Page& page, const std::optional<analysis::Estimate>& estimate,
                   std::string (*number)(double));
/// Returns how a cell differs from the baseline's.
Cell against_cell(const ComparisonCell& cell);

/// Names a side by its letter; if there are many, with its input: "ab (node27.run)". Escaped.
std::string side_text(const Comparison& comparison, const std::vector<std::string>& inputs,
                      std::size_t side);

/// Returns the cells of a row that differ from the baseline or cannot be compared with it, ordered
/// by outcome as in kOutcomes, then by hit ratio from the lowest up, then by mean skid from the
/// longest down. The cells are not owned.
std::vector<const ComparisonCell*> by_severity(const ComparisonRow& row);

using RowIterator = std::vector<analysis::ComparisonRow>::const_iterator;

/// Returns the levels of an event below each other, with a column for each side.
Table comparison_numbers(const Comparison& comparison, RowIterator begin, RowIterator end,
                         const Page& page);

/// The sides of an event and level that are shown.
struct ShownRow {
  const ComparisonRow* row = nullptr;
  std::vector<const ComparisonCell*> cells;
};

/// Returns a line per side. `with_rows`: with columns that name event and level.
std::string side_list(const Page& page, const Comparison& comparison,
                      const std::vector<std::string>& inputs, const std::vector<ShownRow>& rows,
                      bool with_rows);

/// Returns the range of the values of all sides at a level, and how many sides have which outcome.
std::string summary_of_sides(const Page& page, const Comparison& comparison,
                             const ComparisonRow& row);

}  // namespace skid::output
