#include "src/perfdata/byte_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace skid::perfdata {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;

/// Reads once. Returns the number of bytes, 0 at the end of the file, or -errno.
std::ptrdiff_t read_once(int fd, std::byte* into, std::size_t size,
                         std::optional<std::uint64_t> offset) {
  for (;;) {
    const ssize_t got =
        offset ? ::pread(fd, into, size, static_cast<off_t>(*offset)) : ::read(fd, into, size);
    if (got >= 0) return got;
    if (errno != EINTR) return -errno;
  }
}

}  // namespace

ByteStream ByteStream::of_file(int fd, std::uint64_t begin, std::uint64_t end) {
  ByteStream stream;
  stream.fd_ = fd;
  stream.position_ = begin;
  stream.end_ = std::max(begin, end);
  return stream;
}

ByteStream ByteStream::of_pipe(int fd, std::uint64_t begin) {
  ByteStream stream;
  stream.fd_ = fd;
  stream.is_pipe_ = true;
  stream.position_ = begin;
  return stream;
}

std::optional<std::uint64_t> ByteStream::left() const noexcept {
  if (is_pipe_) return std::nullopt;
  return end_ - position_;
}

bool ByteStream::read_more(std::size_t size) {
  if (fd_ < 0) return false;
  while (size_ < size) {
    if (read_block() == 0) return false;
  }
  return true;
}

std::size_t ByteStream::read_block() {
  if (!own_buffer_) own_buffer_ = std::make_unique_for_overwrite<std::byte[]>(kReadBytes);
  if (size_ > 0) std::memmove(own_buffer_.get(), data_, size_);
  data_ = own_buffer_.get();
  std::size_t room = kReadBytes - size_;
  std::optional<std::uint64_t> offset;
  if (!is_pipe_) {
    offset = position_ + size_;
    room = static_cast<std::size_t>(std::min<std::uint64_t>(room, end_ - *offset));
  }
  const std::ptrdiff_t got =
      room == 0 ? 0 : read_once(fd_, own_buffer_.get() + size_, room, offset);
  if (got <= 0) {
    read_error_ = static_cast<int>(-got);
    return 0;
  }
  size_ += static_cast<std::size_t>(got);
  return static_cast<std::size_t>(got);
}

bool ByteStream::skip(std::uint64_t size) {
  const auto in_memory = static_cast<std::size_t>(std::min<std::uint64_t>(size, size_));
  consume(in_memory);
  size -= in_memory;
  if (size == 0) return true;
  if (is_pipe_) {
    while (size > 0 && fill(1)) {
      const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(size, size_));
      consume(some);
      size -= some;
    }
    return size == 0;
  }
  const std::uint64_t some = std::min(size, end_ - position_);
  position_ += some;
  return some == size;
}

}  // namespace skid::perfdata
