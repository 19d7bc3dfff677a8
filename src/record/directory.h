// The directory that a run is recorded into, and the run that had its name before.
#pragma once

#include "src/support/file_descriptor.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace skid::record {

inline constexpr const char* kDefaultRunDirectory = "skidscan.run";

/// The fate of a run that has the name already.
enum class Displace {
  rotate,   ///< it becomes NAME.old, as perf does with perf.data
  refuse,   ///< it stays, and the new run is refused
  replace,  ///< it is removed
};

/// Throws Error when a new run cannot take the name `path`: something exists that may not be
/// displaced, or is no run, or is being recorded. `remedy`: what to do where Displace::refuse
/// refuses, the end of the error. A run that was set aside for one without a recording when
/// skidscan was killed is restored to its name.
void check_run_directory(const std::filesystem::path& path, Displace displace,
                         std::string_view remedy = "name another directory");

/// Returns the run that was set aside for the one in `path` when skidscan was killed; empty: none.
std::filesystem::path replaced_run(const std::filesystem::path& path);

/// A run directory that is being recorded into, locked against another skidscan. What had the name
/// of a new one is set aside first and only displaced for good by `keep`; without it the new
/// directory is removed and the old one gets its name back.
class RunDirectory {
 public:
  /// Creates a new directory. Throws Error as check_run_directory does, or naming what cannot be
  /// made.
  static RunDirectory create(const std::filesystem::path& path, Displace displace,
                             std::string_view remedy = "name another directory");
  /// Opens an existing directory. Throws Error when it is being recorded.
  static RunDirectory resume(const std::filesystem::path& path);

  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(RunDirectory&&) = delete;
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  /// Returns the absolute path.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Keeps the new directory, because it contains results. Returns what became of the old runs: a
  /// line, or nothing if there were none. A run NAME.old becomes NAME.old.1, or the next number, if
  /// recording it took more than a minute, and is removed otherwise.
  std::string keep();

 private:
  RunDirectory(std::filesystem::path path, Displace displace, bool kept)
      : path_(std::move(path)), displace_(displace), kept_(kept) {}

  std::filesystem::path path_;
  std::filesystem::path set_aside_;  ///< path of the old run until keep(); empty: there was none
  Displace displace_ = Displace::refuse;
  bool kept_ = false;
  FileDescriptor lock_;
  FileDescriptor old_lock_;  ///< lock of the old run, which no other record may restore
};

}  // namespace skid::record
