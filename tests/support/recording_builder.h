// Writes perf.data files byte by byte, so that an odd or damaged input is a readable test.
#pragma once

#include "src/perfdata/byte_writer.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::test {

using perfdata::ByteWriter;

inline ByteWriter writer_of(bool big_endian) {
  return ByteWriter(big_endian ? perfdata::ByteOrder::big : perfdata::ByteOrder::little);
}

/// One event of a recording to build.
struct EventToBuild {
  std::uint32_t type = PERF_TYPE_SOFTWARE;
  std::uint64_t config = PERF_COUNT_SW_CPU_CLOCK, config1 = 0, config2 = 0;
  std::uint32_t breakpoint_type = 0;
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

  ByteWriter writer() const { return writer_of(big_endian_); }

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
        static_cast<std::uint16_t>(lie >= 0 ? lie : static_cast<int>(body.size()) + 8);
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
  /// Records other than samples end with the trailer of an event with sample_type IP | TID | TIME.
  std::string trailer(std::int32_t pid, std::uint64_t time) const {
    return writer().i32(pid).i32(pid).u64(time).bytes();
  }
  RecordingBuilder& mmap(std::int32_t pid, std::uint64_t address, std::uint64_t length,
                         std::uint64_t page_offset, std::string_view path, std::uint64_t time,
                         std::uint16_t misc = 2) {
    const std::int32_t tid = std::max(pid, 0);  // perf gives the kernel's mappings thread 0
    auto body = writer().i32(pid).i32(tid).u64(address).u64(length).u64(page_offset).text(path);
    return record(PERF_RECORD_MMAP, misc, body.raw(trailer(tid, time)).bytes());
  }
  RecordingBuilder& comm(std::int32_t pid, std::string_view name, std::uint64_t time) {
    auto body = writer().i32(pid).i32(pid).text(name).raw(trailer(pid, time));
    return record(PERF_RECORD_COMM, 0, body.bytes());
  }
  RecordingBuilder& fork(std::int32_t parent, std::int32_t child, std::uint64_t time,
                         std::uint16_t misc = 0) {
    auto body = writer().i32(child).i32(parent).i32(child).i32(parent).u64(time);
    return record(PERF_RECORD_FORK, misc, body.raw(trailer(child, time)).bytes());
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

  /// The content of HEADER_EVENT_DESC for one event. The attribute in it is of zeros.
  std::string event_description(std::string_view name, const std::vector<std::uint64_t>& ids) const;
  /// An entry of HEADER_BUILD_ID with an id of 20 bytes. `size`: as later perfs record it.
  std::string build_id_entry(std::string_view path, std::string_view id, std::uint16_t misc = 0,
                             std::uint8_t size = 0) const;

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
