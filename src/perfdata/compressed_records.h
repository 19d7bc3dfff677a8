// The records inside PERF_RECORD_COMPRESSED and PERF_RECORD_COMPRESSED2.
#pragma once

#include "src/perfdata/bytes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

struct ZSTD_DCtx_s;  // of zstd

namespace skid::perfdata {

struct Record;

/// Decompresses one zstd stream, packet by packet, through a bounded buffer. Records may begin in
/// one packet and end in a later one.
class CompressedRecords {
 public:
  /// Forgets all of the stream before.
  void begin();

  /// Goes on with a compressed record, whose body must stay until `next` is false.
  void open(const Record& packet, ByteOrder order);
  /// Whether `next` may give something out.
  bool is_open() const noexcept { return open_; }
  /// Gives out the next record, without its position, which only the caller knows. Its body is
  /// valid until the next call. False when the packet is used up; it is closed then.
  bool next(Record& record, ByteOrder order);

  /// Records that are decompressed already; the last one may be cut off.
  std::span<const std::byte> buffered() const noexcept {
    return {decompressed_.get() + begin_, end_ - begin_};
  }
  /// Continues after whole records at the beginning of `buffered()`.
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }

  /// Offset in the file of the packet that was opened last.
  std::uint64_t offset() const noexcept { return offset_; }
  /// The damage found since the last call: all further packets of the stream are of no use.
  struct Problem {
    std::string found, expected;
  };
  std::optional<Problem> take_problem() { return std::exchange(problem_, std::nullopt); }
  /// At the end of the stream: bytes of a record whose rest never came. Drops them.
  std::size_t drop_rest() noexcept;

 private:
  bool decompress_more();
  void give_up(std::string found, std::string expected);

  struct Free {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  /// The stream's frames run across records, and so do the records in it. Null: not begun.
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  bool open_ = false;
  bool is_broken_ = false;
  std::uint64_t offset_ = 0;
  std::span<const std::byte> compressed_;  ///< the rest of the packet
  std::unique_ptr<std::byte[]> decompressed_;
  std::size_t begin_ = 0, end_ = 0;  ///< the part of `decompressed_` not given out yet
  std::optional<Problem> problem_;
};

}  // namespace skid::perfdata
