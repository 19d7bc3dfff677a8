// Names of the values of an enumeration, listed once beside it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace skid {

/// A key of JSON and CSV, and what it means in texts.
struct Words {
  std::string_view name, meaning;
};

}  // namespace skid

/// The names of an enumeration in the order of its values, which are 0, 1, …: `name_of(value)` is
/// one of them, `names_of(value)` all.
#define SKID_NAMES(Enum, ...)                                   \
  constexpr auto names_of(Enum /*any*/) {                       \
    return std::to_array<std::string_view>({__VA_ARGS__});      \
  }                                                             \
  constexpr std::string_view name_of(Enum value) {              \
    return names_of(value).at(static_cast<std::size_t>(value)); \
  }

/// The Words of an enumeration likewise: `name_of(value)`, and `describe(value)` for its meaning.
#define SKID_WORDS(Enum, ...)                                           \
  constexpr auto words_of(Enum /*any*/) {                               \
    return std::to_array<::skid::Words>({__VA_ARGS__});                 \
  }                                                                     \
  constexpr std::string_view name_of(Enum value) {                      \
    return words_of(value).at(static_cast<std::size_t>(value)).name;    \
  }                                                                     \
  constexpr std::string_view describe(Enum value) {                     \
    return words_of(value).at(static_cast<std::size_t>(value)).meaning; \
  }
