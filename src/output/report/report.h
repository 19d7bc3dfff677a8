// Measurements as text for people, as JSON and as CSV for programs.
#pragma once

#include "analysis/measurement.h"
#include "src/output/page.h"

namespace skid::output {

/// One screen: the verdicts, a row an event and level, reasons and warnings. With `page.details`
/// tables per event with the precise levels side by side, a histogram of the offsets, the
/// breakdown, the contract verdict with its evidence, and warnings. Control characters in names are
/// escaped.
std::string report_text(const std::vector<analysis::Measurement>& measurements, const Page& page);

/// The first sentence of report_text(), without a line's end.
std::string report_answer(const std::vector<analysis::Measurement>& measurements);

/// Schema skidscan.report/1, documented in docs/formats.md. Ends with a newline.
std::string report_json(const std::vector<analysis::Measurement>& measurements);

/// One row a histogram bin (one without a bin for a measurement that has none), RFC 4180 quoting
/// but lines that end as in Unix, header line first; docs/formats.md lists the columns.
std::string report_csv(const std::vector<analysis::Measurement>& measurements);

}  // namespace skid::output
