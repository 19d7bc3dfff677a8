#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/output/report/grouping.h"
#include "src/output/report/parts.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Comparison;
using analysis::ComparisonRow;
using analysis::Estimate;
using ComparedCell = analysis::Cell;

/// Adds the lines of a level to a table with a column for each side.
class LevelLines {
 public:
  LevelLines(const Comparison& comparison, const ComparisonRow& row, const Page& page, Table& table)
      : comparison_(comparison), row_(row), page_(page), table_(table) {}

  void add() const {
    table_.rows.push_back({level_name(row_.level), {}, Ink::bold});
    if (std::any_of(row_.cells.begin(), row_.cells.end(),
                    [](const ComparedCell& cell) { return cell.runs.size() > 1; })) {
      line("  runs",
           [](const ComparedCell& cell) { return Cell{fmt::format("{}", cell.runs.size())}; });
    }
    line("  judged samples",
         [](const ComparedCell& cell) { return Cell{fmt::format("{}", cell.judged)}; });
    line("  hit ratio", [](const ComparedCell& cell) {
      if (!cell.hit_ratio) return Cell{kUnknown, Ink::dim};
      return Cell{share_text(cell.hit_ratio->value), Ink::bold};
    });
    interval_line(&ComparedCell::hit_ratio, share_text);
    length_line("  median skid", &ComparedCell::median);
    interval_line(&ComparedCell::median, instructions_text);
    length_line("  p99 skid", &ComparedCell::p99);
    interval_line(&ComparedCell::p99, instructions_text);
    line("  contract", [](const ComparedCell& cell) { return verdict_counts(cell.contracts); });
    outcome_line();
  }

 private:
  using Number = std::string (*)(double);

  template <typename CellOf>
  void line(const char* name, CellOf cell_of) const {
    Row line{name, {}};
    for (std::size_t side = 0; side < comparison_.sides.size(); ++side) {
      const ComparedCell* cell = row_.cell_of(side);
      line.cells.push_back(cell == nullptr ? Cell{kUnknown, Ink::dim} : cell_of(*cell));
    }
    table_.rows.push_back(std::move(line));
  }

  void length_line(const char* name, const std::optional<Estimate> ComparedCell::*member) const {
    line(name, [member](const ComparedCell& cell) {
      const auto& value = cell.*member;
      if (!value) return Cell{kUnknown, Ink::dim};
      return Cell{(value->at_least ? ">=" : "") + instructions_text(value->value)};
    });
  }

  void interval_line(const std::optional<Estimate> ComparedCell::*member, Number number) const {
    line("    95% interval", [this, member, number](const ComparedCell& cell) {
      const auto& value = cell.*member;
      return Cell{value ? interval_text(page_, *value, number) : kUnknown, Ink::dim};
    });
  }

  void outcome_line() const {
    const std::string baseline = letter_of(comparison_.baseline);
    Row line{"  against " + baseline, {}};
    for (std::size_t side = 0; side < comparison_.sides.size(); ++side) {
      const ComparedCell* cell = row_.cell_of(side);
      if (cell != nullptr) {
        line.cells.push_back({outcome_cell(cell->outcome, baseline), ink_of(cell->outcome)});
      } else if (row_.in_baseline) {
        line.cells.push_back({"missing", Ink::yellow});
      } else {
        line.cells.push_back({kUnknown, Ink::dim});
      }
    }
    table_.rows.push_back(std::move(line));
  }

  const Comparison& comparison_;
  const ComparisonRow& row_;
  const Page& page_;
  Table& table_;
};

}  // namespace

Table comparison_numbers(const Comparison& comparison, RowIterator begin, RowIterator end,
                         const Page& page) {
  Table table;
  for (std::size_t side = 0; side < comparison.sides.size(); ++side) {
    table.header.push_back({letter_of(side), Ink::bold});
  }
  for (auto row = begin; row != end; ++row) {
    if (row != begin) table.rows.emplace_back();
    LevelLines(comparison, *row, page, table).add();
  }
  return table;
}

}  // namespace skid::output
