// Comma-separated values, made of the JSON of the same things.
#pragma once

#include "src/support/fields.h"

#include <string>
#include <string_view>

namespace skid::output {

/// A value as a field: texts quoted where they must be (RFC 4180), with control characters escaped,
/// so that a record is one line whatever the name; the elements of an array with spaces between
/// them; empty, which readers take as missing, for null and for numbers that are not finite.
std::string csv_field(const Json& value);

// Columns are words "NAME=PLACE", PLACE being the keys that lead to the value in the JSON of a row:
// "cpu=cpu/model_name". "NAME" alone is the key, too.

/// The names of `columns`, separated by commas.
std::string csv_header(std::string_view columns);
/// The fields of `columns`, separated by commas. Empty where neither `row` nor `more` has the keys.
std::string csv_fields(std::string_view columns, const Json& row, const Json& more = {});

/// Which recording, machine, event and level a measurement is of.
inline constexpr std::string_view kIdentityColumns =
    "run file cpu=cpu/model_name kernel event=event/label requested=event/requested "
    "recorded=event/recorded level_requested=precise/requested level=precise/recorded repeat "
    "synthetic emulated=cpu/emulated";

}  // namespace skid::output
