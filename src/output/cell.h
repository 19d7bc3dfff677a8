// A cell of a table or list: a short text and its colour.
#pragma once

#include <string>

namespace skid::output {

inline constexpr const char* kUnknown = "-";  ///< shown for a number that is not known

/// The colour or weight of a text.
enum class Ink { plain, bold, dim, green, yellow, red };

struct Cell {
  std::string text;
  Ink ink = Ink::plain;
};

/// Returns the cell of a value that is not known: "-".
inline Cell unknown_cell() {
  return {kUnknown, Ink::dim};
}

}  // namespace skid::output
