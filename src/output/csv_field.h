// One field of a CSV file.
#pragma once

#include <string>
#include <string_view>

namespace skid::output {

/// Control characters are escaped first, so that a record is one line whatever the name; quoted as
/// RFC 4180 says where it has to be.
std::string csv_field(std::string_view text);

}  // namespace skid::output
