// JSON as text, in one form for all outputs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace skid {

/// Returns `value` as JSON in printable ASCII. All other characters of strings are written as
/// \uNNNN (a pair of these beyond U+FFFF), so that the text cannot control a terminal, and any
/// parser restores the characters. Names from recordings need not be UTF-8: invalid bytes become
/// U+FFFD. `indent`: spaces per level; -1 for one line. An array of arrays of numbers is always one
/// line. There is no newline at the end.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace skid
