// Command lines that are put together before all that is in them is known: `record` fills them in
// at once, a kit's script on the machine that it is carried to.
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace skid {

/// The version of a program that an option came with; 0.0: it was always there.
struct Since {
  int major = 0, minor = 0;

  friend auto operator<=>(const Since&, const Since&) = default;  // NOLINT(modernize-use-nullptr)
};

/// One word, or the name of the value in its place.
struct CommandWord {
  /// The recordings that it belongs to.
  enum class When { always, with_cross_check, without_cross_check };

  std::string text;
  bool is_value = false;  ///< `text` is the name of a value
  Since since = {};
  When when = When::always;
};

inline CommandWord value_word(std::string name) {
  return {.text = std::move(name), .is_value = true};
}

/// The words with the values in their places. Throws std::out_of_range for a value that is missing.
inline std::vector<std::string> filled(const std::vector<CommandWord>& words,
                                       const std::map<std::string, std::string>& values) {
  std::vector<std::string> line;
  line.reserve(words.size());
  for (const CommandWord& word : words) {
    line.push_back(word.is_value ? values.at(word.text) : word.text);
  }
  return line;
}

}  // namespace skid
