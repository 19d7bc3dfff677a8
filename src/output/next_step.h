// What to do where samples are not judged.
#pragma once

#include "analysis/not_judged.h"

#include <string_view>

namespace skid::output {

/// Returns what makes samples judged that are not for this reason, as the end of a sentence; empty:
/// nothing does, or it is not known.
std::string_view next_step(analysis::NotJudged reason);

}  // namespace skid::output
