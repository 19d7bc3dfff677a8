// The records inside PERF_RECORD_COMPRESSED and PERF_RECORD_COMPRESSED2.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"

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
  /// Begins a new stream; drops the rest of the previous one.
  void begin();

  /// Continues with a compressed record, whose body must stay valid until `next` returns false.
  void open(const Record& packet, ByteOrder order);
  /// Whether `next` may return a record.
  bool is_open() const noexcept { return open_; }
  /// Returns the next record in `record`, without its position, which only the caller knows. Its
  /// body is valid until the next call. False at the end of the packet, which is then closed.
  bool next(Record& record, ByteOrder order);

  /// Returns the records that are decompressed already; the last one may be truncated.
  std::span<const std::byte> buffered() const noexcept {
    return {decompressed_.get() + begin_, end_ - begin_};
  }
  /// Continues after whole records at the beginning of `buffered()`.
  void consume(std::size_t bytes) noexcept { begin_ += bytes; }

  /// Returns the offset in the file of the packet that was opened last.
  std::uint64_t offset() const noexcept { return offset_; }
  /// Damage of the stream, after which no packet of it can be decompressed.
  struct Problem {
    std::string found, expected;
  };
  /// Returns the damage found since the last call.
  std::optional<Problem> take_problem() { return std::exchange(problem_, std::nullopt); }
  /// Called at the end of the stream. Drops the bytes of a record that is not complete, and returns
  /// how many there were; 0 after damage.
  std::size_t drop_rest() noexcept;

 private:
  bool decompress_more();
  void give_up(std::string found, std::string expected);

  struct Free {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  /// State of the stream, whose frames and records may extend over several packets. Null: not
  /// begun.
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  bool open_ = false;
  bool is_broken_ = false;
  std::uint64_t offset_ = 0;
  std::span<const std::byte> compressed_;  ///< rest of the packet
  std::unique_ptr<std::byte[]> decompressed_;
  std::size_t begin_ = 0, end_ = 0;  ///< bytes of `decompressed_` not yet returned
  std::optional<Problem> problem_;
};

}  // namespace skid::perfdata
