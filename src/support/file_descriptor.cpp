#include "src/support/file_descriptor.h"

#include "src/support/file.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace skid {

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int FileDescriptor::release() noexcept {
  return std::exchange(fd_, -1);
}

FileDescriptor duplicate(int file, const std::string& name) {
  FileDescriptor copy(::fcntl(file, F_DUPFD_CLOEXEC, 0));
  if (!copy) throw unwritable(name, errno);
  return copy;
}

}  // namespace skid
