// run.sh: the script of src/kit/run.sh and what it is to do for one kit.
#pragma once

#include "src/kit/kit.h"
#include "src/support/command_words.h"

#include <string>
#include <string_view>
#include <vector>

namespace skid::kit {

/// The text of src/kit/run.sh, which is the same in all kits but for one line.
std::string_view run_script();

/// The whole script. Throws UsageError when a word of it has a control character.
std::string script_of(const Kit& kit);

/// A word that a shell takes for itself whatever is in it.
std::string shell_word(std::string_view word);

/// The words of a measurement as run.sh takes them: a condition, '=' and the word or '@' and the
/// name of a value, quoted.
std::string listed(const std::vector<CommandWord>& words);

}  // namespace skid::kit
