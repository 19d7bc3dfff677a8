#include "src/perfdata/packed_records.h"

#include "src/perfdata/byte_stream.h"

#include <cstring>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

/// Records that are unpacked at a time, and the part of one that is left over.
constexpr std::size_t kUnpacked = (std::size_t{256} << 10) + ByteStream::kLargestFill;

}  // namespace

void PackedRecords::begin() {
  unpacker_.reset();
  is_broken_ = false;
  open_ = false;
  begin_ = end_ = 0;
}

void PackedRecords::open(const Record& packet, ByteOrder order) {
  packed_ = packet.body;
  offset_ = packet.offset;
  if (packet.type == PERF_RECORD_COMPRESSED2) {
    // The payload is padded to eight bytes; its own size stands in front.
    ByteReader reader(packet.body, order);
    const std::uint64_t size = reader.u64();
    packed_ = reader.take(size);
    if (reader.failed()) {
      give_up(fmt::format("compressed data of {} bytes", size),
              fmt::format("{} in its record", packet.body.size()));
    }
  }
  open_ = !is_broken_;
}

bool PackedRecords::next(Record& record, ByteOrder order) {
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
  } while (unpack_more());
  open_ = false;
  return false;
}

/// False when nothing came out.
bool PackedRecords::unpack_more() {
  if (unpacked_.empty()) unpacked_.resize(kUnpacked);
  if (!unpacker_) unpacker_.emplace();
  std::memmove(unpacked_.data(), unpacked_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  auto step = unpacker_->unpack(packed_, std::span(unpacked_).subspan(end_));
  packed_ = packed_.subspan(step.taken);
  end_ += step.given;
  if (!step.problem.empty()) {  // what came out before the damage still counts
    give_up(fmt::format("zstd data that cannot be unpacked ({})", step.problem), "");
  }
  return step.given > 0;
}

void PackedRecords::give_up(std::string found, std::string allowed) {
  problem_ = Problem{std::move(found), std::move(allowed)};
  is_broken_ = true;
  packed_ = {};
}

std::size_t PackedRecords::drop_rest() noexcept {
  const std::size_t rest = std::exchange(end_, 0) - std::exchange(begin_, 0);
  return is_broken_ ? 0 : rest;
}

}  // namespace skid::perfdata
