// Completion for bash.
#pragma once

#include "src/words/manual.h"

#include <string>

namespace skid::words {

/// A script that bash reads when the program's name is completed. Needs nothing beside bash 4.
std::string bash_completion(const Manual& manual);

}  // namespace skid::words
