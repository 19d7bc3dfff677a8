// A whole page in one file, which loads nothing.
#pragma once

#include "src/html/markup.h"

#include <cstddef>
#include <string>
#include <vector>

namespace skid::html {

/// How a page was made, so that it can be repeated.
struct Origin {
  std::string version;                                  ///< of skidscan
  std::vector<std::string> line;                        ///< command line of the page
  std::vector<std::vector<std::string>> recorded = {};  ///< command lines of what recorded
  std::size_t left_out = 0;                             ///< further ones
};

/// The document around `body`. Its policy admits its own style and script, by their hashes, and
/// nothing else (w3.org/TR/CSP3).
std::string document(const std::string& title, const Markup& body);

/// The section with the command lines, and the foot of the page.
Markup origin_section(const Origin& origin);

/// A line of a list made by `list_of_fields`.
struct Field {
  std::string name, text;
};
Markup list_of_fields(const std::vector<Field>& fields);

/// A box with the notice that no CPU took the samples. `of`: which; may be empty.
Markup synthetic_notice(const std::string& of);

}  // namespace skid::html
