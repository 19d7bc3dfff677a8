#include "src/perfdata/features.h"

#include "src/perfdata/byte_writer.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/feature_sections.h"
#include "src/support/byte_order.h"
#include "src/support/byte_reader.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::perfdata {
namespace {

/// Returns references to the members of a structure in the order of the section.
template <typename Value>
auto members_of(Value& value) {
  using Type = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<Type, CpuCounts>) {
    return std::tie(value.available, value.online);
  } else if constexpr (std::is_same_v<Type, NamedPmuCapabilities>) {
    return std::tie(value.capabilities, value.pmu);
  } else if constexpr (std::is_same_v<Type, GroupDescription>) {
    return std::tie(value.name, value.leader, value.members);
  } else if constexpr (std::is_same_v<Type, Compression>) {
    return std::tie(value.version, value.type, value.level, value.ratio, value.mmap_bytes);
  } else if constexpr (std::is_same_v<Type, ClockReference>) {
    return std::tie(value.clockid, value.time_of_day_ns, value.clock_ns);
  } else {
    return std::tie(value.first, value.second);
  }
}

/// Reads a number, a text, the members of a structure, or a list: a count and its elements. A list
/// replaces `to`. Memory grows with the elements that are read, so that any count is safe. If the
/// section ends inside an element, that element is left out and the reader fails; it also fails
/// after kMostElements. An optional value other than a list is set only if it is complete.
template <typename Value>
void read(ByteReader& in, Value& to) {
  if constexpr (std::is_same_v<Value, std::string>) {
    to = in.counted_text();
  } else if constexpr (std::is_integral_v<Value>) {
    to = in.number<Value>();
  } else if constexpr (requires { to.push_back({}); }) {
    const std::uint32_t count = in.u32();
    to.clear();
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
      if (i == kMostElements) return in.fail();
      typename Value::value_type element;
      read(in, element);
      if (!in.failed()) to.push_back(std::move(element));
    }
  } else if constexpr (std::is_same_v<Value, std::optional<PmuCapabilities>>) {
    read(in, to.emplace());
  } else if constexpr (requires { to.has_value(); }) {
    typename Value::value_type value;
    read(in, value);
    if (!in.failed()) to = value;
  } else {
    std::apply([&](auto&... member) { (read(in, member), ...); }, members_of(to));
  }
}

/// Writes a value in the form that `read` reads. An optional value must be set.
template <typename Value>
void write(ByteWriter& out, const Value& from) {
  if constexpr (std::is_same_v<Value, std::string>) {
    out.counted_text(from);
  } else if constexpr (std::is_integral_v<Value>) {
    out.number(from);
  } else if constexpr (requires { from.size(); }) {
    out.u32(static_cast<std::uint32_t>(from.size()));
    for (const auto& element : from) write(out, element);
  } else if constexpr (requires { from.has_value(); }) {
    if (from) write(out, *from);  // a damaged section has none
  } else {
    std::apply([&](const auto&... member) { (write(out, member), ...); }, members_of(from));
  }
}

void parse_event_descriptions(ByteReader& reader, Features& features) {
  const std::uint32_t count = reader.u32();
  const std::uint32_t attribute_size = reader.u32();
  features.events.clear();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    const auto attribute = parse_attribute(reader.take(attribute_size), reader.order());
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

/// Reads a sequence of struct perf_record_header_build_id.
void parse_build_ids(ByteReader& reader, Features& features) {
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
    if (!reader.failed()) (void)parse_build_id(body, misc, reader.order(), features);
  }
}

bool is_all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

/// Reads names and values, each terminated by a NUL, up to the end of the section or the padding of
/// pipe mode (system/extras/simpleperf/record_file_format.h). No name is empty.
void parse_meta_info(ByteReader& reader, Features& features) {
  constexpr std::uint64_t kLongestPadding =
      7;  // NULs, the first of which was read as an empty name
  features.meta_info.clear();
  while (reader.remaining() > 0 && features.meta_info.size() < kMostElements) {
    std::string name(reader.terminated_text());
    if (name.empty()) {
      const auto padding =
          reader.take(std::min<std::uint64_t>(reader.remaining(), kLongestPadding - 1));
      if (!is_all_zero(padding) || reader.remaining() > 0) reader.fail();
      return;
    }
    std::string value(reader.terminated_text());
    if (!reader.failed()) features.meta_info.emplace_back(std::move(name), std::move(value));
  }
  if (reader.remaining() > 0) reader.fail();
}

void parse_tracing_data_section(ByteReader& reader, Features& features) {
  const auto content = reader.take(reader.remaining());
  features.tracing_data.assign(content.begin(), content.end());
}

void parse_cpu_topology(ByteReader& reader, Features& features) {
  std::vector<std::string> sockets;
  read(reader, sockets);
  read(reader, features.cores);
}

void parse_clock_reference(ByteReader& reader, Features& features) {
  constexpr std::uint32_t kKnownVersion = 1;
  if (reader.u32() == kKnownVersion) read(reader, features.clock_reference);
}

void write_event_descriptions(ByteWriter& out, const Features& features) {
  const auto count_of = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  out.u32(count_of(features.events)).u32(kWrittenAttribute);
  for (const EventDescription& event : features.events) {
    out.raw(encode_attribute(event.attribute, &event == features.events.data()));
    out.u32(count_of(event.ids)).counted_text(event.name);
    for (const std::uint64_t id : event.ids) out.u64(id);
  }
}

/// How sections of one kind are read and written.
struct Form {
  unsigned bit;
  std::string_view name;
  void (*read)(ByteReader&, Features&) = nullptr;         ///< null: not needed, or without content
  void (*write)(ByteWriter&, const Features&) = nullptr;  ///< null: never written
};

/// Returns the form of a section whose content is the value of one member.
template <auto Member>
constexpr Form form(unsigned bit, std::string_view name) {
  return {bit, name, [](ByteReader& in, Features& to) { read(in, to.*Member); },
          [](ByteWriter& out, const Features& from) { write(out, from.*Member); }};
}

/// The forms of all kinds, in ascending order of bits.
constexpr auto kForms = std::to_array<Form>({
    {HEADER_TRACING_DATA, "TRACING_DATA", parse_tracing_data_section},
    {HEADER_BUILD_ID, "BUILD_ID", parse_build_ids},
    form<&Features::hostname>(HEADER_HOSTNAME, "HOSTNAME"),
    form<&Features::os_release>(HEADER_OSRELEASE, "OSRELEASE"),
    form<&Features::perf_version>(HEADER_VERSION, "VERSION"),
    form<&Features::arch>(HEADER_ARCH, "ARCH"),
    form<&Features::cpu_counts>(HEADER_NRCPUS, "NRCPUS"),
    form<&Features::cpu_description>(HEADER_CPUDESC, "CPUDESC"),
    form<&Features::cpuid>(HEADER_CPUID, "CPUID"),
    form<&Features::total_memory_kib>(HEADER_TOTAL_MEM, "TOTAL_MEM"),
    form<&Features::command_line>(HEADER_CMDLINE, "CMDLINE"),
    {HEADER_EVENT_DESC, "EVENT_DESC", parse_event_descriptions, write_event_descriptions},
    {HEADER_CPU_TOPOLOGY, "CPU_TOPOLOGY", parse_cpu_topology},
    {HEADER_NUMA_TOPOLOGY, "NUMA_TOPOLOGY"},
    {HEADER_BRANCH_STACK, "BRANCH_STACK"},
    form<&Features::pmu_mappings>(HEADER_PMU_MAPPINGS, "PMU_MAPPINGS"),
    form<&Features::groups>(HEADER_GROUP_DESC, "GROUP_DESC"),
    {HEADER_AUXTRACE, "AUXTRACE"},
    {HEADER_STAT, "STAT"},
    {HEADER_CACHE, "CACHE"},
    form<&Features::sample_time>(HEADER_SAMPLE_TIME, "SAMPLE_TIME"),
    {HEADER_MEM_TOPOLOGY, "MEM_TOPOLOGY"},
    form<&Features::clock_resolution_ns>(HEADER_CLOCKID, "CLOCKID"),
    form<&Features::directory_version>(HEADER_DIR_FORMAT, "DIR_FORMAT"),
    {HEADER_BPF_PROG_INFO, "BPF_PROG_INFO"},
    {HEADER_BPF_BTF, "BPF_BTF"},
    form<&Features::compression>(HEADER_COMPRESSED, "COMPRESSED"),
    form<&Features::cpu_pmu_capabilities>(HEADER_CPU_PMU_CAPS, "CPU_PMU_CAPS"),
    {HEADER_CLOCK_DATA, "CLOCK_DATA", parse_clock_reference},
    {HEADER_HYBRID_TOPOLOGY, "HYBRID_TOPOLOGY"},
    form<&Features::pmu_capabilities>(HEADER_PMU_CAPS, "PMU_CAPS"),
    {HEADER_CPU_DOMAIN_INFO, "CPU_DOMAIN_INFO"},
    {HEADER_E_MACHINE, "E_MACHINE"},
    {HEADER_CLN_SIZE, "CLN_SIZE"},
    // Android's simpleperf, system/extras/simpleperf/record_file_format.h.
    {HEADER_SIMPLEPERF, "FILE"},
    {HEADER_SIMPLEPERF_META_INFO, "META_INFO", parse_meta_info},
    {HEADER_SIMPLEPERF + 2, "DEBUG_UNWIND"},
    {HEADER_SIMPLEPERF + 3, "DEBUG_UNWIND_FILE"},
    {HEADER_SIMPLEPERF + 4, "FILE2"},
    {HEADER_SIMPLEPERF + 5, "ETM_BRANCH_LIST"},
    {HEADER_SIMPLEPERF + 6, "INIT_MAP"},
});

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
    // perf before 5.11 pads shorter digests (16 bytes of MD5 or UUID, 8 of xxHash) with zeros.
    constexpr std::size_t kWord = 4;
    while (digest > 0 && is_all_zero(field.subspan(digest - kWord, kWord))) digest -= kWord;
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
  if (const Form* form = find_by(kForms, &Form::bit, bit);
      form != nullptr && form->read != nullptr) {
    form->read(reader, features);
  }
  if (!reader.failed()) return {};
  return fmt::format("feature section {} of {} bytes that ends inside its content",
                     name_of_feature(bit), content.size());
}

std::vector<FeatureSection> encode_features(const Features& features) {
  std::vector<FeatureSection> sections;
  for (const Form& form : kForms) {
    if (form.write == nullptr || !features.present.test(form.bit)) continue;
    ByteWriter content;
    form.write(content, features);
    if (!content.bytes().empty()) sections.push_back({form.bit, content.bytes()});
  }
  return sections;
}

std::string name_of_feature(unsigned bit) {
  const Form* form = find_by(kForms, &Form::bit, bit);
  return form == nullptr ? fmt::format("feature {}", bit) : std::string(form->name);
}

void refuse_corrected(const Features& features, const std::string& file,
                      const std::string& remedy) {
  if (!contains(features.perf_version, kCorrectedMark)) return;
  throw InputError({.file = file,
                    .found = "samples that were corrected before",
                    .expected = "a recording as perf made it",
                    .remedy = remedy});
}

}  // namespace skid::perfdata
