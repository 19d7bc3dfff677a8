#include "src/perfdata/features.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

/// perf writes strings as a u32 length (padded to 64 bytes) and the padded characters.
std::string counted_text(ByteReader& reader) {
  const std::uint32_t size = reader.u32();
  return std::string(reader.text(size));
}

void parse_command_line(ByteReader& reader, Features& features) {
  const std::uint32_t count = reader.u32();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    auto argument = counted_text(reader);
    if (!reader.failed()) features.command_line.push_back(std::move(argument));
  }
}

void parse_event_descriptions(ByteReader& reader, ByteOrder order, Features& features) {
  const std::uint32_t count = reader.u32();
  const std::uint32_t attribute_size = reader.u32();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    const auto attribute = parse_attribute(reader.take(attribute_size), order);
    const std::uint32_t ids = reader.u32();
    auto name = counted_text(reader);
    if (!attribute || reader.failed() || ids > reader.remaining() / sizeof(std::uint64_t)) {
      reader.skip(reader.remaining() + 1);  // marks the section as failed
      return;
    }
    EventDescription event{*attribute, std::move(name), {}};
    event.ids.reserve(ids);
    for (std::uint32_t k = 0; k < ids; ++k) event.ids.push_back(reader.u64());
    features.events.push_back(std::move(event));
  }
}

/// A sequence of struct perf_record_header_build_id.
void parse_build_ids(ByteReader& reader, ByteOrder order, Features& features) {
  constexpr std::size_t kHeader = 8;
  constexpr std::size_t kDigestField = 24;  // 20 bytes of digest, its size, 3 of padding
  constexpr std::size_t kSha1 = 20;
  while (reader.remaining() > 0 && !reader.failed()) {
    reader.skip(4);  // type: always 0 or HEADER_BUILD_ID
    const std::uint16_t misc = reader.u16();
    const std::uint16_t size = reader.u16();
    if (size < kHeader) {
      reader.skip(reader.remaining() + 1);
      return;
    }
    ByteReader body(reader.take(size - kHeader), order);
    if (reader.failed()) return;
    BuildId entry;
    entry.pid = body.i32();
    const auto field = body.take(kDigestField);
    entry.path = std::string(body.text());
    if (body.failed()) continue;
    std::size_t digest = kSha1;
    if ((misc & PERF_RECORD_MISC_BUILD_ID_SIZE) != 0) {
      digest = std::min<std::size_t>(std::to_integer<std::size_t>(field[kSha1]), kSha1);
    }
    entry.build_id = hexadecimal(field.first(digest));
    features.build_ids.push_back(std::move(entry));
  }
}

void parse_pmu_mappings(ByteReader& reader, Features& features) {
  const std::uint32_t count = reader.u32();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    const std::uint32_t type = reader.u32();
    auto name = counted_text(reader);
    if (!reader.failed()) features.pmu_mappings.emplace_back(type, std::move(name));
  }
}

}  // namespace

std::string parse_feature(unsigned bit, std::span<const std::byte> content, ByteOrder order,
                          Features& features) {
  if (bit < features.present.size()) features.present.set(bit);
  ByteReader reader(content, order);
  switch (bit) {
    case HEADER_HOSTNAME:
      features.hostname = counted_text(reader);
      break;
    case HEADER_OSRELEASE:
      features.os_release = counted_text(reader);
      break;
    case HEADER_VERSION:
      features.perf_version = counted_text(reader);
      break;
    case HEADER_ARCH:
      features.arch = counted_text(reader);
      break;
    case HEADER_CPUDESC:
      features.cpu_description = counted_text(reader);
      break;
    case HEADER_CPUID:
      features.cpuid = counted_text(reader);
      break;
    case HEADER_CMDLINE:
      parse_command_line(reader, features);
      break;
    case HEADER_EVENT_DESC:
      parse_event_descriptions(reader, order, features);
      break;
    case HEADER_BUILD_ID:
      parse_build_ids(reader, order, features);
      break;
    case HEADER_PMU_MAPPINGS:
      parse_pmu_mappings(reader, features);
      break;
    case HEADER_SAMPLE_TIME: {
      const std::uint64_t first = reader.u64();
      const std::uint64_t last = reader.u64();
      if (!reader.failed()) features.sample_time = {first, last};
      break;
    }
    default:
      break;
  }
  if (!reader.failed()) return {};
  return fmt::format("feature section {} of {} bytes that ends inside its content", bit,
                     content.size());
}

}  // namespace skid::perfdata
