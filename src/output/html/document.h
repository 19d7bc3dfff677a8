// HTML: a whole page in one file, which loads nothing, and its elements. Text becomes markup here
// and nowhere else.
#pragma once

#include "src/output/cell.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
struct List;
struct Table;
}  // namespace skid::output

namespace skid::output::html {

/// How a page was made, so that it can be repeated.
struct Origin {
  std::string version;                                  ///< version of skidscan
  std::vector<std::string> line;                        ///< command line that made the page
  std::vector<std::vector<std::string>> recorded = {};  ///< command lines that made the recordings
  std::size_t left_out = 0;                             ///< number of further command lines
};

/// Returns the document around `body`, which is a text for a page. The document states how it was
/// made, and its policy admits its own style and script, by their hashes, and nothing else
/// (w3.org/TR/CSP3). `title` is a literal of this program.
std::string document(std::string_view title, const std::string& body, const Origin& origin);

/// Returns `text` with characters of markup as entities, and with characters that are not safe to
/// show as \xNN.
std::string escaped(std::string_view text);

/// Returns `<tag class="classes">content</tag>` and the end of a line. `tag` and `classes` are
/// literals of this program, `content` is markup. Not for tags that HTML does not close.
inline std::string element(std::string_view tag, std::string_view classes,
                           std::string_view content) {
  return classes.empty() ? fmt::format("<{0}>{1}</{0}>\n", tag, content)
                         : fmt::format("<{0} class=\"{1}\">{2}</{0}>\n", tag, classes, content);
}

/// Returns the class of texts in that ink; empty for plain texts.
std::string_view class_of(Ink ink);

/// Returns a piece of a line in that ink.
inline std::string painted(std::string_view text, Ink ink) {
  return ink == Ink::plain ? escaped(text) : element("span", class_of(ink), escaped(text));
}

/// Returns `text` after `lead`, which is markup; a paragraph if `lead` is blank.
std::string hanging(std::string_view lead, std::string_view text, Ink ink);

/// Returns `content`, which is markup, below a line that opens it.
inline std::string folded(std::string_view summary, const std::string& content) {
  return element("details", "", element("summary", "", escaped(summary)) + content);
}

/// Returns a text with the colours of a terminal (Page::paint()) as it is laid out there, in a box
/// that scrolls.
std::string preformatted(std::string_view text);

std::string table(const Table& table);

/// Returns a list. If each column has a title, a click on it sorts the rows (page.js). A narrow
/// window hides columns by their rank.
std::string list(const List& list);

}  // namespace skid::output::html
