// A whole page in one file, which loads nothing.
#pragma once

#include "src/html/markup.h"

#include <cstddef>
#include <string>
#include <vector>

namespace skid::html {

/// How a page came about, for whoever wants to repeat it.
struct Origin {
  std::string version;                                  ///< of skidscan
  std::vector<std::string> line;                        ///< command line of the page
  std::vector<std::vector<std::string>> recorded = {};  ///< command lines of what recorded
  std::size_t left_out = 0;                             ///< further ones
};

/// The document around `body`. Its policy lets the browser take the style and the script that it
/// carries, by their hashes, and nothing else from anywhere (w3.org/TR/CSP3).
std::string document(const std::string& title, const Markup& body);

/// The section that says how to repeat it, and the foot of the page.
Markup origin_section(const Origin& origin);

/// A name and what it stands for, a line of a list made by `list_of_fields`.
struct Field {
  std::string name, text;
};
Markup list_of_fields(const std::vector<Field>& fields);

/// A box that says that no CPU took the samples. `of`: which; may be empty.
Markup synthetic_notice(const std::string& of);

}  // namespace skid::html
