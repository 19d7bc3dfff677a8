// Completion for zsh.
#pragma once

#include "src/words/manual.h"

#include <string>

namespace skid::words {

/// A function for a directory of zsh's fpath, to be named "_" and the program.
std::string zsh_completion(const Manual& manual);

}  // namespace skid::words
