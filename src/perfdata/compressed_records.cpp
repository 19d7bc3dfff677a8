#include "src/perfdata/compressed_records.h"

#include "src/perfdata/byte_stream.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/support/byte_reader.h"

#include <cstring>
#include <new>

#include <fmt/format.h>
#include <zstd.h>

namespace skid::perfdata {
namespace {

/// Size of the buffer: what is decompressed at a time, and the truncated record before it.
constexpr std::size_t kDecompressed = (std::size_t{256} << 10) + ByteStream::kLargestFill;

/// log2 of the bytes that a stream may refer back to: the window of zstd's highest level (22). At
/// perf's own level the window is 512 KiB. Bounds the memory for any stream.
constexpr int kLargestWindow = 27;

}  // namespace

void CompressedRecords::Free::operator()(ZSTD_DCtx_s* context) const noexcept {
  ZSTD_freeDCtx(context);
}

void CompressedRecords::begin() {
  context_.reset();
  is_broken_ = false;
  open_ = false;
  begin_ = end_ = 0;
}

void CompressedRecords::open(const Record& packet, ByteOrder order) {
  compressed_ = packet.body;
  offset_ = packet.offset;
  if (packet.type == PERF_RECORD_COMPRESSED2) {
    // The payload is padded to eight bytes; its own size precedes it.
    ByteReader reader(packet.body, order);
    const std::uint64_t size = reader.u64();
    compressed_ = reader.take(size);
    if (reader.failed()) {
      give_up(fmt::format("compressed data of {} bytes", size),
              fmt::format("{} in its record", packet.body.size()));
    }
  }
  open_ = !is_broken_;
}

bool CompressedRecords::next(Record& record, ByteOrder order) {
  std::size_t wanted = kRecordHeader;
  do {
    const auto bytes = buffered();
    if (bytes.size() < wanted) continue;
    const std::uint16_t size = read_record_header(bytes, order, record);
    if (size < kRecordHeader) {
      give_up(fmt::format("a compressed record of {} bytes", size),
              fmt::format("at least {}", kRecordHeader));
      break;
    }
    if (bytes.size() >= size) {
      record.offset = offset_;
      record.body = bytes.subspan(kRecordHeader, size - kRecordHeader);
      begin_ += size;
      return true;
    }
    wanted = size;
  } while (decompress_more());
  open_ = false;
  return false;
}

/// Decompresses more of the packet into the buffer. False if that gave no bytes.
bool CompressedRecords::decompress_more() {
  if (!decompressed_) decompressed_ = std::make_unique_for_overwrite<std::byte[]>(kDecompressed);
  if (!context_) {
    context_.reset(ZSTD_createDCtx());
    if (!context_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kLargestWindow);
  }
  std::memmove(decompressed_.get(), decompressed_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  ZSTD_inBuffer in{compressed_.data(), compressed_.size(), 0};
  ZSTD_outBuffer out{decompressed_.get(), kDecompressed, end_};
  std::size_t result = 0;
  while (out.pos < out.size) {
    const std::size_t taken = in.pos;
    const std::size_t given = out.pos;
    result = ZSTD_decompressStream(context_.get(), &out, &in);
    // At the end of the input, another call may still return bytes that zstd has buffered.
    if (ZSTD_isError(result) != 0 || (in.pos == taken && out.pos == given)) break;
  }
  compressed_ = compressed_.subspan(in.pos);
  const bool is_any = out.pos > std::exchange(end_, out.pos);
  if (ZSTD_isError(result) != 0) {  // records before the damage still count
    give_up(fmt::format("zstd data that cannot be decompressed ({})", ZSTD_getErrorName(result)),
            "");
  }
  return is_any;
}

void CompressedRecords::give_up(std::string found, std::string expected) {
  problem_ = Problem{std::move(found), std::move(expected)};
  is_broken_ = true;
  compressed_ = {};
}

std::size_t CompressedRecords::drop_rest() noexcept {
  const std::size_t rest = std::exchange(end_, 0) - std::exchange(begin_, 0);
  return is_broken_ ? 0 : rest;
}

}  // namespace skid::perfdata
