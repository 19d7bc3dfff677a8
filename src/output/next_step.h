// What to do where samples are not judged.
#pragma once

#include "analysis/not_judged.h"

#include <string>

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::output {

/// Returns what makes samples judged that are not for this reason, as the end of a sentence; empty:
/// nothing does, or it is not known. `cpu`: that of the recording, which its commands name (CPU
/// where it is not known), because they may be run on another machine. `read_in_part`: whether the
/// recording is damaged.
std::string next_step(analysis::NotJudged reason, const machine::CpuIdentity& cpu,
                      bool read_in_part = false);

}  // namespace skid::output
