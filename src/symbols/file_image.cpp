#include "src/symbols/file_image.h"

#include <algorithm>
#include <span>

#include <sys/mman.h>
#include <sys/stat.h>

namespace skid::symbols {

namespace {

constexpr std::size_t kZerosAfterImage = 4096;

}  // namespace

FileImage::FileImage(const FileDescriptor& file) : file_(file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = ::mmap(nullptr, size + kZerosAfterImage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, size, MADV_NOHUGEPAGE);  // a page of 2 MiB for each part that is read
  data_ = static_cast<char*>(memory);
  size_ = size;
}

FileImage::~FileImage() {
  if (data_ != nullptr) ::munmap(data_, size_ + kZerosAfterImage);
}

void FileImage::read(std::uint64_t offset, std::uint64_t size) const {
  if (offset >= size_) return;
  const auto length = static_cast<std::size_t>(std::min(size, size_ - offset));
  static_cast<void>(
      skid::read_at(file_, std::as_writable_bytes(std::span(data_ + offset, length)), offset));
}

void FileImage::read_at(const void* begin, std::uint64_t size) const {
  const auto* at = static_cast<const char*>(begin);
  if (at >= data_ && at < data_ + size_) read(static_cast<std::uint64_t>(at - data_), size);
}

}  // namespace skid::symbols
