// Bytes of a file or pipe, one after the other, through bounded buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace skid::perfdata {

/// A range of bytes read front to back. Files are read with pread rather than mapped: a file that
/// shrinks meanwhile ends early instead of raising SIGBUS, and resident memory stays that of the
/// buffers.
class ByteStream {
 public:
  /// Maximum for `fill`: no record is larger.
  static constexpr std::size_t kLargestFill = std::size_t{64} << 10;

  /// No bytes at all.
  ByteStream() noexcept = default;
  /// Bytes [begin, end) of a regular file, whose descriptor must stay open.
  static ByteStream of_file(int fd, std::uint64_t begin, std::uint64_t end);
  /// All bytes of a pipe until it is closed; positions count from `begin`.
  static ByteStream of_pipe(int fd, std::uint64_t begin);

  /// The bytes in memory that were not consumed yet; valid until the next `fill` or `skip`.
  std::span<const std::byte> buffered() const noexcept { return {data_, size_}; }
  /// Makes at least `size` bytes buffered (at most kLargestFill). False when there are fewer left.
  bool fill(std::size_t size) { return size_ >= size || read_more(size); }
  /// Consumes bytes that are buffered.
  void consume(std::size_t size) noexcept {
    data_ += size;
    size_ -= size;
    position_ += size;
  }
  /// Consumes any number of bytes. False when there are fewer left; all are consumed then.
  bool skip(std::uint64_t size);

  /// Offset of the first buffered byte in the file or pipe.
  std::uint64_t position() const noexcept { return position_; }
  /// The number of bytes from there to the end; nullopt for pipes, whose end is unknown.
  std::optional<std::uint64_t> left() const noexcept;
  /// errno of the read that failed, 0 while none did.
  int read_error() const noexcept { return read_error_; }

 private:
  bool read_more(std::size_t size);
  /// Reads after the buffered bytes; returns the number of bytes read, 0 at the end.
  std::size_t read_block();

  int fd_ = -1;
  bool is_pipe_ = false;
  std::uint64_t end_ = 0;  ///< of the range in the file
  std::uint64_t position_ = 0;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> own_buffer_;
  int read_error_ = 0;
};

}  // namespace skid::perfdata
