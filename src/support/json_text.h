// JSON as text, the same wherever we write it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace skid {

/// `value` as JSON in printable ASCII: every other character of its strings is written as \uNNNN
/// (a pair of them beyond U+FFFF), so that nothing in it controls a terminal, and any parser
/// has the characters back. Names from recordings need not be UTF-8: invalid bytes become U+FFFD.
/// `indent`: spaces per level; -1 for one line. An array of arrays of numbers is one line in any
/// case. No newline at the end.
std::string json_text(const nlohmann::json& value, int indent = -1);
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace skid
