#include "src/perfdata/byte_stream.h"

#include "src/support/ring.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

namespace skid::perfdata {
namespace {

/// Small enough for the caches, large enough that two threads seldom have to wait for each other.
constexpr std::size_t kChunk = std::size_t{512} << 10;
/// In front of each chunk, for the part of a record that the chunk before ended with.
constexpr std::size_t kHeadroom = ByteStream::kLargestFill;
constexpr std::size_t kChunks = 6;
/// Shorter stretches are read before a second thread would have started.
constexpr std::uint64_t kWorthReadingAhead = std::uint64_t{1} << 20;

/// Bytes read, 0 at the end of the file, -errno.
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

/// Chunks that a thread reads in order and the stream looks at in order.
class ByteStream::ReadAhead {
 public:
  struct Chunk {
    std::unique_ptr<std::byte[]> memory =
        std::make_unique_for_overwrite<std::byte[]>(kHeadroom + kChunk);
    std::size_t size = 0;  ///< 0: the end of the stretch, or of a file that became shorter
    int error = 0;
    std::byte* bytes() const { return memory.get() + kHeadroom; }
  };

  ReadAhead(int fd, std::uint64_t begin, std::uint64_t end)
      : thread_([this, fd, begin, end] { run(fd, begin, end); }) {}
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ReadAhead(ReadAhead&&) = delete;
  ReadAhead& operator=(ReadAhead&&) = delete;
  ~ReadAhead() {
    ring_.close();
    thread_.join();
  }

  /// The next chunk. The memory of the one before stays untouched until the call after this one.
  Chunk& next() {
    if (taken_++ > 1) ring_.empty();
    return ring_.wait_for_filled();
  }

 private:
  void run(int fd, std::uint64_t at, std::uint64_t end) {
    while (Chunk* chunk = ring_.wait_for_free()) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, end - at));
      const std::ptrdiff_t got = wanted == 0 ? 0 : read_once(fd, chunk->bytes(), wanted, at);
      chunk->size = got > 0 ? static_cast<std::size_t>(got) : 0;
      chunk->error = got < 0 ? static_cast<int>(-got) : 0;
      at += chunk->size;
      const bool is_last = chunk->size == 0;
      ring_.fill();
      if (is_last) return;
    }
  }

  Ring<Chunk, kChunks> ring_;
  std::uint64_t taken_ = 0;  ///< chunks
  std::thread thread_;
};

ByteStream::ByteStream() noexcept = default;
ByteStream::~ByteStream() = default;
ByteStream::ByteStream(ByteStream&& other) noexcept = default;
ByteStream& ByteStream::operator=(ByteStream&& other) noexcept = default;

ByteStream ByteStream::of_file(int fd, std::uint64_t begin, std::uint64_t end) {
  ByteStream stream;
  stream.fd_ = fd;
  stream.position_ = stream.read_position_ = begin;
  stream.end_ = std::max(begin, end);
  if (stream.end_ - begin >= kWorthReadingAhead) {
    try {
      stream.read_ahead_ = std::make_unique<ReadAhead>(fd, begin, stream.end_);
    } catch (const std::system_error&) {  // no more threads: it goes without
    }
  }
  return stream;
}

ByteStream ByteStream::of_pipe(int fd, std::uint64_t begin) {
  ByteStream stream;
  stream.fd_ = fd;
  stream.is_pipe_ = true;
  stream.position_ = stream.read_position_ = begin;
  return stream;
}

std::optional<std::uint64_t> ByteStream::left() const noexcept {
  if (is_pipe_) return std::nullopt;
  return end_ - position_;
}

bool ByteStream::read_more(std::size_t size) {
  if (fd_ < 0) return false;
  if (read_ahead_) return take_chunks(size);
  while (size_ < size) {
    if (read_behind() == 0) return false;
  }
  return true;
}

bool ByteStream::take_chunks(std::size_t size) {
  while (size_ < size) {
    ReadAhead::Chunk& chunk = read_ahead_->next();
    if (chunk.size == 0) {
      read_error_ = chunk.error;
      // The thread has ended; what is left is copied, since the chunk under it goes with it.
      own_buffer_.assign(data_, data_ + size_);
      data_ = own_buffer_.data();
      read_ahead_.reset();
      fd_ = -1;
      return false;
    }
    // Fits: less than `size` bytes are left over, and the headroom holds kLargestFill.
    std::byte* begin = chunk.bytes() - size_;
    if (size_ > 0) std::memcpy(begin, data_, size_);
    data_ = begin;
    size_ += chunk.size;
    read_position_ += chunk.size;
  }
  return true;
}

std::size_t ByteStream::read_behind() {
  if (own_buffer_.empty()) own_buffer_.resize(kHeadroom + kChunk);
  if (size_ > 0) std::memmove(own_buffer_.data(), data_, size_);
  data_ = own_buffer_.data();
  std::size_t room = own_buffer_.size() - size_;
  std::optional<std::uint64_t> offset;
  if (!is_pipe_) {
    room = static_cast<std::size_t>(std::min<std::uint64_t>(room, end_ - read_position_));
    offset = read_position_;
  }
  const std::ptrdiff_t got =
      room == 0 ? 0 : read_once(fd_, own_buffer_.data() + size_, room, offset);
  if (got <= 0) {
    read_error_ = static_cast<int>(-got);
    return 0;
  }
  size_ += static_cast<std::size_t>(got);
  read_position_ += static_cast<std::uint64_t>(got);
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
  // What was read ahead is not wanted. From here on it is read when asked for: recordings with
  // traces between their records jump often.
  read_ahead_.reset();
  data_ = nullptr;
  const std::uint64_t some = std::min(size, end_ - position_);
  position_ += some;
  read_position_ = position_;
  return some == size;
}

}  // namespace skid::perfdata
