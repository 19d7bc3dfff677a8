// run.sh: the template src/kit/run.sh, filled with one `perf record` line for each measurement.
#pragma once

#include "src/kit/kit.h"

#include <string>
#include <string_view>

namespace skid::kit {

/// src/kit/run.sh and src/kit/submit.sh.
std::string_view run_template();
std::string_view submit_script();

/// The script of a kit. Throws UsageError when the name of an event has a control character.
std::string script_of(const Kit& kit);

/// A word quoted for a POSIX shell where it needs quotes.
std::string shell_word(std::string_view word);

/// The line of one measurement, `name` for progress messages. `target` is the file name of its
/// target.
std::string measurement_line(const run::PlannedMeasurement& measurement, std::string_view name,
                             const std::string& target);

}  // namespace skid::kit
