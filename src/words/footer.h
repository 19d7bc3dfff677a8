// What the words about a command say beside its options. CLI::App keeps one text below its options;
// this is that text in parts, and back.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::words {

struct Footer {
  std::vector<std::string> notes;  ///< paragraphs, each a line; whoever shows them wraps them
  std::vector<std::pair<int, std::string>> exit_statuses;  ///< and what each means
  /// Lines for a shell (bash), in the order in which they work in an empty directory.
  std::vector<std::string> examples;

  bool operator==(const Footer&) const = default;
};

/// For CLI::App::footer: notes, "Exit status:" and "Examples:", empty lines in between.
std::string footer_text(const Footer& footer);

/// What `footer_text` was given. Anything else is notes.
Footer parse_footer(std::string_view text);

}  // namespace skid::words
