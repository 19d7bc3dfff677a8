#include "src/perfdata/compressed_records.h"

#include "src/perfdata/byte_stream.h"

#include <cstring>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

/// Records that are decompressed at a time, and the part of one that is left over.
constexpr std::size_t kDecompressed = (std::size_t{256} << 10) + ByteStream::kLargestFill;

}  // namespace

void CompressedRecords::begin() {
  decompressor_.reset();
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

/// False when nothing came out.
bool CompressedRecords::decompress_more() {
  if (decompressed_.empty()) decompressed_.resize(kDecompressed);
  if (!decompressor_) decompressor_.emplace();
  std::memmove(decompressed_.data(), decompressed_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  auto step = decompressor_->decompress(compressed_, std::span(decompressed_).subspan(end_));
  compressed_ = compressed_.subspan(step.taken);
  end_ += step.given;
  if (!step.problem.empty()) {  // records before the damage still count
    give_up(fmt::format("zstd data that cannot be decompressed ({})", step.problem), "");
  }
  return step.given > 0;
}

void CompressedRecords::give_up(std::string found, std::string allowed) {
  problem_ = Problem{std::move(found), std::move(allowed)};
  is_broken_ = true;
  compressed_ = {};
}

std::size_t CompressedRecords::drop_rest() noexcept {
  const std::size_t rest = std::exchange(end_, 0) - std::exchange(begin_, 0);
  return is_broken_ ? 0 : rest;
}

}  // namespace skid::perfdata
