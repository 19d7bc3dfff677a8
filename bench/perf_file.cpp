#include "bench/perf_file.h"

#include "src/perfdata/format.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <array>

#include <fmt/format.h>

namespace skid::bench {
namespace {

// struct perf_file_header, tools/perf/Documentation/perf.data-file-format.txt of the kernel.
constexpr std::uint64_t kMagic = 0x32454c4946524550;  // "PERFILE2"
constexpr std::uint64_t kHeader = 104;
constexpr std::size_t kAttributeEntry = 16, kAttributes = 24, kData = 40, kFeatureBits = 72;
constexpr std::uint64_t kSection = 16;  // offset, size
constexpr std::uint64_t kLargestTemplate = std::uint64_t{2} << 30U;

std::string section_of(const std::string& file, const std::filesystem::path& path,
                       std::size_t entry) {
  const auto offset = number_at<std::uint64_t>(file, entry);
  const auto size = number_at<std::uint64_t>(file, entry + sizeof offset);
  if (offset > file.size() || size > file.size() - offset) {
    throw Error(fmt::format("{}: a section reaches past the end", path.string()));
  }
  return file.substr(offset, size);
}

}  // namespace

PerfFile read_perf_file(const std::filesystem::path& path) {
  const std::string file = read_file(path, kLargestTemplate);
  if (file.size() < kHeader || number_at<std::uint64_t>(file, 0) != kMagic) {
    throw Error(fmt::format("{}: not a little-endian perf.data file", path.string()));
  }
  PerfFile result;
  result.records = section_of(file, path, kData);

  const auto entry_size = number_at<std::uint64_t>(file, kAttributeEntry);
  const std::string entries = section_of(file, path, kAttributes);
  if (entry_size < 64 + kSection) throw Error(fmt::format("{}: odd attributes", path.string()));
  const auto attributes_at = number_at<std::uint64_t>(file, kAttributes);
  for (std::uint64_t at = 0; at + entry_size <= entries.size(); at += entry_size) {
    Event event{entries.substr(at, entry_size - kSection), {}};
    const std::string ids = section_of(file, path, attributes_at + at + entry_size - kSection);
    for (std::size_t id = 0; id + sizeof(std::uint64_t) <= ids.size(); id += sizeof id) {
      event.ids.push_back(number_at<std::uint64_t>(ids, id));
    }
    result.events.push_back(std::move(event));
  }

  std::uint64_t entry = number_at<std::uint64_t>(file, kData) + result.records.size();
  for (unsigned bit = 0; bit < perfdata::HEADER_FEATURES; ++bit) {
    const std::size_t word = bit / 64;
    const auto bits = number_at<std::uint64_t>(file, kFeatureBits + word * sizeof(std::uint64_t));
    if ((bits >> bit % 64 & 1U) == 0) continue;
    result.features.emplace_back(bit, section_of(file, path, entry));
    entry += kSection;
  }
  return result;
}

PerfFileWriter::PerfFileWriter(const std::filesystem::path& path, const std::vector<Event>& events,
                               FeatureSections features)
    : path_(path), file_(path, std::ios::binary), features_(std::move(features)) {
  std::string ids;
  std::string entries;
  for (const Event& event : events) {
    entries += event.attribute;
    put<std::uint64_t>(entries, kHeader + ids.size());
    put<std::uint64_t>(entries, event.ids.size() * sizeof(std::uint64_t));
    for (const auto id : event.ids) put(ids, id);
  }
  std::array<std::uint64_t, 4> bits{};
  for (const auto& [bit, content] : features_) bits[bit / 64] |= std::uint64_t{1} << (bit % 64);

  data_offset_ = kHeader + ids.size() + entries.size();
  put(header_, kMagic);
  put(header_, kHeader);
  put<std::uint64_t>(header_, events.empty() ? 0 : entries.size() / events.size());
  put<std::uint64_t>(header_, kHeader + ids.size());
  put<std::uint64_t>(header_, entries.size());
  put(header_, data_offset_);
  put<std::uint64_t>(header_, 0);  // size of the records, set by finish()
  put<std::uint64_t>(header_, 0);  // event types, no longer written by perf
  put<std::uint64_t>(header_, 0);
  for (const auto word : bits) put(header_, word);
  file_ << header_ << ids << entries;
}

void PerfFileWriter::flush() {
  file_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  data_size_ += buffer_.size();
  buffer_.clear();
}

void PerfFileWriter::finish() {
  flush();
  std::string table;
  std::uint64_t offset = data_offset_ + data_size_ + features_.size() * kSection;
  for (const auto& [bit, content] : features_) {
    put(table, offset);
    put<std::uint64_t>(table, content.size());
    offset += content.size();
  }
  file_ << table;
  for (const auto& [bit, content] : features_) file_ << content;
  set_number(header_, kData + sizeof(std::uint64_t), data_size_);
  file_.seekp(0);
  file_ << header_;
  file_.close();
  if (!file_) throw Error(fmt::format("{}: cannot be written", path_.string()));
}

}  // namespace skid::bench
