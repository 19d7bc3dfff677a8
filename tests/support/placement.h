// Recordings with samples on chosen instructions of any binary, described in JSON:
//   {"binary": FILE, "seed": N, "machine": as in a model, "buffers": as in a model, "events": [
//     {"event": NAME, "type": N, "config": N, "period": N,
//      or "breakpoint": {"address": N, "access": "rw", "w" or "x"} for type and config,
//      "levels": [{"level": 0 to 3, "kernel": share of samples in kernel mode, "places": [
//        {"symbol": NAME, "offset": N, or "address": N (link-time),
//         "samples": N, "exact": EXACT_IP, true at levels 2 and 3}]}]}]}
// N may be "0x" and hexadecimal digits for "config", "address" and "offset".
#pragma once

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

namespace skid::perfdata {
struct WritingChoices;
}  // namespace skid::perfdata

namespace skid::test {

/// Writes the recording of a placement. A relative path of its binary starts at `directory`. Throws
/// exceptions of nlohmann::json and Error for one that is not as above, and Error where the binary
/// does not have the places, or the file cannot be written.
void write_placement(const nlohmann::json& placement, const std::filesystem::path& directory,
                     const std::filesystem::path& recording,
                     const perfdata::WritingChoices& choices);

}  // namespace skid::test
