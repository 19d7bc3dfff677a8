// An owned file descriptor.
#pragma once

#include <string>

namespace skid {

/// A file descriptor that its owner closes; -1 if there is none.
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

/// Returns another descriptor of the same open file. `name`: the file's name in errors. Throws
/// Error.
FileDescriptor duplicate(int file, const std::string& name);

}  // namespace skid
