// A report as a page for a browser.
#pragma once

#include "analysis/measurement.h"
#include "src/html/document.h"

#include <string>
#include <vector>

namespace skid::html {

/// One self-contained file: all that the text report says, with figures whose values can be read,
/// and tables that can be sorted. It loads nothing from anywhere. `origin`: of the page itself; how
/// the runs were recorded is taken from the measurements.
std::string report_page(const std::vector<analysis::Measurement>& measurements, Origin origin);

}  // namespace skid::html
