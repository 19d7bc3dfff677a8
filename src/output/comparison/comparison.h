// A comparison as text for people, as JSON and as CSV for programs.
#pragma once

#include "analysis/comparison.h"
#include "src/output/report/report.h"

#include <string>
#include <vector>

namespace skid::output {

/// A table per event with the levels below each other and the sides side by side, then what differs
/// from the baseline, what could not be told, and what is not the same thing. Control characters in
/// names are escaped. `inputs`: their names.
std::string comparison_text(const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs, const TextStyle& style);

/// Schema skidscan.compare/1, as docs/formats.md tells. Ends with a newline.
std::string comparison_json(const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs);

/// A row per event, level and side, header line first; docs/formats.md lists the columns.
std::string comparison_csv(const analysis::Comparison& comparison,
                           const std::vector<std::string>& inputs);

/// "Intel(R) …, microcode 0xf0, under KVM, Linux 6.1": what tells a side's machine. Escaped.
std::string machine_text(const analysis::Side& side);

/// The letter of a side in tables and figures: a, b, …
std::string letter_of(std::size_t side);

}  // namespace skid::output
