// Manual pages, for man(1).
#pragma once

#include "src/words/manual.h"

#include <map>
#include <string>
#include <string_view>

namespace skid::words {

/// Text as roff shows it: backslashes, quotes, hyphens, characters beyond ASCII, and lines that
/// would be requests because they begin with a dot or an apostrophe.
std::string roff_text(std::string_view text);

/// A page for the program and one for each command, by file name: "skidscan-report.1".
std::map<std::string, std::string> manual_pages(const Manual& manual);

}  // namespace skid::words
