#include "src/perfdata/metadata.h"

#include <utility>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

/// perf's own names of events are shorter than a line.
constexpr std::size_t kLongestEventName = 1024;

/// PERF_RECORD_HEADER_ATTR: a perf_event_attr, which contains its own size, and the ids of the
/// event.
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

/// PERF_RECORD_EVENT_UPDATE, of which only the name matters here.
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

/// PERF_RECORD_HEADER_BUILD_ID.
std::string take_build_id(const Record& record, ByteOrder order, Metadata& metadata) {
  if (record.body.size() > kMostBuildIdBytes - metadata.build_id_bytes_from_records) {
    return fmt::format("build-ids of more than {} bytes", kMostBuildIdBytes);
  }
  metadata.build_id_bytes_from_records += record.body.size();
  return parse_build_id(record.body, record.misc, order, metadata.features);
}

/// PERF_RECORD_HEADER_FEATURE.
TakenMetadata take_feature(const Record& record, ByteOrder order, Metadata& metadata) {
  ByteReader reader(record.body, order);
  const std::uint64_t number = reader.u64();
  if (reader.failed()) return {MetadataChange::none, "a feature record without a feature"};
  if (number >= HEADER_FEATURES) return {};  // of a later perf
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

}  // namespace

void adopt_event_descriptions(Metadata& metadata) {
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
    // Without ids the descriptions are in the order of the attributes.
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

}  // namespace skid::perfdata
