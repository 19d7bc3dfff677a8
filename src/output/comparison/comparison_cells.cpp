#include "analysis/wording.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/output/escape.h"
#include "src/output/report/grouping.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace skid::output {

using analysis::Comparison;
using analysis::ComparisonRow;
using analysis::Estimate;
using analysis::Outcome;
using analysis::Side;

Ink ink_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::better:
      return Ink::green;
    case Outcome::worse:
      return Ink::red;
    case Outcome::different:
    case Outcome::not_compared:
      return Ink::yellow;
    default:
      return Ink::dim;
  }
}

std::string outcome_cell(Outcome outcome, const std::string& baseline) {
  switch (outcome) {
    case Outcome::no_difference:
      return "none shown";
    case Outcome::too_few:
      return "too few";
    case Outcome::only_here:
      return "not in " + baseline;
    default:
      return std::string(name_of(outcome));
  }
}

std::string interval_text(const Page& page, const Estimate& estimate,
                          std::string (*number)(double)) {
  if (!estimate.low && !estimate.high) return kUnknown;
  if (estimate.at_least && estimate.low) return ">=" + number(*estimate.low);
  std::string low = estimate.low ? number(*estimate.low) : "?";
  const std::string high = estimate.high ? number(*estimate.high) : "?";
  if (low.ends_with('%') && high.ends_with('%')) low.pop_back();
  return page.range(low, high);
}

std::string share_text(double share) {
  // The interval of a mean over runs can leave what a share can be.
  return analysis::percent(std::clamp(share, 0.0, 1.0));
}

std::string instructions_text(double value) {
  const double rounded = std::round(value * 100) / 100;
  return number_text(rounded == 0 ? 0.0 : rounded);
}

std::string p_text(const analysis::StatisticDifference& difference) {
  const double p = difference.adjusted_p.value_or(1);
  const char* const relation = difference.p_is_bound ? "<=" : "=";
  if (p < 1e-300) return "p < 1e-300";
  if (p < 0.001) return fmt::format("p {} {:.0e}", relation, p);
  return fmt::format("p {} {:.2g}", relation, p);
}

/// "+1.8 points", "-2.03"
std::string signed_text(analysis::Statistic statistic, double difference, bool with_unit) {
  const double shown = analysis::is_share(statistic) ? difference * 100 : difference;
  // Two decimals, more where they would show nothing.
  std::string text = std::abs(shown) >= 0.1 || shown == 0 ? fmt::format("{:+.2f}", shown)
                                                          : fmt::format("{:+.2g}", shown);
  if (with_unit && analysis::is_share(statistic)) text += " points";
  return text;
}

std::string value_text(analysis::Statistic statistic, double value) {
  return analysis::is_share(statistic) ? share_text(value) : instructions_text(value);
}

std::string row_name(const ComparisonRow& row) {
  return escape_for_terminal(row.event) + ", " + level_name(row.level);
}

std::string side_text(const Comparison& comparison, const std::vector<std::string>& inputs,
                      std::size_t number) {
  std::string text = letter_of(number);
  const Side& side = comparison.sides[number];
  if (comparison.sides.size() <= kMostSideBySide || side.inputs.empty()) return text;
  text += " (" + escape_for_terminal(inputs[side.inputs.front()]);
  if (side.inputs.size() > 1) text += fmt::format(" and {} more", side.inputs.size() - 1);
  return text + ")";
}

}  // namespace skid::output
