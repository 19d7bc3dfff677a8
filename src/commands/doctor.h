// What can be sampled on a machine, printed.
#pragma once

#include "src/machine/event_attempt.h"
#include "src/support/error.h"

namespace skid::machine {
struct SamplingSupport;
}  // namespace skid::machine

namespace skid::commands {

struct OutputOptions;

/// Asks `trial`, the kernel of a machine, for each event that `record` samples there by default,
/// and prints the diagnosis. Returns the exit status of `doctor`.
ExitStatus print_diagnosis(const machine::SamplingSupport& support,
                           const machine::EventTrial& trial, const OutputOptions& shown);

}  // namespace skid::commands
