// Bytes as a file without a name, for readers that take paths.
#pragma once

#include "src/support/file.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace skid::fuzz {

class MemoryFile {
 public:
  /// A copy of [data, data + size). Ends the process if memory is exhausted.
  MemoryFile(const std::uint8_t* data, std::size_t size)
      : file_(::memfd_create("fuzz-input", MFD_CLOEXEC)) {
    if (!file_) std::abort();
    while (size > 0) {
      const ssize_t written = ::write(file_.get(), data, size);
      if (written <= 0) std::abort();
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }

  /// Opens the file again, at its first byte.
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  FileDescriptor file_;
};

}  // namespace skid::fuzz
