// A JSON document as a command prints it.
#pragma once

#include "src/support/field_values.h"
#include "src/support/json_text.h"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace skid::output {

/// Returns the text of a JSON document: its schema and skidscan's version, then `keys`.
inline std::string document_text(std::string_view schema, const Json& keys) {
  Json document{{"schema", schema}, {"tool_version", SKIDSCAN_VERSION}};
  document.update(keys);
  return json_text(document, 2) + '\n';
}

}  // namespace skid::output
