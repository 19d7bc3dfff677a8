// Why a recording has no samples, or not all of them.
#pragma once

#include <cstdint>
#include <string>

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::measure {

struct RecordedEvent;

/// Explains why a recording without samples, which was read to its end, has none: "no samples were
/// recorded: …", with what to do.
std::string why_no_samples(const perfdata::Recording& recording);

/// Explains why an event without samples has none if its PMU writes a hardware trace; else empty.
std::string trace_of(const RecordedEvent& event, const perfdata::Recording& recording);

/// Returns a remark on a hardware trace that is not decoded, with its size and what decodes it, of
/// a recording that was read to its end; empty if it has none, or no other samples.
std::string trace_beside(std::uint64_t samples, const perfdata::Recording& recording);

}  // namespace skid::measure
