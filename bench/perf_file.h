// Parts of a perf.data file and a writer for them, to make long recordings from short ones.
// Little-endian only, for recordings just made on this machine: any irregularity is an error.
// Independent of the reader under measurement.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::bench {

/// Appends a number as the host stores it.
template <typename Number>
void put(std::string& bytes, Number value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The number at `offset` of `bytes`, which must hold it.
template <typename Number>
Number number_at(std::string_view bytes, std::size_t offset) {
  const std::string_view there = bytes.substr(offset, sizeof(Number));
  Number value{};
  std::memcpy(&value, there.data(), there.size());
  return value;
}

template <typename Number>
void set_number(std::string& bytes, std::size_t offset, Number value) {
  bytes.replace(offset, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
}

/// One event: a struct perf_event_attr and the ids of its samples.
struct Event {
  std::string attribute;
  std::vector<std::uint64_t> ids;

  std::uint64_t sample_type() const { return number_at<std::uint64_t>(attribute, 24); }
  void set_sample_type(std::uint64_t bits) { set_number(attribute, 24, bits); }
  void set_branch_sample_type(std::uint64_t bits) { set_number(attribute, 72, bits); }
};

/// Feature bits and the content of their sections, ascending.
using FeatureSections = std::vector<std::pair<unsigned, std::string>>;

struct PerfFile {
  std::vector<Event> events;
  FeatureSections features;
  std::string records;  ///< the data section
};

/// Reads a file as a whole. Throws Error when it is no little-endian perf.data file.
PerfFile read_perf_file(const std::filesystem::path& path);

/// Calls `visit(type, record)` for each record of a data section; `record` includes its header.
template <typename Visitor>
void for_each_record(std::string_view records, Visitor visit) {
  constexpr std::size_t kHeader = 8;
  while (records.size() >= kHeader) {
    const std::size_t size = number_at<std::uint16_t>(records, 6);
    if (size < kHeader || size > records.size()) return;
    visit(number_at<std::uint32_t>(records, 0), records.substr(0, size));
    records.remove_prefix(size);
  }
}

/// Writes a perf.data file from front to end: header, ids, attributes, records, feature sections.
class PerfFileWriter {
 public:
  /// Throws Error when `path` cannot be written.
  PerfFileWriter(const std::filesystem::path& path, const std::vector<Event>& events,
                 FeatureSections features);

  void append(std::string_view record) {
    buffer_ += record;
    if (buffer_.size() >= kBuffer) flush();
  }
  /// Completes the header and appends the feature sections. Throws Error.
  void finish();

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 20U;
  void flush();

  std::filesystem::path path_;
  std::ofstream file_;
  FeatureSections features_;
  std::string header_;
  std::uint64_t data_offset_ = 0;
  std::uint64_t data_size_ = 0;
  std::string buffer_;
};

}  // namespace skid::bench
