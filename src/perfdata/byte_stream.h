// The bytes of a file or pipe, read one after the other through bounded buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace skid::perfdata {

/// A range of bytes, read from its start to its end. Files are read with pread rather than mapped:
/// a file that shrinks meanwhile ends early instead of raising SIGBUS, and only the buffers take
/// resident memory.
class ByteStream {
 public:
  /// Maximum size for `fill`. No record is larger.
  static constexpr std::size_t kLargestFill = std::size_t{64} << 10;

  /// Makes an empty stream.
  ByteStream() noexcept = default;
  /// Makes a stream of bytes [begin, end) of a regular file, whose descriptor must stay open.
  static ByteStream of_file(int fd, std::uint64_t begin, std::uint64_t end);
  /// Makes a stream of all bytes of a pipe until it is closed. Positions count from `begin`.
  static ByteStream of_pipe(int fd, std::uint64_t begin);

  /// Returns the bytes in memory that are not consumed; valid until the next `fill` or `skip`.
  std::span<const std::byte> buffered() const noexcept { return {data_, size_}; }
  /// Reads until at least `size` bytes (at most kLargestFill) are buffered. False if fewer are
  /// left.
  bool fill(std::size_t size) { return size_ >= size || read_more(size); }
  /// Consumes bytes that are buffered.
  void consume(std::size_t size) noexcept {
    data_ += size;
    size_ -= size;
    position_ += size;
  }
  /// Consumes any number of bytes. False if fewer are left, which are then consumed.
  bool skip(std::uint64_t size);

  /// Returns the offset of the first buffered byte in the file or pipe.
  std::uint64_t position() const noexcept { return position_; }
  /// Returns the number of bytes from position() to the end; nullopt for pipes, whose end is
  /// unknown.
  std::optional<std::uint64_t> left() const noexcept;
  /// Returns the errno of a read that failed; 0 if none did.
  int read_error() const noexcept { return read_error_; }

 private:
  bool read_more(std::size_t size);
  /// Reads after the buffered bytes; returns the number of bytes read, 0 at the end.
  std::size_t read_block();

  int fd_ = -1;
  bool is_pipe_ = false;
  std::uint64_t end_ = 0;  ///< end of the range in the file
  std::uint64_t position_ = 0;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> own_buffer_;
  int read_error_ = 0;
};

}  // namespace skid::perfdata
