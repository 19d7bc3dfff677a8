// The command line of a target.
#pragma once

#include "runway/specification.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace skid::runway {

struct Target;

/// How a target is run. A target also runs with no arguments at all, for its specified length.
struct TargetRun {
  std::optional<RunLength> length;  ///< nullopt: as specified
  std::optional<int> cpu;           ///< CPU to pin to; nullopt: the one it starts on
  /// FIFOs of `perf record --control fifo:CONTROL,ACK`, both or neither: the target writes
  /// "enable\n" once it is warm and waits for the acknowledgement before it begins to count
  /// iterations, and does the same with "disable\n" after the last.
  std::filesystem::path control = {}, acknowledge = {};
};

/// Returns the command line of a run: --iterations N | --seconds S, --cpu N, --control F --ack F.
std::vector<std::string> command_line(const Target& target, const TargetRun& run);

}  // namespace skid::runway
