// The settings of synthetic events and recordings that perf would have made.
#pragma once

#include "src/perfdata/features.h"

#include <cstdint>
#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace skid::machine {
struct Machine;
}  // namespace skid::machine

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::synth {

/// Returns the features of a recording of that machine with this number of CPUs, marked as
/// synthetic.
perfdata::Features synthetic_features(const machine::Machine& machine, unsigned cpus,
                                      std::vector<std::string> command_line);

/// The sample_type of synthetic events. Events with data addresses have additional bits.
inline constexpr std::uint64_t kSampleType =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

/// Sets the exclude_ flags of an event from its modifiers u, k and h, which leave out the modes
/// that they do not name.
void set_modes(const std::string& modifiers, perfdata::Attribute& attribute);

/// The first id of the first event in a recording; the others follow.
inline constexpr std::uint64_t kFirstId = 100;

}  // namespace skid::synth
