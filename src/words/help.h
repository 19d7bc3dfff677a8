// `skidscan --help` and `skidscan COMMAND --help`.
#pragma once

#include "src/words/manual.h"

#include <cstddef>
#include <string>
#include <vector>

namespace skid::words {

/// A command as text in lines of at most `width` columns, as far as examples allow. `program`: its
/// name on the command line. `commands`: where `command` is the program itself, what it has.
std::string help_text(const std::string& program, const Command& command,
                      const std::vector<Command>& commands, std::size_t width);

}  // namespace skid::words
