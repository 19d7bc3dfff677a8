// Errors as tests read them.
#pragma once

#include "src/support/error.h"

#include <string>
#include <utility>

namespace skid::test {

/// The message of the error, an Error or of a class derived from it, that `call` throws with these
/// arguments; "no error" where it throws none. Other exceptions pass.
template <typename Thrown = Error, typename Call, typename... Arguments>
std::string message_of(const Call& call, Arguments&&... arguments) {
  try {
    (void)call(std::forward<Arguments>(arguments)...);
  } catch (const Thrown& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace skid::test
