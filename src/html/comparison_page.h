// A comparison as a page for a browser.
#pragma once

#include "analysis/comparison.h"
#include "src/html/document.h"

#include <string>
#include <vector>

namespace skid::html {

/// One self-contained file, as report_page() makes it. `inputs`: their names.
std::string comparison_page(const analysis::Comparison& comparison,
                            const std::vector<std::string>& inputs, const Origin& origin);

}  // namespace skid::html
