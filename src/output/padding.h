// Texts padded with spaces to a width in terminal columns.
#pragma once

#include "src/support/escape.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace skid::output {

/// Returns the spaces that are missing to make escaped `text` `width` columns wide.
inline std::string spaces(std::size_t width, std::string_view text) {
  const std::size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ');
}
/// Returns `text` with spaces after it, `width` columns wide or wider.
inline std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + spaces(width, text);
}
/// Returns `text` with spaces before it, `width` columns wide or wider.
inline std::string pad_left(std::string_view text, std::size_t width) {
  return spaces(width, text) + std::string(text);
}

}  // namespace skid::output
