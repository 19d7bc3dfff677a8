// The sampling mode: how samples got from the counter into the recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skid::analysis {

/// The sampling mode in which an event was recorded. A verdict covers this mode only.
struct RecordingPath {
  std::optional<std::uint64_t> frequency = {};  ///< samples per second; nullopt: a fixed period
  bool call_graph = false;                      ///< PERF_SAMPLE_CALLCHAIN
  bool branch_stack = false;                    ///< PERF_SAMPLE_BRANCH_STACK
  /// Set for PEBS. True if the CPU writes many records before an interrupt (large PEBS), false if
  /// there is one interrupt per record. nullopt for events without PEBS, or if it is unknown.
  std::optional<bool> batched = {};

  friend bool operator==(const RecordingPath&, const RecordingPath&) = default;
};

/// Writes "fixed period, PEBS records in batches", "4000 samples a second with call graphs".
std::string describe(const RecordingPath& path);

}  // namespace skid::analysis
