#include "src/perfdata/metadata.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

/// PERF_RECORD_HEADER_ATTR: a perf_event_attr, which tells its own size, and the ids of the event.
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
  while (reader.remaining() >= sizeof(std::uint64_t)) attribute->ids.push_back(reader.u64());
  metadata.attributes.push_back(std::move(*attribute));
  return {};
}

/// PERF_RECORD_EVENT_UPDATE, of which only the name matters here.
std::string take_update(const Record& record, ByteOrder order, Metadata& metadata, bool& changed) {
  constexpr std::uint64_t kName = 2;  // PERF_EVENT_UPDATE__NAME
  ByteReader reader(record.body, order);
  const std::uint64_t kind = reader.u64();
  const std::uint64_t id = reader.u64();
  const auto name = reader.text();
  if (reader.failed()) return "an event update that ends inside its fields";
  if (kind != kName || name.empty()) return {};
  for (auto& attribute : metadata.attributes) {
    if (std::find(attribute.ids.begin(), attribute.ids.end(), id) == attribute.ids.end()) continue;
    attribute.name = std::string(name);
    changed = true;
  }
  return {};
}

}  // namespace

void adopt_event_descriptions(Metadata& metadata) {
  const auto& events = metadata.features.events;
  std::map<std::uint64_t, std::size_t> by_id;
  for (std::size_t i = 0; i < events.size(); ++i) {
    for (const std::uint64_t id : events[i].ids) by_id.emplace(id, i);
  }
  for (std::size_t i = 0; i < metadata.attributes.size(); ++i) {
    auto& attribute = metadata.attributes[i];
    const EventDescription* description = nullptr;
    for (const std::uint64_t id : attribute.ids) {
      if (const auto found = by_id.find(id); found != by_id.end()) {
        description = &events[found->second];
        break;
      }
    }
    // Without ids the descriptions stand in the order of the attributes.
    if (description == nullptr && events.size() == metadata.attributes.size()) {
      description = &events[i];
    }
    if (description == nullptr) continue;
    if (!description->name.empty()) attribute.name = description->name;
    if (attribute.ids.empty()) attribute.ids = description->ids;
  }
}

std::string take_metadata(const Record& record, ByteOrder order, Metadata& metadata,
                          bool& changed) {
  std::string problem;
  switch (record.type) {
    case PERF_RECORD_HEADER_ATTR:
      problem = take_attribute(record, order, metadata);
      changed = problem.empty();
      break;
    case PERF_RECORD_EVENT_UPDATE:
      problem = take_update(record, order, metadata, changed);
      break;
    case PERF_RECORD_HEADER_FEATURE: {
      ByteReader reader(record.body, order);
      const std::uint64_t bit = reader.u64();
      if (reader.failed()) return "a feature record without a feature";
      if (bit >= HEADER_FEATURES) return {};  // of a later perf
      problem = parse_feature(static_cast<unsigned>(bit), reader.take(reader.remaining()), order,
                              metadata.features);
      if (bit == HEADER_EVENT_DESC) {
        adopt_event_descriptions(metadata);
        changed = true;
      }
      break;
    }
    case PERF_RECORD_HEADER_BUILD_ID:
      problem = parse_build_id(record.body, record.misc, order, metadata.features);
      break;
    default:
      break;
  }
  return problem;
}

}  // namespace skid::perfdata
