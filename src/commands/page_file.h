// The page that --html asks for.
#pragma once

#include "analysis/measurement.h"
#include "src/html/document.h"

#include <vector>

namespace skid::commands {

/// The words of --html in a command's help.
inline constexpr const char* kHtmlHelp =
    "write a page for a browser to FILE: one file with figures and tables, which loads nothing";

/// As a page tells how to repeat it: this program and its command line, and those that recorded
/// `measurements`, each once.
html::Origin page_origin(const std::vector<analysis::Measurement>& measurements);

}  // namespace skid::commands
