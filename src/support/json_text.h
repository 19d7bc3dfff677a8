// JSON as text, the same wherever we write it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace skid {

/// `value` as JSON in printable ASCII: every other character of its strings is written as \uNNNN
/// (a pair of them beyond U+FFFF), so that nothing in it steers a terminal, and whoever parses it
/// has the characters back. Names from recordings need not be UTF-8: invalid bytes become U+FFFD.
/// `indent`: spaces per level; -1 for one line. No newline at the end.
template <typename Json>
std::string json_text(const Json& value, int indent = -1) {
  constexpr bool kAsciiOnly = true;
  return value.dump(indent, ' ', kAsciiOnly, Json::error_handler_t::replace);
}

}  // namespace skid
