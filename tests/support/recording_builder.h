// Writes perf.data files byte by byte, so that an odd or damaged input is a readable test.
#pragma once

#include "src/perfdata/format.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {

/// Bytes in either byte order.
class ByteWriter {
 public:
  explicit ByteWriter(bool big_endian = false) : big_endian_(big_endian) {}

  ByteWriter& u8(std::uint8_t value) { return number(value, 1); }
  ByteWriter& u16(std::uint16_t value) { return number(value, 2); }
  ByteWriter& u32(std::uint32_t value) { return number(value, 4); }
  ByteWriter& i32(std::int32_t value) { return u32(static_cast<std::uint32_t>(value)); }
  ByteWriter& u64(std::uint64_t value) { return number(value, 8); }
  /// NUL-terminated and padded with NULs to a multiple of eight.
  ByteWriter& text(std::string_view value) {
    bytes_ += value;
    bytes_.append(8 - value.size() % 8, '\0');
    return *this;
  }
  /// As perf writes strings in feature sections: u32 size, padded characters.
  ByteWriter& counted_text(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size() + 8 - value.size() % 8));
    return text(value);
  }
  ByteWriter& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  ByteWriter& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (big_endian_ ? size - 1 - i : i);
      bytes_ += static_cast<char>(value >> shift & 0xffu);
    }
    return *this;
  }

  bool big_endian_;
  std::string bytes_;
};

/// One event of a recording to build.
struct EventToBuild {
  std::uint32_t type = PERF_TYPE_SOFTWARE;
  std::uint64_t config = PERF_COUNT_SW_CPU_CLOCK;
  std::uint64_t period = 1000;
  std::uint64_t sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  std::uint64_t read_format = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t sample_regs_user = 0, sample_regs_intr = 0;
  bool inherit = false;
  unsigned precise_ip = 0;
  bool sample_id_all = true;
  std::vector<std::uint64_t> ids = {};
};

/// Builds a perf.data file in file mode: header, attributes, records, feature sections.
class RecordingBuilder {
 public:
  explicit RecordingBuilder(bool big_endian = false) : big_endian_(big_endian) {}

  ByteWriter writer() const { return ByteWriter(big_endian_); }

  RecordingBuilder& event(EventToBuild event) {
    events_.push_back(std::move(event));
    return *this;
  }
  /// Size of the perf_event_attr to write: 64 and up; bytes past the known fields are 0xee.
  RecordingBuilder& attribute_size(std::uint32_t size) {
    attribute_size_ = size;
    return *this;
  }
  /// A record with this body; the size in the header is the actual one, or `lie`.
  RecordingBuilder& record(std::uint32_t type, std::uint16_t misc, std::string_view body,
                           int lie = -1) {
    auto header = writer();
    const auto size =
        lie >= 0 ? static_cast<std::uint16_t>(lie) : static_cast<std::uint16_t>(body.size() + 8);
    header.u32(type).u16(misc).u16(size);
    records_ += header.bytes();
    records_ += body;
    return *this;
  }
  /// Bytes that are not a record.
  RecordingBuilder& raw(std::string_view bytes) {
    records_ += bytes;
    return *this;
  }
  /// A sample of an event with sample_type IP | TID | TIME.
  RecordingBuilder& sample(std::uint64_t ip, std::int32_t pid, std::uint64_t time,
                           std::uint16_t misc = 2) {
    return record(PERF_RECORD_SAMPLE, misc, writer().u64(ip).i32(pid).i32(pid).u64(time).bytes());
  }
  /// PERF_RECORD_MMAP with the trailer of an event with sample_type IP | TID | TIME.
  RecordingBuilder& mmap(std::int32_t pid, std::uint64_t address, std::uint64_t length,
                         std::uint64_t page_offset, std::string_view path, std::uint64_t time) {
    return record(PERF_RECORD_MMAP, 2,
                  writer()
                      .i32(pid)
                      .i32(pid)
                      .u64(address)
                      .u64(length)
                      .u64(page_offset)
                      .text(path)
                      .i32(pid)
                      .i32(pid)
                      .u64(time)
                      .bytes());
  }
  RecordingBuilder& feature(unsigned bit, std::string content) {
    features_.emplace_back(bit, std::move(content));  // in ascending order of bits
    return *this;
  }

  std::string bytes() const;
  /// Only the records.
  const std::string& records() const { return records_; }
  /// Two clock samples, and three records of BPF output as perf record --off-cpu writes them.
  static RecordingBuilder with_off_cpu_times();
  /// The same recording in pipe mode, with attributes and features as records at the start.
  std::string pipe_bytes() const;
  /// Offset of the first record in `bytes()`.
  std::uint64_t data_offset() const;

  void write(const std::filesystem::path& path) const {
    std::ofstream(path, std::ios::binary) << bytes();
  }

 private:
  std::string attribute(const EventToBuild& event) const;

  bool big_endian_;
  std::uint32_t attribute_size_ = 128;
  std::vector<EventToBuild> events_;
  std::string records_;
  std::vector<std::pair<unsigned, std::string>> features_;
};

}  // namespace skid::test
