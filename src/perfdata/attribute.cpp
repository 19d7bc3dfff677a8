#include "src/perfdata/attribute.h"

#include "src/perfdata/byte_writer.h"
#include "src/perfdata/bytes.h"
#include "src/support/byte_reader.h"
#include "src/support/text.h"

#include <string_view>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::perfdata {
namespace {

constexpr std::string_view kHardwareNames =
    "cycles instructions cache-references cache-misses branches branch-misses bus-cycles "
    "stalled-cycles-frontend stalled-cycles-backend ref-cycles";
constexpr std::string_view kSoftwareNames =
    "cpu-clock task-clock page-faults context-switches cpu-migrations minor-faults major-faults "
    "alignment-faults emulation-faults dummy bpf-output cgroup-switches";

/// Returns perf's modifiers of an event, ":u" or ":ppH"; empty for perf's default. Events that
/// exclude a mode or have a precise level exclude guests by default; perf omits modifiers that
/// equal the default.
std::string modifiers_of(const Attribute& attribute) {
  const bool limited =
      attribute.exclude_kernel || attribute.exclude_user || attribute.exclude_hypervisor;
  const bool default_exclude_guest = limited || attribute.precise_ip > 0;
  std::string modifiers;
  if (limited) {
    if (!attribute.exclude_kernel) modifiers += 'k';
    if (!attribute.exclude_user) modifiers += 'u';
    if (!attribute.exclude_hypervisor) modifiers += 'h';
  }
  modifiers.append(attribute.precise_ip, 'p');
  if (attribute.exclude_host || attribute.exclude_guest == default_exclude_guest) {
    if (!attribute.exclude_host) modifiers += 'H';
    if (!attribute.exclude_guest) modifiers += 'G';
  }
  return modifiers.empty() ? modifiers : ":" + modifiers;
}

}  // namespace

bool Attribute::is_dummy() const noexcept {
  return type == PERF_TYPE_SOFTWARE &&
         (config == PERF_COUNT_SW_DUMMY || config == PERF_COUNT_SW_BPF_OUTPUT);
}

bool Attribute::is_only_counted() const noexcept {
  return has(PERF_SAMPLE_READ) && (read_format & PERF_FORMAT_GROUP) != 0 &&
         period_or_frequency == 0;
}

std::optional<Attribute> parse_attribute(std::span<const std::byte> bytes, ByteOrder order) {
  if (bytes.size() < kSmallestAttribute) return std::nullopt;
  ByteReader header(bytes, order);
  Attribute attribute;
  attribute.type = header.u32();
  // Bytes past the attribute's own size are not fields.
  const std::uint32_t size = header.u32();
  if (size >= kSmallestAttribute && size < bytes.size()) bytes = bytes.first(size);
  ByteReader reader(bytes, order);
  reader.skip(8);  // type, size
  attribute.config = reader.u64();
  attribute.period_or_frequency = reader.u64();
  attribute.sample_type = reader.u64();
  attribute.read_format = reader.u64();
  const std::uint64_t flags = reader.u64();
  const auto flag = [&](unsigned bit) { return bit_field(flags, order, bit) != 0; };
  attribute.inherit = flag(1);
  attribute.exclude_user = flag(4);
  attribute.exclude_kernel = flag(5);
  attribute.exclude_hypervisor = flag(6);
  attribute.frequency = flag(10);
  attribute.precise_ip = bit_field(flags, order, 15, 2);
  attribute.sample_id_all = flag(18);
  attribute.exclude_host = flag(19);
  attribute.exclude_guest = flag(20);
  attribute.use_clockid = flag(25);
  attribute.aux_output = flag(31);
  const std::uint32_t wakeup = reader.u32();
  constexpr unsigned kWatermark = 14;
  if (!flag(kWatermark)) attribute.wakeup_events = wakeup;
  attribute.bp_type = reader.u32();
  attribute.config1 = reader.u64();
  // From here on the attribute may be too short; the reader gives zeros then.
  attribute.config2 = reader.u64();
  attribute.branch_sample_type = reader.u64();
  attribute.sample_regs_user = reader.u64();
  reader.skip(8);  // sample_stack_user, clockid
  attribute.sample_regs_intr = reader.u64();
  reader.skip(8);  // aux_watermark, sample_max_stack
  const std::uint32_t aux_sample_size = reader.u32(), aux_action = reader.u32();
  constexpr std::uint32_t kPauseOrResume = 6;  // of x86, whose byte order is little
  attribute.aux_action = aux_sample_size != 0 || (aux_action & kPauseOrResume) != 0;
  attribute.name = describe_event(attribute);
  return attribute;
}

std::string encode_attribute(const Attribute& attribute, bool is_first) {
  const auto bit = [](unsigned position, bool set) { return std::uint64_t{set} << position; };
  constexpr unsigned kPreciseIp = 15;
  const std::uint64_t flags =
      bit(0, true) | bit(1, true) |  // disabled, inherit
      bit(4, attribute.exclude_user) | bit(5, attribute.exclude_kernel) |
      bit(6, attribute.exclude_hypervisor) | bit(8, is_first) |                // mmap
      bit(9, is_first) | bit(10, attribute.frequency) | bit(12, true) |        // comm, on exec
      bit(13, is_first) | std::uint64_t{attribute.precise_ip} << kPreciseIp |  // task
      bit(18, attribute.sample_id_all) | bit(19, attribute.exclude_host) |
      bit(20, attribute.exclude_guest) | bit(23, is_first) |
      bit(24, is_first) |  // mmap2, comm_exec
      bit(25, attribute.use_clockid) | bit(31, attribute.aux_output);
  ByteWriter body;
  body.u32(attribute.type).u32(kWrittenAttribute).u64(attribute.config);
  body.u64(attribute.period_or_frequency).u64(attribute.sample_type).u64(attribute.read_format);
  body.u64(flags)
      .u32(attribute.wakeup_events)
      .u32(attribute.bp_type)
      .u64(attribute.config1)
      .u64(attribute.config2);
  body.u64(attribute.branch_sample_type).u64(attribute.sample_regs_user);
  body.u64(0).u64(attribute.sample_regs_intr);  // sample_stack_user, clockid
  std::string bytes = body.bytes();
  bytes.resize(kWrittenAttribute, '\0');
  return bytes;
}

std::string describe_event(const Attribute& attribute) {
  // Hybrid machines keep the PMU's number in the upper half of a generic event's config.
  const std::uint64_t generic = attribute.config & 0xffff'ffffu;
  std::string_view name;
  if (attribute.type == PERF_TYPE_HARDWARE) name = word_at(generic, kHardwareNames);
  if (attribute.type == PERF_TYPE_SOFTWARE) name = word_at(attribute.config, kSoftwareNames);
  if (!name.empty()) return std::string(name) + modifiers_of(attribute);
  if (attribute.type == PERF_TYPE_RAW) {
    return fmt::format("r{:x}{}", attribute.config, modifiers_of(attribute));
  }
  if (attribute.type == PERF_TYPE_BREAKPOINT) {
    return fmt::format("mem:{:#x}:{}{}{}{}", attribute.config1, (attribute.bp_type & 1u) ? "r" : "",
                       (attribute.bp_type & 2u) ? "w" : "", (attribute.bp_type & 4u) ? "x" : "",
                       modifiers_of(attribute));
  }
  return fmt::format("type {} config {:#x}", attribute.type, attribute.config);
}

}  // namespace skid::perfdata
