#include "src/perfdata/recording.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::perfdata {
namespace {

constexpr std::uint64_t kMagic = 0x32454c4946524550;     // "PERFILE2"
constexpr std::uint64_t kOldMagic = 0x454c494646524550;  // "PERFFILE"
constexpr std::size_t kFileHeader = 104;                 // struct perf_file_header
constexpr std::size_t kHeaderWithoutFeatures = 72;       // the same before Linux 2.6.33
constexpr std::size_t kPipeHeader = 16;                  // struct perf_pipe_file_header
constexpr std::size_t kRecordHeader = 8;                 // struct perf_event_header
constexpr std::size_t kSectionEntry = 16;                // struct perf_file_section
constexpr std::size_t kBuffer = std::size_t{256} << 10;  // fits the L2 cache; a record is < 64 KiB
/// No feature section that is decoded here comes near this, not even build-ids of 100,000 files.
constexpr std::uint64_t kLargestFeature = std::uint64_t{64} << 20;
/// A recording with more faults than this lists the first ones.
constexpr std::size_t kMostFaults = 100;

constexpr const char* kRecordAgain = "the recording is damaged or was cut off; record again";

FileSection read_section(ByteReader& reader) {
  const std::uint64_t offset = reader.u64();
  const std::uint64_t size = reader.u64();
  return {offset, size};
}

}  // namespace

Recording::Recording(std::filesystem::path path) : path_(std::move(path)) {
  file_ = open_regular_file(path_);
  struct stat status {};
  if (::fstat(file_.get(), &status) == 0) file_size_ = static_cast<std::uint64_t>(status.st_size);
}

Recording Recording::open(const std::filesystem::path& path) {
  Recording recording(path);
  recording.read_header();
  return recording;
}

void Recording::add_fault(InputFault fault) {
  read_in_part_ = true;
  if (faults_.size() < kMostFaults) faults_.push_back(std::move(fault));
}

void Recording::add_short_record(const Record& record) {
  fault(record.offset,
        fmt::format("a {} of {} bytes that ends inside its fields",
                    name_of_record_type(record.type), record.body.size() + kRecordHeader),
        "", "the record was left out");
}

void Recording::fault(std::uint64_t offset, std::string found, std::string allowed,
                      std::string remedy) {
  add_fault({path_.string(), offset, std::move(found), std::move(allowed), std::move(remedy)});
}

bool Recording::stop(std::uint64_t offset, std::string found, std::string allowed,
                     std::string remedy) {
  ended_ = true;
  if (!rewound_) fault(offset, std::move(found), std::move(allowed), std::move(remedy));
  return false;
}

void Recording::rewind() {
  read_position_ = data_begin_;
  buffer_begin_ = buffer_end_ = 0;
  ended_ = false;
  rewound_ = true;
}

std::size_t Recording::read_at(std::span<std::byte> bytes, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(file_.get(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::vector<std::byte> Recording::section_bytes(FileSection section, const std::string& what) {
  const std::uint64_t available = section.offset < file_size_ ? file_size_ - section.offset : 0;
  if (section.size > available) {
    fault(section.offset, fmt::format("{} of {} bytes", what, section.size),
          fmt::format("{} up to the end of the file", available), kRecordAgain);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(section.size, available)));
  bytes.resize(read_at(bytes, section.offset));
  return bytes;
}

void Recording::read_header() {
  const auto refuse = [this](std::uint64_t offset, std::string found, std::string allowed,
                             std::string remedy) {
    throw InputError(
        {path_.string(), offset, std::move(found), std::move(allowed), std::move(remedy)});
  };

  std::array<std::byte, kFileHeader> bytes{};
  const std::size_t size = read_at(bytes, 0);
  const std::span<const std::byte> header(bytes.data(), size);
  if (size < sizeof kMagic) {
    refuse(0, fmt::format("a file of {} bytes", size),
           fmt::format("a perf.data header of {} bytes", kFileHeader),
           "is it a recording of perf?");
  }
  const std::uint64_t magic = ByteReader(header, ByteOrder::little).u64();
  if (magic == kOldMagic) {
    refuse(0, "magic PERFFILE, the format of perf before Linux 2.6.33", "PERFILE2",
           "convert it with a perf of its time");
  }
  if (magic != kMagic) {
    if (__builtin_bswap64(magic) != kMagic) {
      refuse(0, "no perf.data magic", "PERFILE2", "is it a recording of perf?");
    }
    order_ = ByteOrder::big;
  }

  ByteReader reader(header, order_);
  reader.skip(sizeof kMagic);
  const std::uint64_t header_size = reader.u64();
  if (header_size == kPipeHeader) {
    refuse(8, "a recording in pipe mode", "file mode",
           "turn it into a file with: perf inject -i RECORDING -o perf.data");
  }
  if (header_size != kFileHeader && header_size != kHeaderWithoutFeatures) {
    refuse(8, fmt::format("a header of {} bytes", header_size),
           fmt::format("{} or {}", kFileHeader, kHeaderWithoutFeatures), kRecordAgain);
  }
  const std::uint64_t attribute_size = reader.u64();
  const FileSection attributes = read_section(reader);
  const FileSection data = read_section(reader);
  reader.skip(kSectionEntry);  // event types, of no use since Linux 3.9
  std::array<std::uint64_t, 4> feature_bits{};
  if (header_size == kFileHeader) {
    for (auto& word : feature_bits) word = reader.u64();
  }
  if (reader.failed()) {
    refuse(0, fmt::format("a file of {} bytes", size),
           fmt::format("a perf.data header of {} bytes", kFileHeader), kRecordAgain);
  }

  read_attributes(attributes, attribute_size);
  if (attributes_.empty()) {
    refuse(attributes.offset, "no readable event attribute", "at least one", kRecordAgain);
  }

  data_begin_ = std::min(data.offset, file_size_);
  read_position_ = data_begin_;
  data_end_ = file_size_;
  if (data.offset > file_size_) {
    fault(data.offset, "records that begin past the end of the file",
          fmt::format("at most {:#x}", file_size_), kRecordAgain);
  } else if (data.size == 0 && data.offset < file_size_) {
    fault(data.offset, "a header that was never completed (perf did not end properly)", "",
          "records up to the end of the file are read");
  } else if (data.size > file_size_ - data.offset) {
    fault(data.offset, fmt::format("records of {} bytes", data.size),
          fmt::format("{} up to the end of the file", file_size_ - data.offset), kRecordAgain);
  } else {
    data_end_ = data.offset + data.size;
    read_features(data_end_, feature_bits);
  }
  adopt_event_names();
}

void Recording::read_attributes(FileSection section, std::uint64_t entry_size) {
  // An entry is a perf_event_attr followed by the section of its ids.
  constexpr std::uint64_t kSmallest = kSmallestAttribute + kSectionEntry;
  constexpr std::uint64_t kLargest = kLargestAttribute + kSectionEntry;
  if (entry_size < kSmallest || entry_size > kLargest) {
    throw InputError({path_.string(), 16, fmt::format("attribute entries of {} bytes", entry_size),
                      fmt::format("{} to {}", kSmallest, kLargest), kRecordAgain});
  }
  const auto bytes = section_bytes(section, "attribute section");
  const std::span<const std::byte> entries(bytes);
  // All id tables together cannot be larger than the file unless they overlap.
  std::uint64_t id_bytes_left = file_size_;
  for (std::uint64_t at = 0; bytes.size() - at >= entry_size; at += entry_size) {
    const auto entry =
        entries.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(entry_size));
    auto attribute = parse_attribute(entry.first(entry.size() - kSectionEntry), order_);
    if (!attribute) break;  // not reached: the entry size was checked above
    ByteReader reader(entry.last(kSectionEntry), order_);
    FileSection ids = read_section(reader);
    if (ids.size > id_bytes_left) {
      fault(section.offset + at, fmt::format("an id table of {} bytes", ids.size),
            fmt::format("{} that the file has left", id_bytes_left), kRecordAgain);
      ids.size = 0;
    }
    id_bytes_left -= ids.size;
    const auto id_bytes = section_bytes(ids, "id table");
    ByteReader id_reader(id_bytes, order_);
    while (id_reader.remaining() >= sizeof(std::uint64_t)) {
      attribute->ids.push_back(id_reader.u64());
    }
    attributes_.push_back(std::move(*attribute));
  }
}

void Recording::read_features(std::uint64_t table_offset,
                              const std::array<std::uint64_t, 4>& bits) {
  std::vector<unsigned> present;
  for (unsigned bit = 0; bit < HEADER_FEATURES; ++bit) {
    if ((bits[bit / 64] >> (bit % 64) & 1u) != 0) present.push_back(bit);
  }
  const auto table = section_bytes({table_offset, present.size() * kSectionEntry}, "feature table");
  ByteReader reader(table, order_);
  for (const unsigned bit : present) {
    const FileSection section = read_section(reader);
    if (reader.failed()) return;
    if (section.size > kLargestFeature) {
      fault(section.offset, fmt::format("feature section {} of {} bytes", bit, section.size),
            fmt::format("{}", kLargestFeature), kRecordAgain);
      continue;
    }
    const auto content = section_bytes(section, fmt::format("feature section {}", bit));
    auto problem = parse_feature(bit, content, order_, features_);
    if (!problem.empty()) fault(section.offset, std::move(problem), "", kRecordAgain);
  }
}

void Recording::adopt_event_names() {
  std::map<std::uint64_t, std::size_t> by_id;
  for (std::size_t i = 0; i < features_.events.size(); ++i) {
    for (const std::uint64_t id : features_.events[i].ids) by_id.emplace(id, i);
  }
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    auto& attribute = attributes_[i];
    const EventDescription* description = nullptr;
    for (const std::uint64_t id : attribute.ids) {
      if (const auto found = by_id.find(id); found != by_id.end()) {
        description = &features_.events[found->second];
        break;
      }
    }
    // Without ids the descriptions stand in the order of the attributes.
    if (description == nullptr && features_.events.size() == attributes_.size()) {
      description = &features_.events[i];
    }
    if (description == nullptr) continue;
    if (!description->name.empty()) attribute.name = description->name;
    if (attribute.ids.empty()) attribute.ids = description->ids;
  }
}

bool Recording::fill(std::size_t size) {
  if (buffer_end_ - buffer_begin_ >= size) return true;
  if (buffer_.empty()) buffer_.resize(kBuffer);
  std::memmove(buffer_.data(), buffer_.data() + buffer_begin_, buffer_end_ - buffer_begin_);
  buffer_end_ -= buffer_begin_;
  buffer_begin_ = 0;
  const std::uint64_t left = data_end_ - read_position_;
  const auto room =
      static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size() - buffer_end_));
  const std::size_t got = read_at({buffer_.data() + buffer_end_, room}, read_position_);
  buffer_end_ += got;
  read_position_ += got;
  return buffer_end_ - buffer_begin_ >= size;
}

bool Recording::next(Record& record) {
  if (ended_) return false;
  const auto position = [this] { return read_position_ - (buffer_end_ - buffer_begin_); };
  if (!fill(kRecordHeader)) {
    ended_ = true;
    const std::size_t left = buffer_end_ - buffer_begin_;
    if (left > 0) {
      return stop(position(), fmt::format("{} bytes behind the last record", left), "whole records",
                  kRecordAgain);
    }
    if (read_position_ < data_end_) {
      return stop(position(), "the end of the file", fmt::format("records up to {:#x}", data_end_),
                  "it became shorter while it was read");
    }
    return false;
  }
  const std::uint64_t offset = position();
  ByteReader reader({buffer_.data() + buffer_begin_, kRecordHeader}, order_);
  record.type = reader.u32();
  record.misc = reader.u16();
  const std::uint16_t size = reader.u16();
  record.offset = offset;
  if (size < kRecordHeader) {
    return stop(offset, fmt::format("a record of {} bytes", size),
                fmt::format("at least {}", kRecordHeader), kRecordAgain);
  }
  if (!fill(size)) {
    return stop(offset, fmt::format("a record of {} bytes", size),
                fmt::format("{} up to the end of the records", buffer_end_ - buffer_begin_),
                kRecordAgain);
  }
  record.body = {buffer_.data() + buffer_begin_ + kRecordHeader, size - kRecordHeader};
  buffer_begin_ += size;
  const bool compressed =
      record.type == PERF_RECORD_COMPRESSED || record.type == PERF_RECORD_COMPRESSED2;
  if (compressed && !met_compressed_) {
    met_compressed_ = true;
    fault(offset, "compressed records (perf record -z)", "uncompressed ones",
          "unpack them with: perf inject -i RECORDING -o perf.data");
  }
  if (record.type == PERF_RECORD_AUXTRACE) {
    // The trace itself stands behind its record and is not part of the record's size.
    ByteReader body(record.body, order_);
    const std::uint64_t trace = body.u64();
    const std::uint64_t buffered = buffer_end_ - buffer_begin_;
    if (body.failed() || trace > buffered + (data_end_ - read_position_)) {
      return stop(
          offset, fmt::format("an AUX trace of {} bytes", trace),
          fmt::format("{} up to the end of the records", buffered + (data_end_ - read_position_)),
          kRecordAgain);
    }
    buffer_begin_ += static_cast<std::size_t>(std::min(trace, buffered));
    read_position_ += trace - std::min(trace, buffered);
  }
  return true;
}

}  // namespace skid::perfdata
