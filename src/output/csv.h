// Comma-separated values, made of the JSON of the same things (docs/formats.md).
#pragma once

#include "src/support/field_values.h"

#include <string>
#include <string_view>

namespace skid::output {

/// Returns a value as a field of CSV. Texts are quoted where they must be (RFC 4180), with control
/// characters escaped, so that a record is one line whatever the name. The elements of an array
/// have spaces between them. The field is empty, which readers take as missing, for null and for
/// numbers that are not finite.
std::string csv_field(const Json& value);

// Columns are words "NAME=PLACE", PLACE being the keys that lead to the value in the JSON of a row:
// "cpu=cpu/model_name". A word "NAME" is both name and key.

/// Returns the names of `columns`, separated by commas.
std::string csv_header(std::string_view columns);
/// Returns the fields of `columns`, separated by commas: each from `row`, else from `more`; empty
/// where neither has the keys.
std::string csv_fields(std::string_view columns, const Json& row, const Json& more = {});

/// Columns that identify a measurement: recording, machine, event and level.
inline constexpr std::string_view kIdentityColumns =
    "run file cpu=cpu/model_name kernel event=event/label requested=event/requested "
    "recorded=event/recorded level_requested=precise/requested level=precise/recorded repeat "
    "synthetic emulated=cpu/emulated";

}  // namespace skid::output
