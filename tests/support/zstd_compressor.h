// Compresses records as `perf record -z` does: one zstd stream, flushed at the end of each record.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include <zstd.h>

namespace skid::test {

class ZstdCompressor {
 public:
  ZstdCompressor() : stream_(ZSTD_createCStream()) { ZSTD_initCStream(stream_, 1); }
  ZstdCompressor(const ZstdCompressor&) = delete;
  ZstdCompressor& operator=(const ZstdCompressor&) = delete;
  ~ZstdCompressor() { ZSTD_freeCStream(stream_); }

  /// The next piece of the stream, which contains `bytes`. `end_frame`: another frame follows.
  std::string compress(std::string_view bytes, bool end_frame = false) {
    std::string compressed(ZSTD_compressBound(bytes.size()) + 64, '\0');
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{compressed.data(), compressed.size(), 0};
    const std::size_t left =
        ZSTD_compressStream2(stream_, &out, &in, end_frame ? ZSTD_e_end : ZSTD_e_flush);
    if (left != 0) throw std::runtime_error("zstd: the room was too small");
    compressed.resize(out.pos);
    return compressed;
  }

 private:
  ZSTD_CStream* stream_;
};

}  // namespace skid::test
