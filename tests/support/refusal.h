// What the code under test says where it refuses something.
#pragma once

#include "src/support/error.h"

#include <string>

namespace skid::test {

/// The message of the error that `action` throws; empty when it throws none. Exceptions of other
/// kinds than `Kind` pass through.
template <typename Kind = Error, typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  }
  return {};
}

}  // namespace skid::test
