// A report as a page for a browser.
#pragma once

#include "analysis/measurement.h"
#include "src/html/document.h"

#include <string>
#include <vector>

namespace skid::html {

/// One self-contained file: the content of the text report, with figures whose values can be read,
/// and tables that can be sorted. It loads nothing.
std::string report_page(const std::vector<analysis::Measurement>& measurements,
                        const Origin& origin);

}  // namespace skid::html
