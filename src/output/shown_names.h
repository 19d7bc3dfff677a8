// Names of files and functions as outputs show them.
#pragma once

#include "src/support/escape.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace skid::output {

/// Returns the part of a path after its last '/', escaped.
inline std::string file_name(std::string_view path) {
  const std::size_t name = path.rfind('/') + 1;  // 0 without a slash
  return escape_for_terminal(name == path.size() ? path : path.substr(name));
}

/// Returns the name of a function, escaped. Names of C++ can be longer than a line; they are
/// shortened.
inline std::string function_name(std::string_view name) {
  constexpr std::size_t kLongest = 90;
  return shorten(escape_for_terminal(name), kLongest);
}

}  // namespace skid::output
