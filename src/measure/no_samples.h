// Why a recording has no samples.
#pragma once

#include <string>

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::measure {

/// Explains why a recording without samples, which was read to its end, has none: "no samples were
/// recorded: …", with what to do.
std::string why_no_samples(const perfdata::Recording& recording);

}  // namespace skid::measure
