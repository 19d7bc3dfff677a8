// A JSON document as a command prints it.
#pragma once

#include "src/support/error.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/json_text.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid {

SKID_WRITTEN_FIELDS(UnreadInput, input, reason)

}  // namespace skid

namespace skid::output {

/// Returns the text of a JSON document: its schema and skidscan's version, then `keys`.
inline std::string document_text(std::string_view schema, const Json& keys) {
  Json document{{"schema", schema}, {"tool_version", SKIDSCAN_VERSION}};
  document.update(keys);
  return json_text(document, 2) + '\n';
}

/// Returns the text of a JSON document on recordings. `unread`: inputs that are not among them.
inline std::string recordings_text(std::string_view schema, Json recordings,
                                   const std::vector<UnreadInput>& unread) {
  return document_text(
      schema, {{"recordings", std::move(recordings)}, {"unread", FieldWriter::json_of(unread)}});
}

}  // namespace skid::output
