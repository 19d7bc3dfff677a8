// The error of a command line.
#pragma once

#include "src/support/error.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace skid {

/// The error of options that do not exist, contradict each other or lack a value. The message names
/// the option.
class UsageError : public ValueError {
 public:
  using ValueError::ValueError;
};

}  // namespace skid
