#include "src/perfdata/attribute.h"

#include "src/perfdata/byte_writer.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/generic_event.h"
#include "src/support/byte_reader.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::perfdata {
namespace {

/// The flags that are read and written, by their bit in perf_event_attr.
constexpr std::array<std::pair<unsigned, bool Attribute::*>, 9> kFlags{
    {{4, &Attribute::exclude_user},
     {5, &Attribute::exclude_kernel},
     {6, &Attribute::exclude_hypervisor},
     {10, &Attribute::frequency},
     {18, &Attribute::sample_id_all},
     {19, &Attribute::exclude_host},
     {20, &Attribute::exclude_guest},
     {25, &Attribute::use_clockid},
     {31, &Attribute::aux_output}}};
constexpr unsigned kInherit = 1, kWatermark = 14, kPreciseIp = 15;

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
  for (const auto& [bit, member] : kFlags) attribute.*member = flag(bit);
  attribute.inherit = flag(kInherit);
  attribute.precise_ip = bit_field(flags, order, kPreciseIp, 2);
  const std::uint32_t wakeup = reader.u32();
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
  std::uint64_t flags = std::uint64_t{attribute.precise_ip} << kPreciseIp;
  const auto set = [&flags](unsigned bit) { flags |= std::uint64_t{1} << bit; };
  for (const unsigned bit : {0U, kInherit, 12U}) set(bit);  // disabled, inherit, enable_on_exec
  if (is_first) {
    // mmap, comm, task, mmap2, comm_exec
    for (const unsigned bit : {8U, 9U, 13U, 23U, 24U}) set(bit);
  }
  for (const auto& [bit, member] : kFlags) {
    if (attribute.*member) set(bit);
  }
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
  const std::string_view name = generic_name(attribute.type, attribute.config);
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
