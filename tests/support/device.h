// Devices of a test's own. A program that replaces its output by a file then breaks no machine.
#pragma once

#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace skid::test {

/// Minor numbers of the memory devices, whose major is 1: Documentation/admin-guide/devices.txt.
enum class MemoryDevice : unsigned char { null = 3, full = 7 };

/// Makes a node of the device. False without the permission, or where nodes are not devices.
[[nodiscard]] inline bool make_device(const std::filesystem::path& path, MemoryDevice device) {
  const auto minor = static_cast<unsigned>(device);
  if (::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, minor)) != 0) return false;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

}  // namespace skid::test
