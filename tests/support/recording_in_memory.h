// Bytes as a file or a pipe without a name in any directory, for readers that take paths.
#pragma once

#include "src/support/error.h"
#include "src/support/file.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace skid::test {

/// The path that opens a descriptor of this process again.
inline std::filesystem::path path_of(const FileDescriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.get());
}

/// A regular file whose content can be replaced.
class MemoryFile {
 public:
  MemoryFile() : file_(::memfd_create("recording", MFD_CLOEXEC)) {
    if (!file_) throw std::runtime_error("memfd_create: " + describe_errno(errno));
  }
  explicit MemoryFile(std::string_view bytes) : MemoryFile() { set(bytes); }

  void set(std::string_view bytes) const {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (::pwrite(file_.get(), bytes.data(), bytes.size(), 0) != size ||
        ::ftruncate(file_.get(), size) != 0) {
      throw std::runtime_error("memory file: " + describe_errno(errno));
    }
  }
  std::filesystem::path path() const { return path_of(file_); }

 private:
  FileDescriptor file_;
};

/// A pipe that contains some bytes, with its write end closed.
class FilledPipe {
 public:
  static constexpr std::size_t kRoom = 1 << 20;  ///< bytes; /proc/sys/fs/pipe-max-size by default

  /// At most `kRoom` bytes.
  explicit FilledPipe(std::string_view bytes) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe: " + describe_errno(errno));
    reading_ = FileDescriptor(ends[0]);
    const FileDescriptor writing(ends[1]);
    const bool is_larger = bytes.size() > kUsualRoom;
    if ((is_larger && ::fcntl(writing.get(), F_SETPIPE_SZ, kRoom) < 0) || bytes.size() > kRoom ||
        ::write(writing.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("pipe: " + describe_errno(errno));
    }
  }
  std::filesystem::path path() const { return path_of(reading_); }

 private:
  static constexpr std::size_t kUsualRoom = 1 << 16;
  FileDescriptor reading_;
};

}  // namespace skid::test
