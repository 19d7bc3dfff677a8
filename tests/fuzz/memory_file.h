// Bytes as a file without a name, for readers that take paths.
#pragma once

#include "src/support/file.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace skid::fuzz {

class MemoryFile {
 public:
  MemoryFile() : file_(::memfd_create("fuzz-input", MFD_CLOEXEC)) {
    if (!file_) std::abort();
  }
  /// A copy of [data, data + size).
  MemoryFile(const std::uint8_t* data, std::size_t size) : MemoryFile() {
    write({reinterpret_cast<const char*>(data), size});
  }

  /// Appends. Ends the process if memory is exhausted.
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written <= 0) std::abort();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// Another descriptor of the same file, with the same position.
  FileDescriptor duplicate() const { return FileDescriptor(::dup(file_.get())); }

  /// Opens the file again, at its first byte.
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  FileDescriptor file_;
};

}  // namespace skid::fuzz
