// Bytes of a file or pipe, one after the other, through bounded buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::perfdata {

/// A range of bytes read front to back. Files are read with pread rather than mapped: a file that
/// shrinks meanwhile ends early instead of raising SIGBUS, and resident memory stays that of the
/// buffers. A faster reader may read the rest of a file and feed it.
class ByteStream {
 public:
  /// Maximum for `fill`: no record is larger.
  static constexpr std::size_t kLargestFill = std::size_t{64} << 10;

  /// No bytes at all.
  ByteStream() noexcept = default;
  /// Bytes [begin, end) of a regular file, whose descriptor must stay open.
  static ByteStream of_file(int fd, std::uint64_t begin, std::uint64_t end);
  /// All that a pipe gives until it is closed; positions count from `begin`.
  static ByteStream of_pipe(int fd, std::uint64_t begin);

  /// Bytes of a file from another reader.
  struct Chunk {
    std::byte* bytes = nullptr;  ///< kLargestFill bytes before them are writable
    std::size_t size = 0;
    std::uint64_t offset = 0;  ///< in the file
    bool is_last = false;      ///< end of the file
    int error = 0;             ///< errno of the read that failed; then it is the last
  };
  /// From here on the stream, of a file, has only what it is fed. What was buffered is dropped.
  void begin_feeding() noexcept;
  /// Provides the next chunk, when `fill` failed and `starved()`. The first begins at `position()`,
  /// each other one at the end of the previous one, or at `position()` if that is further. Its
  /// memory is used until `keep_rest`.
  void feed(const Chunk& chunk) noexcept;
  /// Copies what was not consumed to memory of the stream's own. More than kLargestFill bytes
  /// cannot be followed by another chunk.
  void keep_rest();
  bool is_fed() const noexcept { return is_fed_; }
  /// Whether there are more bytes that have not been fed.
  bool starved() const noexcept { return is_fed_ && !has_last_ && position_ + size_ < end_; }

  /// The bytes in memory that were not consumed yet; valid until the next `fill` or `skip`.
  std::span<const std::byte> buffered() const noexcept { return {data_, size_}; }
  /// Makes at least `size` bytes buffered (at most kLargestFill). False when there are fewer left.
  bool fill(std::size_t size) { return size_ >= size || read_more(size); }
  /// Goes on by bytes that are buffered.
  void consume(std::size_t size) noexcept {
    data_ += size;
    size_ -= size;
    position_ += size;
  }
  /// Goes on by any number of bytes. False when there are fewer left; all are consumed then.
  bool skip(std::uint64_t size);

  /// Offset of the first buffered byte in the file or pipe.
  std::uint64_t position() const noexcept { return position_; }
  /// Bytes from there to the end; nullopt for pipes, whose end is unknown.
  std::optional<std::uint64_t> left() const noexcept;
  /// errno of the read that failed, 0 while none did.
  int read_error() const noexcept { return read_error_; }

 private:
  bool read_more(std::size_t size);
  /// Reads after the buffered bytes; returns the number of bytes read, 0 at the end.
  std::size_t read_behind();

  int fd_ = -1;
  bool is_pipe_ = false;
  bool is_fed_ = false, has_last_ = false;
  std::uint64_t end_ = 0;  ///< of the range in the file
  std::uint64_t position_ = 0;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::byte> own_buffer_;
  int read_error_ = 0;
};

}  // namespace skid::perfdata
