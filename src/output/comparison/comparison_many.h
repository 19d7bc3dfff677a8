// Comparisons of many sides, such as the nodes of a cluster: what most have in common is told once.
#pragma once

#include "analysis/comparison.h"
#include "src/output/page.h"

#include <cstddef>
#include <string>
#include <vector>

namespace skid::output {

/// Rows of a level that are shown beside the baseline's, and differences that are told.
inline constexpr std::size_t kMostTold = 12;

/// The cells of a row that differ from the baseline or cannot be compared with it: worse ones
/// first, among them the lowest hit ratios, and of the same ratio the longest skids. The cells are
/// not owned.
std::vector<const analysis::Cell*> by_severity(const analysis::ComparisonRow& row);

/// The baseline, how many sides there are of which machines, and which are synthetic.
std::string many_sides_head(const Page& page, const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs);

/// A level of an event with the sides below each other: the baseline, the first of by_severity, and
/// what all of them range over.
std::string many_sides_level(const Page& page, const analysis::Comparison& comparison,
                             const std::vector<std::string>& inputs,
                             const analysis::ComparisonRow& row);

}  // namespace skid::output
