// A comparison as text for people, as JSON and as CSV for programs.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
struct Comparison;
}  // namespace skid::analysis

namespace skid::output {

struct Page;

/// Labels of events that count the same under two names.
using EventPairs = std::vector<std::pair<std::string, std::string>>;

/// Returns one screen: what is worse, a line per event, level and side, and what is missing or not
/// compared. With `page.details` a table per event with a column for each side, then each
/// difference with its interval, what has too few samples, and how it was tested. Control
/// characters in names are escaped. `inputs`: names of the inputs. `alike`: pairs of events that
/// are not compared, the baseline's first, to propose.
std::string comparison_text(const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs, const Page& page,
                            const EventPairs& alike = {});

/// Returns JSON of schema skidscan.compare/1, documented in docs/formats.md. Ends with a newline.
std::string comparison_json(const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs);

/// Returns CSV with a row per event, level and side, the header line first; docs/formats.md lists
/// the columns.
std::string comparison_csv(const analysis::Comparison& comparison,
                           const std::vector<std::string>& inputs);

}  // namespace skid::output
