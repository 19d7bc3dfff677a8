#include "tests/support/recording_builder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {
namespace {

constexpr std::uint64_t kHeaderSize = 104;
constexpr std::uint64_t kSection = 16;

std::uint64_t bit_field(std::uint64_t value, unsigned first, unsigned width, bool big_endian) {
  return value << (big_endian ? 64 - first - width : first);
}

}  // namespace

std::string RecordingBuilder::attribute(const EventToBuild& event) const {
  auto out = writer();
  const std::uint64_t flags = bit_field(event.inherit ? 1 : 0, 1, 1, big_endian_) |
                              bit_field(event.precise_ip, 15, 2, big_endian_) |
                              bit_field(event.sample_id_all ? 1 : 0, 18, 1, big_endian_);
  out.u32(event.type).u32(attribute_size_).u64(event.config).u64(event.period);
  out.u64(event.sample_type).u64(event.read_format).u64(flags);
  out.u32(0).u32(event.breakpoint_type).u64(event.config1).u64(event.config2);  // wakeup first
  out.u64(event.branch_sample_type).u64(event.sample_regs_user);
  out.u32(0).u32(0).u64(event.sample_regs_intr);  // sample_stack_user, clockid
  std::string bytes = out.bytes();
  bytes.resize(std::max<std::size_t>(bytes.size(), 120), '\0');
  bytes.resize(attribute_size_, static_cast<char>(0xee));
  return bytes;
}

RecordingBuilder RecordingBuilder::with_off_cpu_times() {
  const std::uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                             PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
  RecordingBuilder builder;
  builder.event({.sample_type = type, .ids = {1}});
  builder.event({.config = PERF_COUNT_SW_BPF_OUTPUT, .sample_type = type, .ids = {2}});
  for (const std::uint64_t id : {1u, 2u, 2u, 1u, 2u}) {
    builder.record(
        PERF_RECORD_SAMPLE, 2,
        builder.writer().u64(id).u64(0x401000).i32(7).i32(7).u64(5).u64(1000 * id).bytes());
  }
  return builder;
}

std::string RecordingBuilder::event_description(std::string_view name,
                                                const std::vector<std::uint64_t>& ids) const {
  auto out = writer();
  out.u32(1).u32(64).raw(std::string(64, '\0')).u32(static_cast<std::uint32_t>(ids.size()));
  out.counted_text(name);
  for (const std::uint64_t id : ids) out.u64(id);
  return out.bytes();
}

std::string RecordingBuilder::build_id_entry(std::string_view path, std::string_view id,
                                             std::uint16_t misc, std::uint8_t size) const {
  auto body = writer(), out = writer();
  body.i32(-1).raw(id).u8(size).raw(std::string(3, '\0')).text(path);
  out.u32(0).u16(misc).u16(static_cast<std::uint16_t>(8 + body.bytes().size()));
  return out.raw(body.bytes()).bytes();
}

std::uint64_t RecordingBuilder::data_offset() const {
  std::uint64_t ids = 0;
  for (const auto& event : events_) ids += event.ids.size() * 8;
  return kHeaderSize + ids + events_.size() * (attribute_size_ + kSection);
}

std::string RecordingBuilder::bytes() const {
  std::uint64_t ids_size = 0;
  for (const auto& event : events_) ids_size += event.ids.size() * 8;
  const std::uint64_t attributes_at = kHeaderSize + ids_size;
  const std::uint64_t entry = attribute_size_ + kSection;

  auto out = writer();
  out.u64(0x32454c4946524550ULL).u64(kHeaderSize).u64(entry);
  out.u64(attributes_at).u64(events_.size() * entry);
  out.u64(data_offset()).u64(records_.size());
  out.u64(0).u64(0);  // event types
  std::array<std::uint64_t, 4> bits{};
  for (const auto& [bit, content] : features_) bits[bit / 64] |= std::uint64_t{1} << (bit % 64);
  for (const auto word : bits) out.u64(word);
  for (const auto& event : events_) {
    for (const auto id : event.ids) out.u64(id);
  }
  std::uint64_t ids_at = kHeaderSize;
  for (const auto& event : events_) {
    out.raw(attribute(event));
    out.u64(ids_at).u64(event.ids.size() * 8);
    ids_at += event.ids.size() * 8;
  }
  out.raw(records_);
  std::uint64_t content_at = data_offset() + records_.size() + features_.size() * kSection;
  for (const auto& [bit, content] : features_) {
    out.u64(content_at).u64(content.size());
    content_at += content.size();
  }
  for (const auto& [bit, content] : features_) out.raw(content);
  return out.bytes();
}

std::string RecordingBuilder::pipe_bytes() const {
  constexpr std::uint64_t kPipeHeaderSize = 16;
  const auto record = [this](std::uint32_t type, const std::string& body) {
    return writer().u32(type).u16(0).u16(static_cast<std::uint16_t>(body.size() + 8)).bytes() +
           body;
  };
  auto out = writer();
  out.u64(0x32454c4946524550ULL).u64(kPipeHeaderSize);
  for (const auto& event : events_) {
    auto ids = writer();
    for (const auto id : event.ids) ids.u64(id);
    out.raw(record(perfdata::PERF_RECORD_HEADER_ATTR, attribute(event) + ids.bytes()));
  }
  for (const auto& [bit, content] : features_) {
    out.raw(record(perfdata::PERF_RECORD_HEADER_FEATURE, writer().u64(bit).bytes() + content));
  }
  out.raw(records_);
  return out.bytes();
}

}  // namespace skid::test
