// The page that --html asks for.
#pragma once

#include "src/html/document.h"

namespace skid::commands {

/// The words of --html in a command's help.
inline constexpr const char* kHtmlHelp =
    "write a page for a browser to FILE: one file with figures and tables, which loads nothing";

/// This program and its command line, as a page tells how to repeat it.
html::Origin page_origin();

}  // namespace skid::commands
