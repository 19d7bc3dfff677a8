// The run that a kit's run.sh leaves: plan.json and, raw, what happened. It is put together in
// memory with what `record` judges its recordings by.
#pragma once

#include "src/run/run.h"

#include <filesystem>

namespace skid::run {

/// Starts of run.sh, a line `key=value` each (docs/kit.md).
inline constexpr const char* kSessionName = "session";
/// The files of the machine, below it as below "/".
inline constexpr const char* kMachineName = "machine";
/// The directory of the files that each measurement left: FILE.out, FILE.err, FILE.result.
inline constexpr const char* kResultsName = "results";

/// A run from DIR/plan.json and the other files of the directory. They are untrusted: sizes are
/// bounded and symbolic links are not followed. Throws InputError.
Run read_kit_run(const std::filesystem::path& directory);

}  // namespace skid::run
