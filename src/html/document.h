// A whole page in one file, which loads nothing.
#pragma once

#include "src/html/markup.h"
#include "src/output/sample_origin.h"

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

/// The document around `body`, under a heading with a lead: with how it was made, and a policy that
/// admits its own style and script, by their hashes, and nothing else (w3.org/TR/CSP3).
std::string document(const std::string& title, const std::string& heading, const std::string& lead,
                     const Markup& body, const Origin& origin);

/// A box that states what took the samples; none for a CPU. `of`: which; may be empty.
Markup origin_box(output::SampleOrigin origin, const std::string& of = {});

}  // namespace skid::html
