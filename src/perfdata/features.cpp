#include "src/perfdata/features.h"

#include "src/perfdata/feature_list.h"
#include "src/support/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

void parse_event_descriptions(ByteReader& reader, ByteOrder order, Features& features) {
  const std::uint32_t count = reader.u32();
  const std::uint32_t attribute_size = reader.u32();
  features.events.clear();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    const auto attribute = parse_attribute(reader.take(attribute_size), order);
    const std::uint32_t ids = reader.u32();
    std::string name(reader.counted_text());
    if (!attribute || reader.failed() || ids > reader.remaining() / sizeof(std::uint64_t)) {
      reader.fail();
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
  while (reader.remaining() > 0 && !reader.failed()) {
    reader.skip(4);  // type: always 0 or HEADER_BUILD_ID
    const std::uint16_t misc = reader.u16();
    const std::uint16_t size = reader.u16();
    if (size < kHeader) {
      reader.fail();
      return;
    }
    const auto body = reader.take(size - kHeader);
    if (!reader.failed()) (void)parse_build_id(body, misc, order, features);
  }
}

void parse_pmu_mappings(ByteReader& reader, Features& features) {
  read_list(reader, reader.u32(), features.pmu_mappings, [](ByteReader& mapping) {
    const std::uint32_t type = mapping.u32();
    return std::pair(type, std::string(mapping.counted_text()));
  });
}

void read_pmu_capabilities(ByteReader& reader, PmuCapabilities& capabilities) {
  read_list(reader, reader.u32(), capabilities, [](ByteReader& capability) {
    std::string name(capability.counted_text());
    return std::pair(std::move(name), std::string(capability.counted_text()));
  });
}

void parse_groups(ByteReader& reader, Features& features) {
  read_list(reader, reader.u32(), features.groups, [](ByteReader& group) {
    GroupDescription description;
    description.name = group.counted_text();
    description.leader = group.u32();
    description.members = group.u32();
    return description;
  });
}

/// Names and values, each ended by a NUL, to the end of the section or the padding of pipe mode
/// (system/extras/simpleperf/record_file_format.h). No name is empty.
void parse_meta_info(ByteReader& reader, Features& features) {
  constexpr std::uint64_t kLongestPadding = 7;  // NULs, of which the empty name has one
  features.meta_info.clear();
  while (reader.remaining() > 0 && features.meta_info.size() < kMostElements) {
    std::string name(reader.terminated_text());
    if (name.empty()) {
      const auto padding =
          reader.take(std::min<std::uint64_t>(reader.remaining(), kLongestPadding - 1));
      const bool is_padding = std::all_of(padding.begin(), padding.end(),
                                          [](std::byte byte) { return byte == std::byte{0}; });
      if (!is_padding || reader.remaining() > 0) reader.fail();
      return;
    }
    std::string value(reader.terminated_text());
    if (!reader.failed()) features.meta_info.emplace_back(std::move(name), std::move(value));
  }
  if (reader.remaining() > 0) reader.fail();
}

/// Keeps a value that the section contains in full. Braces around reads keep their order.
template <typename Value>
void keep(const ByteReader& reader, const Value& value, std::optional<Value>& kept) {
  if (!reader.failed()) kept = value;
}

/// Sections on the machine. False when the bit is none of them.
bool parse_machine_feature(unsigned bit, ByteReader& reader, Features& features) {
  switch (bit) {
    case HEADER_HOSTNAME:
      features.hostname = reader.counted_text();
      return true;
    case HEADER_OSRELEASE:
      features.os_release = reader.counted_text();
      return true;
    case HEADER_ARCH:
      features.arch = reader.counted_text();
      return true;
    case HEADER_NRCPUS:
      keep(reader, CpuCounts{reader.u32(), reader.u32()}, features.cpu_counts);
      return true;
    case HEADER_CPUDESC:
      features.cpu_description = reader.counted_text();
      return true;
    case HEADER_CPUID:
      features.cpuid = reader.counted_text();
      return true;
    case HEADER_TOTAL_MEM:
      keep(reader, reader.u64(), features.total_memory_kib);
      return true;
    case HEADER_CPU_TOPOLOGY: {
      std::vector<std::string> sockets;
      read_texts(reader, sockets);
      read_texts(reader, features.cores);
      return true;
    }
    case HEADER_PMU_MAPPINGS:
      parse_pmu_mappings(reader, features);
      return true;
    case HEADER_CPU_PMU_CAPS:
      read_pmu_capabilities(reader, features.cpu_pmu_capabilities.emplace());
      return true;
    case HEADER_PMU_CAPS:
      read_list(reader, reader.u32(), features.pmu_capabilities, [](ByteReader& pmu) {
        NamedPmuCapabilities named;
        read_pmu_capabilities(pmu, named.capabilities);
        named.pmu = pmu.counted_text();
        return named;
      });
      return true;
    default:
      return false;
  }
}

/// Sections on the recording. HEADER_BRANCH_STACK and HEADER_STAT have no content; HEADER_AUXTRACE
/// and those of BPF are not needed.
void parse_recording_feature(unsigned bit, ByteReader& reader, ByteOrder order,
                             Features& features) {
  switch (bit) {
    case HEADER_TRACING_DATA: {
      const auto content = reader.take(reader.remaining());
      features.tracing_data.assign(content.begin(), content.end());
      break;
    }
    case HEADER_VERSION:
      features.perf_version = reader.counted_text();
      break;
    case HEADER_CMDLINE:
      read_texts(reader, features.command_line);
      break;
    case HEADER_EVENT_DESC:
      parse_event_descriptions(reader, order, features);
      break;
    case HEADER_BUILD_ID:
      parse_build_ids(reader, order, features);
      break;
    case HEADER_GROUP_DESC:
      parse_groups(reader, features);
      break;
    case HEADER_SAMPLE_TIME:
      keep(reader, std::pair{reader.u64(), reader.u64()}, features.sample_time);
      break;
    case HEADER_CLOCKID:
      keep(reader, reader.u64(), features.clock_resolution_ns);
      break;
    case HEADER_DIR_FORMAT:
      keep(reader, reader.u64(), features.directory_version);
      break;
    case HEADER_SIMPLEPERF_META_INFO:
      parse_meta_info(reader, features);
      break;
    case HEADER_COMPRESSED:
      keep(reader,
           Compression{reader.u32(), reader.u32(), reader.u32(), reader.u32(), reader.u32()},
           features.compression);
      break;
    case HEADER_CLOCK_DATA:
      if (constexpr std::uint32_t kKnownVersion = 1; reader.u32() != kKnownVersion) break;
      keep(reader, ClockReference{reader.u32(), reader.u64(), reader.u64()},
           features.clock_reference);
      break;
    default:
      break;
  }
}

}  // namespace

std::string parse_build_id(std::span<const std::byte> body, std::uint16_t misc, ByteOrder order,
                           Features& features) {
  constexpr std::size_t kDigestField = 24;  // 20 bytes of digest, its size, 3 of padding
  constexpr std::size_t kSha1 = 20;
  ByteReader reader(body, order);
  BuildId entry;
  entry.pid = reader.i32();
  const auto field = reader.take(kDigestField);
  entry.path = std::string(reader.text());
  if (reader.failed()) return fmt::format("a build-id in {} bytes", body.size());
  std::size_t digest = kSha1;
  if ((misc & PERF_RECORD_MISC_BUILD_ID_SIZE) != 0) {
    digest = std::min<std::size_t>(std::to_integer<std::size_t>(field[kSha1]), kSha1);
  } else {
    // perf before 5.11 fills shorter ones (16 bytes of MD5 or UUID, 8 of xxHash) with zeros.
    constexpr std::size_t kWord = 4;
    const auto ends_with_zeros = [&] {
      const auto word = field.subspan(digest - kWord, kWord);
      return std::all_of(word.begin(), word.end(),
                         [](std::byte one) { return one == std::byte{}; });
    };
    while (digest > 0 && ends_with_zeros()) digest -= kWord;
  }
  entry.build_id = hexadecimal(field.first(digest));
  const auto mode = static_cast<CpuMode>(misc & PERF_RECORD_MISC_CPUMODE_MASK);
  entry.guest = mode == CpuMode::guest_kernel || mode == CpuMode::guest_user;
  features.build_ids.push_back(std::move(entry));
  return {};
}

std::string parse_feature(unsigned bit, std::span<const std::byte> content, ByteOrder order,
                          Features& features) {
  if (bit < features.present.size()) {
    features.present.set(bit);
    features.section_bytes[bit] = content.size();
  }
  ByteReader reader(content, order);
  if (!parse_machine_feature(bit, reader, features)) {
    parse_recording_feature(bit, reader, order, features);
  }
  if (!reader.failed()) return {};
  return fmt::format("feature section {} of {} bytes that ends inside its content",
                     name_of_feature(bit), content.size());
}

}  // namespace skid::perfdata
