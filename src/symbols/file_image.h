// A file in memory of which only some parts are read.
#pragma once

#include "src/support/file.h"

#include <cstddef>
#include <cstdint>

namespace skid::symbols {

/// The bytes of a file at their offsets, zeros where it was not read. What was not read takes no
/// memory. Unlike a mapping of the file it stays as it is when the file changes.
class FileImage {
 public:
  /// `file` must outlive the image. Without address space for it the image is empty.
  explicit FileImage(const FileDescriptor& file);
  FileImage(const FileImage&) = delete;
  FileImage& operator=(const FileImage&) = delete;
  FileImage(FileImage&&) = delete;
  FileImage& operator=(FileImage&&) = delete;
  ~FileImage();

  /// Null when the image is empty. Zeros follow the last byte.
  char* data() const noexcept { return data_; }
  /// Bytes of the file when it was opened.
  std::size_t size() const noexcept { return size_; }
  /// Reads `size` bytes at `offset`, or as many as the file has.
  void read(std::uint64_t offset, std::uint64_t size) const;
  /// Reads what is at `begin`; nothing where that is not in the image.
  void read_at(const void* begin, std::uint64_t size) const;

 private:
  const FileDescriptor& file_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace skid::symbols
