// Names of the values of an enumeration, listed once next to it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace skid {

/// The name of a value in JSON and CSV, and its meaning for texts.
struct Words {
  std::string_view name, meaning;
};

/// Returns the value of an enumeration with SKID_NAMES that has a name; nullopt: none has it.
template <typename Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
  const auto names = names_of(Enum{});
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt
                              : std::optional(static_cast<Enum>(found - names.begin()));
}

}  // namespace skid

/// Lists the names of an enumeration in the order of its values, which are 0, 1, ….
/// `name_of(value)` returns the name of a value, `names_of(value)` all names.
#define SKID_NAMES(Enum, ...)                                       \
  [[maybe_unused]] constexpr auto names_of(Enum /*any*/) {          \
    return std::to_array<std::string_view>({__VA_ARGS__});          \
  }                                                                 \
  [[maybe_unused]] constexpr std::string_view name_of(Enum value) { \
    return names_of(value).at(static_cast<std::size_t>(value));     \
  }

/// Lists the Words of an enumeration in the order of its values, which are 0, 1, ….
/// `name_of(value)` returns the name of a value, `describe(value)` its meaning.
#define SKID_WORDS(Enum, ...)                                           \
  constexpr auto words_of(Enum /*any*/) {                               \
    return std::to_array<::skid::Words>({__VA_ARGS__});                 \
  }                                                                     \
  [[maybe_unused]] constexpr std::string_view name_of(Enum value) {     \
    return words_of(value).at(static_cast<std::size_t>(value)).name;    \
  }                                                                     \
  constexpr std::string_view describe(Enum value) {                     \
    return words_of(value).at(static_cast<std::size_t>(value)).meaning; \
  }
