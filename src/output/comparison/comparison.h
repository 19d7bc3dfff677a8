// A comparison as text for people, as JSON and as CSV for programs.
#pragma once

#include "src/output/comparison/comparison_parts.h"
#include "src/output/report/grouping.h"

#include <string>
#include <vector>

namespace skid::analysis {
struct Comparison;
struct Side;
}  // namespace skid::analysis

namespace skid::output {

struct Page;

/// One screen: what is worse, a line an event, level and side, and what is missing or not compared.
/// With `page.details` a table per event with the sides side by side, then each difference with its
/// interval, what has too few samples, and how it was tested. Control characters in names are
/// escaped. `inputs`: their names.
std::string comparison_text(const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs, const Page& page);

/// Schema skidscan.compare/1, documented in docs/formats.md. Ends with a newline.
std::string comparison_json(const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs);

/// A row per event, level and side, header line first; docs/formats.md lists the columns.
std::string comparison_csv(const analysis::Comparison& comparison,
                           const std::vector<std::string>& inputs);

/// The letters of the sides with such samples.
std::vector<std::string> letters_of(const std::vector<analysis::Side>& sides, SampleOrigin origin);

}  // namespace skid::output
