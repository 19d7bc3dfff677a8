// The zstd stream of PERF_RECORD_COMPRESSED, decompressed piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace skid::perfdata {

/// One recording's zstd stream. Its frames run across records, and so do the records in it.
class Decompressor {
 public:
  Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;
  ~Decompressor();

  struct Step {
    std::size_t taken = 0;  ///< bytes of the input
    std::size_t given = 0;  ///< bytes of the output
    std::string problem;    ///< zstd's message for a damaged stream, which cannot be used any more
  };
  /// Decompresses from the front of `compressed` into `room` until either is used up. Memory is
  /// bounded by kLargestWindow, independent of the stream. Throws std::bad_alloc only.
  Step decompress(std::span<const std::byte> compressed, std::span<std::byte> room);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace skid::perfdata
