// A whole page in one file, which loads nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skid::output::html {

/// How a page was made, so that it can be repeated.
struct Origin {
  std::string version;                                  ///< of skidscan
  std::vector<std::string> line;                        ///< command line of the page
  std::vector<std::vector<std::string>> recorded = {};  ///< command lines of what recorded
  std::size_t left_out = 0;                             ///< further ones
};

/// The document around `body`, which is a text for a page: with how it was made, and a policy that
/// admits its own style and script, by their hashes, and nothing else (w3.org/TR/CSP3). `title` is
/// a literal of this program.
std::string document(std::string_view title, const std::string& body, const Origin& origin);

}  // namespace skid::output::html
