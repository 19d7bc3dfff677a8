#include "src/perfdata/metadata.h"

#include "src/perfdata/attribute.h"
#include "src/perfdata/fault_log.h"
#include "src/perfdata/feature_sections.h"
#include "src/perfdata/file_header.h"
#include "src/perfdata/format.h"
#include "src/perfdata/id_table.h"
#include "src/perfdata/record.h"
#include "src/support/byte_reader.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

/// Maximum length of an event's name; perf's own names are shorter than a line.
constexpr std::size_t kLongestEventName = 1024;

/// Takes a PERF_RECORD_HEADER_ATTR: a perf_event_attr, which contains its own size, and the ids of
/// the event. Returns what is wrong with it, or an empty string.
std::string take_attribute(const Record& record, ByteOrder order, Metadata& metadata) {
  if (metadata.attributes.size() >= kMostAttributes) {
    return fmt::format("more than {} event attributes", kMostAttributes);
  }
  ByteReader peek(record.body, order);
  peek.skip(4);  // type
  std::uint32_t size = peek.u32();
  if (size == 0) size = kSmallestAttribute;  // PERF_ATTR_SIZE_VER0, as the kernel reads it
  ByteReader reader(record.body, order);
  auto attribute = parse_attribute(reader.take(size), order);
  if (!attribute) {
    return fmt::format("an event attribute of {} bytes in a record of {}", size,
                       record.body.size());
  }
  const std::uint64_t ids = reader.remaining() / sizeof(std::uint64_t);
  if (ids > kMostIds - metadata.ids_from_records) {
    return fmt::format("an event attribute with {} ids after {} of other events, more than {}", ids,
                       metadata.ids_from_records, kMostIds);
  }
  metadata.ids_from_records += ids;
  attribute->ids.reserve(static_cast<std::size_t>(ids));
  while (attribute->ids.size() < ids) attribute->ids.push_back(reader.u64());
  metadata.attributes.push_back(std::move(*attribute));
  return {};
}

/// Takes a PERF_RECORD_EVENT_UPDATE, of which only the name is used.
std::string take_update(const Record& record, ByteOrder order, const IdTable& ids,
                        Metadata& metadata) {
  constexpr std::uint64_t kName = 2;  // PERF_EVENT_UPDATE__NAME
  ByteReader reader(record.body, order);
  const std::uint64_t kind = reader.u64();
  const std::uint64_t id = reader.u64();
  const auto name = reader.text();
  if (reader.failed()) return "an event update that ends inside its fields";
  if (kind != kName || name.empty()) return {};
  if (const auto index = ids.find(id)) {
    metadata.attributes[*index].name = std::string(name.substr(0, kLongestEventName));
  }
  return {};
}

/// Takes a PERF_RECORD_HEADER_BUILD_ID.
std::string take_build_id(const Record& record, ByteOrder order, Metadata& metadata) {
  if (record.body.size() > kMostBuildIdBytes - metadata.build_id_bytes_from_records) {
    return fmt::format("build-ids of more than {} bytes", kMostBuildIdBytes);
  }
  metadata.build_id_bytes_from_records += record.body.size();
  return parse_build_id(record.body, record.misc, order, metadata.features);
}

/// Takes a PERF_RECORD_HEADER_FEATURE.
TakenMetadata take_feature(const Record& record, ByteOrder order, Metadata& metadata) {
  ByteReader reader(record.body, order);
  const std::uint64_t number = reader.u64();
  if (reader.failed()) return {MetadataChange::none, "a feature record without a feature"};
  if (number >= HEADER_FEATURES) return {};  // of a later perf
  // perf marks the end of features with an empty one that has the number after its last
  // (HEADER_LAST_FEATURE in tools/perf/util/header.h), which a later perf may know by a name.
  if (reader.remaining() == 0) return {};
  const auto bit = static_cast<unsigned>(number);
  if (metadata.features.present.test(bit)) return {};
  TakenMetadata taken;
  taken.problem = parse_feature(bit, reader.take(reader.remaining()), order, metadata.features);
  if (bit == HEADER_EVENT_DESC) {
    adopt_event_descriptions(metadata);
    taken.change = MetadataChange::events_described;
  }
  return taken;
}

/// Reads the sections of a file and lists their faults.
class SectionReader {
 public:
  SectionReader(const FileDescriptor& file, std::uint64_t size, const std::filesystem::path& path,
                const FileHeader& header, FaultLog& faults)
      : file_(file), size_(size), path_(path), header_(header), faults_(faults) {}

  FileSections read() {
    read_attributes();
    if (metadata().attributes.empty()) {
      throw InputError({path_.string(), header_.attributes.offset, "no readable event attribute",
                        "at least one", kRecordAgain});
    }
    // The feature sections follow the records; their offset is not known if the end of the records
    // is not valid.
    if (find_records()) read_features();
    adopt_event_descriptions(metadata());
    return std::move(sections_);
  }

 private:
  Metadata& metadata() noexcept { return sections_.metadata; }

  void fault(std::uint64_t offset, std::string found, std::string expected,
             std::string remedy = kRecordAgain) {
    faults_.add(path_, offset, std::move(found), std::move(expected), std::move(remedy));
  }

  /// Returns the bytes of a section: fewer, and a fault, if it extends past the end of the file.
  std::vector<std::byte> bytes_of(FileSection section, const std::string& what) {
    const std::uint64_t available = section.offset < size_ ? size_ - section.offset : 0;
    if (section.size > available) {
      fault(section.offset, fmt::format("{} of {} bytes", what, section.size),
            fmt::format("{} up to the end of the file", available));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(section.size, available)));
    bytes.resize(read_at(file_, bytes, section.offset));
    return bytes;
  }

  void read_attributes() {
    constexpr std::uint64_t kSmallest = kSmallestAttribute + FileSection::kEntrySize;
    constexpr std::uint64_t kLargest = kLargestAttribute + FileSection::kEntrySize;
    const std::uint64_t entry_size = header_.attribute_entry_size;
    if (entry_size < kSmallest || entry_size > kLargest) {
      throw InputError({path_.string(), 16,
                        fmt::format("attribute entries of {} bytes", entry_size),
                        fmt::format("{} to {}", kSmallest, kLargest), kRecordAgain});
    }
    FileSection section = header_.attributes;
    if (section.size / entry_size > kMostAttributes) {
      fault(section.offset, fmt::format("{} event attributes", section.size / entry_size),
            fmt::format("at most {}", kMostAttributes));
      section.size = kMostAttributes * entry_size;
    }
    const auto bytes = bytes_of(section, "attribute section");
    // All id tables together cannot be larger than the file unless they overlap.
    std::uint64_t id_bytes_left = std::min(size_, kMostIds * sizeof(std::uint64_t));
    for (std::span<const std::byte> entries(bytes); entries.size() >= entry_size;
         entries = entries.subspan(static_cast<std::size_t>(entry_size))) {
      const std::uint64_t offset = section.offset + (bytes.size() - entries.size());
      const auto entry = entries.first(static_cast<std::size_t>(entry_size));
      auto attribute =
          parse_attribute(entry.first(entry.size() - FileSection::kEntrySize), header_.order);
      if (!attribute) break;  // not possible: the entry size was checked above
      ByteReader reader(entry.last(FileSection::kEntrySize), header_.order);
      FileSection ids = read_section(reader);
      if (ids.size > id_bytes_left) {
        fault(offset, fmt::format("an id table of {} bytes", ids.size),
              fmt::format("at most {}", id_bytes_left));
        ids.size = 0;
      }
      id_bytes_left -= ids.size;
      const auto id_bytes = bytes_of(ids, "id table");
      ByteReader id_reader(id_bytes, header_.order);
      while (id_reader.remaining() >= sizeof(std::uint64_t)) {
        attribute->ids.push_back(id_reader.u64());
      }
      metadata().attributes.push_back(std::move(*attribute));
    }
  }

  /// Finds the records. Returns whether their end matches the header.
  bool find_records() {
    const FileSection data = header_.data;
    sections_.records_begin = std::min(data.offset, size_);
    sections_.records_end = size_;
    if (data.offset > size_) {
      fault(data.offset, "records that begin past the end of the file",
            fmt::format("at most {:#x}", size_));
      return false;
    }
    if (data.size == 0 && data.offset < size_) {
      fault(data.offset, "a header that was never completed (perf did not end properly)", "",
            "records up to the end of the file are read");
      return false;
    }
    if (data.size > size_ - data.offset) {
      fault(data.offset,
            fmt::format("the file ends after {} bytes of records", size_ - data.offset),
            fmt::format("{} by its header", data.size));
      return false;
    }
    sections_.records_end = data.offset + data.size;
    return true;
  }

  void read_features() {
    const std::uint64_t table_offset = sections_.records_end;
    const auto table = bytes_of({table_offset, header_.features.size() * FileSection::kEntrySize},
                                "feature table");
    ByteReader reader(table, header_.order);
    // Sections that overlap must not make the same bytes be read again and again.
    std::uint64_t bytes_left = size_;
    for (const unsigned bit : header_.features) {
      const FileSection section = read_section(reader);
      if (reader.failed()) return;
      const std::uint64_t most = std::min(kLargestFeature, bytes_left);
      if (section.size > most) {
        fault(section.offset, fmt::format("feature section {} of {} bytes", bit, section.size),
              fmt::format("at most {}", most));
        continue;
      }
      bytes_left -= section.size;
      const auto content = bytes_of(section, fmt::format("feature section {}", bit));
      auto problem = parse_feature(bit, content, header_.order, metadata().features);
      if (!problem.empty()) fault(section.offset, std::move(problem), "");
    }
  }

  const FileDescriptor& file_;
  std::uint64_t size_;  ///< bytes of the file
  const std::filesystem::path& path_;
  const FileHeader& header_;
  FaultLog& faults_;
  FileSections sections_;
};

/// Names events as Android's simpleperf lists them, a line "NAME,TYPE,CONFIG" each
/// ("event_type_info" of META_INFO, system/extras/simpleperf/cmd_record.cpp).
void adopt_simpleperf_names(Metadata& metadata) {
  std::map<std::string_view, std::string_view> names;  // by ",TYPE,CONFIG"
  for (const auto& [key, value] : metadata.features.meta_info) {
    if (key != "event_type_info") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const auto config = line.rfind(',');
      if (config == line.npos || config == 0) continue;
      const auto type = line.rfind(',', config - 1);
      if (type == line.npos || type == 0) continue;
      names.emplace(line.substr(type), line.substr(0, std::min(type, kLongestEventName)));
    }
  }
  if (names.empty()) return;
  for (Attribute& attribute : metadata.attributes) {
    const auto known = names.find(fmt::format(",{},{}", attribute.type, attribute.config));
    if (known != names.end()) attribute.name = known->second;
  }
}

}  // namespace

void adopt_event_descriptions(Metadata& metadata) {
  adopt_simpleperf_names(metadata);
  const auto& events = metadata.features.events;
  IdTable by_id;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    for (const std::uint64_t id : events[i].ids) by_id.add(id, i);
  }
  for (std::size_t i = 0; i < metadata.attributes.size(); ++i) {
    auto& attribute = metadata.attributes[i];
    const EventDescription* description = nullptr;
    for (const std::uint64_t id : attribute.ids) {
      if (const auto found = by_id.find(id)) {
        description = &events[*found];
        break;
      }
    }
    // If there are no ids, the descriptions are in the order of the attributes.
    if (description == nullptr && events.size() == metadata.attributes.size()) {
      description = &events[i];
    }
    if (description == nullptr) continue;
    if (!description->name.empty()) attribute.name = description->name;
    if (attribute.ids.empty()) attribute.ids = description->ids;
  }
}

TakenMetadata take_metadata(const Record& record, ByteOrder order, const IdTable& ids,
                            Metadata& metadata) {
  switch (record.type) {
    case PERF_RECORD_HEADER_ATTR: {
      auto problem = take_attribute(record, order, metadata);
      if (!problem.empty()) return {MetadataChange::none, std::move(problem)};
      return {MetadataChange::attribute_added, {}};
    }
    case PERF_RECORD_EVENT_UPDATE:
      return {MetadataChange::none, take_update(record, order, ids, metadata)};
    case PERF_RECORD_HEADER_FEATURE:
      return take_feature(record, order, metadata);
    case PERF_RECORD_HEADER_BUILD_ID:
      return {MetadataChange::none, take_build_id(record, order, metadata)};
    default:
      return {};
  }
}

FileSections read_file_sections(const FileDescriptor& file, std::uint64_t size,
                                const std::filesystem::path& path, const FileHeader& header,
                                FaultLog& faults) {
  return SectionReader(file, size, path, header, faults).read();
}

}  // namespace skid::perfdata
