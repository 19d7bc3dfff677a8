// A packed run: the files of a run directory as one tar file.
#pragma once

#include "src/support/temporary_directory.h"

#include <filesystem>

namespace skid::run {

struct Run;

/// The suffix of packed runs.
inline constexpr const char* kPackedSuffix = ".tar";

/// Whether `file` is a tar file (ustar of POSIX.1-1988, or that of GNU tar).
bool is_packed_run(const std::filesystem::path& file);

/// Writes run.json, the targets and the finished recordings of a run in `directory` as a tar file,
/// in which they are in the directory skidscan.run. The file appears whole or not at all. Throws
/// Error.
void pack_run(const Run& run, const std::filesystem::path& directory,
              const std::filesystem::path& file);

/// The files of a packed run in a temporary directory, which is removed at the end.
class UnpackedRun {
 public:
  /// Extracts `file`, which is untrusted: regular files alone, in one directory or in none. Throws
  /// InputError naming the file and the offset: for links and devices, names that lead out of the
  /// run, names that occur twice, sizes beyond the end of the file, and if there is no run.json.
  explicit UnpackedRun(const std::filesystem::path& file);

  /// Returns the directory of the files.
  const std::filesystem::path& path() const noexcept { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace skid::run
