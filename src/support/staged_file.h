// Writing files so that they appear whole or not at all.
#pragma once

#include "src/support/file_descriptor.h"

#include <filesystem>
#include <string_view>

namespace skid {

/// Modes of new files, from which the umask removes bits.
constexpr unsigned kFileMode = 0666, kProgramMode = 0777;

/// The new content of a file, written so that a reader of the file sees the old content or all of
/// the new one. It is stored in the directory of `path` (if that is a symbolic link, of the file
/// that it names), in a file that gets a name only when it is complete, so that nothing is left of
/// it however the process ends. If the file system has no files without a name, it is a temporary
/// file there. A device or a FIFO (/dev/stdout) cannot be replaced: its content is stored in a
/// temporary file (unnamed_file) and copied when it is complete.
class StagedFile {
 public:
  /// Waits until a FIFO has a reader. Throws an Error that names the path if it cannot be written:
  /// a directory, no permission.
  explicit StagedFile(std::filesystem::path path, unsigned mode = kFileMode);
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  StagedFile(StagedFile&&) = delete;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();

  /// Returns the new content, for reading and writing at any offset.
  const FileDescriptor& file() const noexcept { return file_; }

  /// Gives `path` the content, and waits until it is on the disk. Throws Error: "no space left on
  /// device", …
  void complete();

 private:
  template <typename Take>
  std::filesystem::path temporary_name(const Take& take) const;

  std::filesystem::path path_;       ///< as given, for errors
  std::filesystem::path final_;      ///< without symbolic links at its end
  std::filesystem::path temporary_;  ///< file to remove; empty: none
  FileDescriptor file_;
  FileDescriptor device_;  ///< device or FIFO that `path_` names
};

/// Replaces `path` by `content`; see StagedFile.
void write_file_atomically(const std::filesystem::path& path, std::string_view content,
                           unsigned mode = kFileMode);

}  // namespace skid
