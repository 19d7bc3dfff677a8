// Completion for fish.
#pragma once

#include "src/words/manual.h"

#include <string>

namespace skid::words {

/// A file for a directory of completions of fish.
std::string fish_completion(const Manual& manual);

}  // namespace skid::words
