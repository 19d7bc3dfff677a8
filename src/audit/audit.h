// Counts samples of a recording at instructions that cannot have caused their event.
#pragma once

#include "src/audit/findings.h"
#include "src/measure/measure.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::audit {

/// How to audit a recording.
struct Choices : measure::ReadingChoices {
  std::size_t top = 20;  ///< most functions, instructions and blocks that are listed of an event
  /// Share of the judged samples that must be impossible ones at a listed function or instruction.
  double min_share = 0;
  /// Instructions from overflow to record; nullopt: the delay is taken from `measured`.
  std::optional<std::uint64_t> delay = {};
  /// The measurements of a run. The delay of each holds for its own event.
  std::optional<std::span<const analysis::Measurement>> measured = {};
  bool all = false;  ///< lists instructions whose samples are possible, too
};

/// Reads and judges a recording. Several threads may do so at once. Memory grows with distinct
/// (event, place), and with samples of events with a fixed period up to a million. Throws
/// InputError when nothing of it can be read.
Audit audit(const measure::Source& source, const Choices& choices);

}  // namespace skid::audit
