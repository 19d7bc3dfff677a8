// Standard error and the terminal that it may be connected to.
#pragma once

#include <string_view>

namespace skid {

/// Writes text that is already escaped. Errors are ignored: there is no place to report them.
void print_to_standard_error(std::string_view text);

/// Columns of the terminal that standard error is connected to; 80 where that is unknown.
unsigned standard_error_width();

}  // namespace skid
