// Measurements as text for people, as JSON and as CSV for programs.
#pragma once

#include "analysis/measurement.h"

#include <string>
#include <vector>

namespace skid::output {

struct TextStyle {
  bool color = false;    ///< ANSI colours
  unsigned width = 100;  ///< columns of the terminal; at least 60 are used
  bool unicode = true;   ///< block characters for bars; false draws them with #
};

/// Tables per event with the precise levels side by side, a histogram of the offsets, the ledger,
/// the contract verdict with its evidence, and warnings. Control characters in names are escaped.
std::string report_text(const std::vector<analysis::Measurement>& measurements,
                        const TextStyle& style);

/// Schema skidscan.report/1, as docs/formats.md tells. Ends with a newline.
std::string report_json(const std::vector<analysis::Measurement>& measurements);

/// One row a histogram bin (one without a bin for a measurement that has none), RFC 4180 quoting
/// but lines that end as in Unix, header line first; docs/formats.md lists the columns.
std::string report_csv(const std::vector<analysis::Measurement>& measurements);

}  // namespace skid::output
