// The truth about synthetic recordings, and its JSON, whose keys docs/synth.md lists.
#pragma once

#include "src/perfdata/attribute.h"
#include "src/synth/sample_truth.h"
#include "src/synth/selected.h"

#include <cstdint>
#include <string>
#include <vector>

namespace skid::runway {
struct Target;
}  // namespace skid::runway

namespace skid::synth {

class LoopPath;
struct Model;

/// An event at a level, as it was requested and recorded, and the truth about its samples.
struct MeasurementTruth {
  Selected selected;
  std::string requested;          ///< as requested: "access:pp"
  std::string perf_event;         ///< as -e would take it: "mem:0x410000/8:rw:pp"
  perfdata::Attribute attribute;  ///< as recorded
  Truth truth;
};

/// The truth about a recording.
struct RecordingTruth {
  std::vector<MeasurementTruth> measurements;  ///< in the order of the recording's events
  std::uint64_t lost = 0;                      ///< sum of PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;              ///< sum of PERF_RECORD_LOST_SAMPLES
  std::uint64_t throttled = 0;                 ///< PERF_RECORD_THROTTLE records
};

/// The truth about a recording, with the name of its file and the number of its repetition of all
/// levels.
struct NamedTruth {
  std::string file;
  int repeat = 1;
  RecordingTruth truth;
};

inline constexpr const char* kTruthSchema = "skidscan.truth/1";

/// Returns the truth about all recordings of a model on a target, as the text of a file.
std::string truth_json(const Model& model, const runway::Target& target, const LoopPath& path,
                       const std::vector<NamedTruth>& recordings);

}  // namespace skid::synth
