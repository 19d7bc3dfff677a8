// A whole page in one file, which loads nothing, and the HTML of the primitives of page.h. Text
// becomes markup here and nowhere else.
#pragma once

#include "src/output/page.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

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

/// `text` with characters of markup as entities, and what a terminal must not get as \xNN.
std::string escaped(std::string_view text);

/// `<tag class="classes">content</tag>` and the end of a line. `tag` and `classes` are literals of
/// this program, `content` is markup. Not for tags that HTML does not close.
inline std::string element(std::string_view tag, std::string_view classes,
                           std::string_view content) {
  return classes.empty() ? fmt::format("<{0}>{1}</{0}>\n", tag, content)
                         : fmt::format("<{0} class=\"{1}\">{2}</{0}>\n", tag, classes, content);
}

/// The class of texts in that ink; empty for plain ones.
std::string_view class_of(Ink ink);

/// A piece of a line in that ink.
inline std::string painted(std::string_view text, Ink ink) {
  return ink == Ink::plain ? escaped(text) : element("span", class_of(ink), escaped(text));
}

/// `text` after `lead`, which is markup; a paragraph where it is blank.
std::string hanging(std::string_view lead, std::string_view text, Ink ink);

/// `content`, which is markup, below a line that opens it.
inline std::string folded(std::string_view summary, const std::string& content) {
  return element("details", "", element("summary", "", escaped(summary)) + content);
}

std::string table(const Table& table);

/// Where each column has a title, page.js sorts the rows by a click on it. A narrow window hides
/// columns by their rank.
std::string list(const List& list);

}  // namespace skid::output::html
