// Files: owned descriptors, whole reads with a bound, and writes that appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace skid {

/// An owned file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept;

 private:
  int fd_ = -1;
};

/// Whether the last part of a path may be a symbolic link.
enum class Links : std::uint8_t { followed, refused };

/// Opens a regular file for reading; never blocks on a FIFO or device put in its place.
/// Throws InputError when it is missing, unreadable or not a regular file.
FileDescriptor open_regular_file(const std::filesystem::path& path, Links links = Links::followed);

/// The content of a regular file of at most `limit` bytes. Throws InputError.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit);

/// The next bytes of a regular file or pipe: at most `count`, and none only at its end. They stay
/// there for the next reader. Waits for a pipe to hold some. Empty for other kinds of files.
std::string peek(const FileDescriptor& file, std::size_t count);

/// The rest of `file`, to its end or, to show that there is more, beyond `limit` bytes. `name`: for
/// errors. Throws InputError.
std::string read_to_end(const FileDescriptor& file, std::uint64_t limit, const std::string& name);

/// Reads up to `bytes.size()` bytes from `offset` on. Returns how many there were; an error ends
/// them.
std::size_t read_at(const FileDescriptor& file, std::span<std::byte> bytes, std::uint64_t offset);

/// The bytes of a file; 0 where that is not known.
std::uint64_t size_of(const FileDescriptor& file);

/// The bytes of a regular file outside its holes (lseek(2), SEEK_DATA): what its owner had to
/// write. All of its bytes where the file system does not report holes.
std::uint64_t size_without_holes(const FileDescriptor& file);

/// Writes all of `content` at the position of `file`. Throws Error: the name, what failed and, if
/// any, the remedy: "out.data: cannot be written: no space left on device".
void write_all(const FileDescriptor& file, std::string_view content, const std::string& name,
               std::string_view remedy = {});

/// Another descriptor of the same open file. `name`: for errors. Throws Error.
FileDescriptor duplicate(int file, const std::string& name);

/// A temporary directory, accessible to its owner only, removed with its contents.
class TemporaryDirectory {
 public:
  /// In TMPDIR, or in /tmp where that is no directory.
  static std::filesystem::path usual_parent();

  /// Throws Error with the remedy when nothing can be made in `parent`.
  explicit TemporaryDirectory(const std::filesystem::path& parent = usual_parent());
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  TemporaryDirectory(TemporaryDirectory&&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// An empty file without a name, for reading and writing, in $TMPDIR or in /var/tmp, as /tmp may be
/// memory. `directory` is set to it. Throws Error.
FileDescriptor unnamed_file(std::string& directory);

constexpr unsigned kFileMode = 0666, kProgramMode = 0777;  ///< the umask takes its bits away

/// A new content of a file, so that a reader of the file sees the old content or all of the new
/// one. It is a file in the directory of `path` (of the file that it names if it is a symbolic
/// link) that has a name only once it is complete, so that nothing is left of it however the
/// process ends; where the file system has no such files, a temporary file there. For a device or a
/// FIFO (/dev/stdout), which cannot be replaced, it is in $TMPDIR, and copied into it when it is
/// complete.
class StagedFile {
 public:
  /// Waits until a FIFO has a reader. Throws Error naming the path where it cannot be written: a
  /// directory, no permission.
  explicit StagedFile(std::filesystem::path path, unsigned mode = kFileMode);
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  StagedFile(StagedFile&&) = delete;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();

  /// For reading and writing at any offset.
  const FileDescriptor& file() const noexcept { return file_; }

  /// Gives `path` the content, on the disk, too. Throws Error: "no space left on device", …
  void complete();

 private:
  template <typename Take>
  std::filesystem::path temporary_name(const Take& take) const;

  std::filesystem::path path_;       ///< as given, for errors
  std::filesystem::path final_;      ///< without symbolic links at its end
  std::filesystem::path temporary_;  ///< empty where nothing is to be removed
  FileDescriptor file_;
  FileDescriptor device_;  ///< or FIFO
};

/// Replaces `path` by `content`; see StagedFile.
void write_file_atomically(const std::filesystem::path& path, std::string_view content,
                           unsigned mode = kFileMode);

/// The meaning of an errno, as the end of a message: "no space left on device".
std::string describe_errno(int error_number);

}  // namespace skid
