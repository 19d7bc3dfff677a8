// Reports and comparisons as pages for a browser: self-contained files, which load nothing.
#pragma once

#include "analysis/comparison.h"
#include "analysis/measurement.h"
#include "src/html/document.h"

#include <string>
#include <vector>

namespace skid::html {

/// The content of the text report, with figures whose values can be read, and tables that can be
/// sorted.
std::string report_page(const std::vector<analysis::Measurement>& measurements,
                        const Origin& origin);

/// `inputs`: their names.
std::string comparison_page(const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs, const Origin& origin);

}  // namespace skid::html
