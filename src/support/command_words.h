// Command lines that are composed before all of their values are known. `record` fills in the
// values at once, the script of a kit on the machine to which it is copied.
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid {

/// The version of a program that introduced an option; 0.0: all versions have it.
struct Since {
  int major = 0, minor = 0;

  friend auto operator<=>(const Since&, const Since&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Reads a version of the kernel or of perf: "6.5.0-35-generic" is 6.5; 0.0 if it is none.
Since version_of(std::string_view release);

/// One word of a command line, or the name of a value that takes its place.
struct CommandWord {
  /// The recordings whose command line contains the word.
  enum class When { always, with_cross_check, without_cross_check };

  std::string text;
  bool is_value = false;  ///< `text` is the name of a value
  Since since = {};
  When when = When::always;
};

/// Returns the word that the value `name` takes the place of.
inline CommandWord value_word(std::string name) {
  return {.text = std::move(name), .is_value = true};
}

/// Returns the words, with values filled in. Throws std::out_of_range if a value is missing.
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
