#include "src/perfdata/decompressor.h"

#include <new>

#include <zstd.h>

namespace skid::perfdata {
namespace {

/// log2 of the bytes that a stream may refer back to: what zstd's highest level (22) asks for. At
/// perf's own level it is 512 KiB.
constexpr int kLargestWindow = 27;

}  // namespace

struct Decompressor::Stream {
  Stream() : context(ZSTD_createDCtx()) {
    if (context == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, kLargestWindow);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream(Stream&&) = delete;
  Stream& operator=(Stream&&) = delete;
  ~Stream() { ZSTD_freeDCtx(context); }

  ZSTD_DCtx* context;
};

Decompressor::Decompressor() : stream_(std::make_unique<Stream>()) {}
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;
Decompressor::~Decompressor() = default;

Decompressor::Step Decompressor::decompress(std::span<const std::byte> compressed,
                                            std::span<std::byte> room) {
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  ZSTD_outBuffer out{room.data(), room.size(), 0};
  Step step;
  while (out.pos < out.size) {
    const std::size_t taken = in.pos;
    const std::size_t given = out.pos;
    const std::size_t result = ZSTD_decompressStream(stream_->context, &out, &in);
    if (ZSTD_isError(result) != 0) {
      step.problem = ZSTD_getErrorName(result);
      break;
    }
    // With the input at its end one more call may still give what zstd holds back.
    if (in.pos == taken && out.pos == given) break;
  }
  step.taken = in.pos;
  step.given = out.pos;
  return step;
}

}  // namespace skid::perfdata
