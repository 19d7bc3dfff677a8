// Figures of a page as SVG within it: each mark says its value to whoever points at it.
#pragma once

#include "analysis/comparison.h"
#include "src/html/markup.h"
#include "src/output/report/grouping.h"

#include <optional>
#include <string>
#include <vector>

namespace skid::html {

/// The offsets of an event's measurements: a panel each below the other, on one axis.
Markup histogram_figure(const output::EventGroup& event);

/// The samples of each measurement by class, as shares of all that were read.
Markup ledger_figure(const output::EventGroup& event);

/// A hit ratio with its interval, as a line of a figure.
struct RatioLine {
  std::string name;   ///< of the line
  std::string group;  ///< a heading stands above the first of those that follow each other
  std::optional<analysis::Estimate> ratio;  ///< 0 to 1; nullopt: nothing was judged
  bool judged = true;                       ///< whether the contract of the event can be judged
  std::string remark;                       ///< behind the value; may be empty
  std::size_t color = 0;                    ///< of the side
};

/// `title` says what the figure is to those who do not see it.
Markup ratio_figure(const std::string& title, const std::vector<RatioLine>& lines);

}  // namespace skid::html
