// Corrects a constant skid in the profile of a recording.
#pragma once

#include "src/correct/correction.h"
#include "src/measure/measure.h"

#include <filesystem>
#include <optional>
#include <span>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::correct {

/// How to correct a recording.
struct Choices : measure::ReadingChoices {
  By by = By::instruction;
  std::optional<std::span<const analysis::Measurement>> measured = {};  ///< --skid
  std::filesystem::path output = {};  ///< the corrected recording (rewrite.h); empty: none
};

/// Reads and corrects a recording. Several threads may do so at once. Memory grows with distinct
/// (event, place), never with samples. Throws InputError when nothing of it can be read, or it was
/// corrected before; with an output also what check_rewritable() and write_corrected() throw.
Correction correct(const measure::Source& source, const Choices& choices);

}  // namespace skid::correct
