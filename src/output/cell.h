// A cell of a table or list: a short text and its colour.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace skid::output {

inline constexpr const char* kUnknown = "-";  ///< shown for a number that is not known

/// The colour or weight of a text.
enum class Ink { plain, bold, dim, green, yellow, red };

/// The parameters of SGR for each ink (ECMA-48, 8.3.117); empty: none.
inline constexpr std::array<std::string_view, 6> kInkSequences{"", "1", "2", "32", "33", "1;31"};

struct Cell {
  std::string text;
  Ink ink = Ink::plain;
  /// Bytes of ASCII at its beginning that stay when it is cut there (Kind::front_shortened).
  std::size_t kept = 0;
};

/// Returns the cell of a value that is not known: "-".
inline Cell unknown_cell() {
  return {kUnknown, Ink::dim};
}

}  // namespace skid::output
