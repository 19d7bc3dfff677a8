#include "src/perfdata/sample.h"

#include "src/perfdata/branch_entry.h"
#include "src/support/byte_reader.h"

#include <algorithm>
#include <bit>
#include <string>

#include <linux/perf_event.h>

namespace skid::perfdata {
namespace {

constexpr std::uint16_t kWord = sizeof(std::uint64_t);

/// Returns the bytes of `count` elements of `element` bytes each; fails if fewer remain.
std::span<const std::byte> counted(ByteReader& reader, std::uint64_t count, std::uint64_t element) {
  if (count > reader.remaining() / element) {
    reader.fail();
    return {};
  }
  return reader.take(count * element);
}

/// Returns the registers in `mask`, after the word that states their ABI; fails if it is none that
/// is known. Kernels may come to write more after the registers, which further bits would state.
std::span<const std::byte> registers(ByteReader& reader, std::uint64_t mask) {
  const std::uint64_t abi = reader.u64();
  if (abi == PERF_SAMPLE_REGS_ABI_NONE) return {};  // no registers follow
  if (abi > PERF_SAMPLE_REGS_ABI_64) reader.fail();
  return counted(reader, static_cast<std::uint64_t>(std::popcount(mask)), kWord);
}

}  // namespace

SampleLayout::SampleLayout(const Attribute& attribute) {
  const auto field = [&](std::uint64_t bit, std::uint16_t* offset) {
    if (!attribute.has(bit)) return;
    if (offset != nullptr) *offset = size;
    size = static_cast<std::uint16_t>(size + kWord);
  };
  // The order of the fields in a sample, which is not that of the bits.
  field(PERF_SAMPLE_IDENTIFIER, &id);
  field(PERF_SAMPLE_IP, &ip);
  field(PERF_SAMPLE_TID, &tid);
  field(PERF_SAMPLE_TIME, &time);
  field(PERF_SAMPLE_ADDR, &addr);
  field(PERF_SAMPLE_ID, &id);
  field(PERF_SAMPLE_STREAM_ID, nullptr);
  field(PERF_SAMPLE_CPU, &cpu);
  field(PERF_SAMPLE_PERIOD, &period);
}

SampleDecoder::SampleDecoder(std::span<const Attribute> attributes, ByteOrder order)
    : order_(order) {
  for (const Attribute& attribute : attributes) add(attribute);
}

void SampleDecoder::add(const Attribute& attribute) {
  const auto index = static_cast<std::uint32_t>(attributes_.size());
  Attribute& kept = attributes_.emplace_back(attribute);
  kept.ids = {};
  kept.name = {};
  layouts_.emplace_back(attribute);
  for (const std::uint64_t id : attribute.ids) ids_.add(id, index);
  if (attribute.has(PERF_SAMPLE_TIME)) has_times_ = true;
  // Events with IDENTIFIER have the id at the start. All other events of one recording have the
  // same sample_type, because perf could not identify their samples otherwise. Samples without an
  // id belong to the first event, as in perf; all samples do if a single event has no recorded ids.
  if (attributes_.size() == 1 && ids_.empty()) return;
  id_offset_ = attributes_.front().has(PERF_SAMPLE_IDENTIFIER) ? 0 : layouts_.front().id;
}

std::optional<std::uint32_t> SampleDecoder::attribute_of(const Record& record) const {
  if (attributes_.empty()) return std::nullopt;
  if (id_offset_ == SampleLayout::kAbsent) return 0;
  if (record.body.size() < id_offset_ + sizeof(std::uint64_t))
    return 0;  // too short, as decode() will find
  return ids_.find(ByteReader(record.body.subspan(id_offset_), order_).u64());
}

SampleId SampleDecoder::sample_id(const Record& record) const {
  if (attributes_.empty()) return {};
  const Attribute* attribute = &attributes_.front();
  // The trailers of events may differ, too; with IDENTIFIER the last word is the id.
  if (attributes_.size() > 1 && attribute->has(PERF_SAMPLE_IDENTIFIER) &&
      record.body.size() >= kWord) {
    const auto id = ids_.find(ByteReader(record.body.last(kWord), order_).u64());
    if (id) attribute = &attributes_[*id];
  }
  return parse_sample_id(record, *attribute, order_);
}

std::uint64_t SampleDecoder::time_of(const Record& record) const {
  return has_times_ ? sample_id(record).time.value_or(0) : record.position;
}

SampleDecoder::Decoded SampleDecoder::decode(const Record& record) const {
  Decoded decoded;
  const auto attribute = attribute_of(record);
  if (!attribute) {
    decoded.problem = Problem::unknown_id;
    return decoded;
  }
  const SampleLayout& layout = layouts_[*attribute];
  if (record.body.size() < layout.size) {
    decoded.problem = Problem::too_short;
    return decoded;
  }
  const auto word = [&](std::uint16_t offset) -> std::uint64_t {
    if (offset == SampleLayout::kAbsent) return 0;
    return ByteReader(record.body.subspan(offset), order_).u64();
  };
  Sample& sample = decoded.sample;
  sample.attribute = *attribute;
  sample.mode = record.mode();
  sample.exact = (record.misc & PERF_RECORD_MISC_EXACT_IP) != 0;
  sample.ip = word(layout.ip);
  sample.time = word(layout.time);
  sample.addr = word(layout.addr);
  sample.id = word(layout.id);
  sample.period = word(layout.period);
  const Attribute& of_sample = attributes_[*attribute];
  // As in perf (evsel__parse_sample() in tools/perf/util/evsel.c), but no frequency for a period.
  if (layout.period == SampleLayout::kAbsent && !of_sample.frequency) {
    sample.period = of_sample.period_or_frequency;
  }
  if (layout.tid != SampleLayout::kAbsent) {
    ByteReader reader(record.body.subspan(layout.tid), order_);
    sample.pid = reader.i32();
    sample.tid = reader.i32();
  }
  if (layout.cpu != SampleLayout::kAbsent) {
    sample.cpu = ByteReader(record.body.subspan(layout.cpu), order_).u32();
  }
  return decoded;
}

std::optional<SampleDetails> SampleDecoder::details(const Record& record,
                                                    const Sample& sample) const {
  const Attribute& attribute = attributes_[sample.attribute];
  ByteReader reader(record.body, order_);
  reader.skip(layouts_[sample.attribute].size);
  SampleDetails details;
  if (attribute.has(PERF_SAMPLE_READ)) {
    details.counters = record.body.subspan(layouts_[sample.attribute].size);
    const bool is_group = (attribute.read_format & PERF_FORMAT_GROUP) != 0;
    read_counters(reader, attribute.read_format, [&](CounterValue counter) {
      // A value outside of a group may lack the id.
      const bool may_lack = !is_group && (sample.id == 0 || counter.id == 0);
      if (details.counter || (counter.id != sample.id && !may_lack)) return;
      if (counter.id == 0) counter.id = sample.id;
      details.counter = counter;
    });
  }
  if (attribute.has(PERF_SAMPLE_CALLCHAIN)) {
    details.callchain = counted(reader, reader.u64(), kWord);
  }
  if (attribute.has(PERF_SAMPLE_RAW)) details.raw = reader.take(reader.u32());
  if (attribute.has(PERF_SAMPLE_BRANCH_STACK)) {
    const std::uint64_t entries = reader.u64();
    if ((attribute.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) reader.skip(kWord);
    details.branch_stack = counted(reader, entries, kBranchEntry);
    if ((attribute.branch_sample_type & PERF_SAMPLE_BRANCH_COUNTERS) != 0) {
      counted(reader, entries, kWord);
    }
  }
  if (attribute.has(PERF_SAMPLE_REGS_USER)) {
    details.user_registers = registers(reader, attribute.sample_regs_user);
  }
  if (attribute.has(PERF_SAMPLE_STACK_USER)) {
    const std::uint64_t size = reader.u64();
    reader.skip(size);
    if (size != 0) reader.skip(kWord);  // how many of these bytes are used
  }
  const auto skip_words = [&](std::uint64_t fields) {
    const auto words = std::popcount(attribute.sample_type & fields);
    reader.skip(static_cast<std::uint64_t>(words) * kWord);
  };
  if ((attribute.sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) != 0) {
    details.weight = reader.u64();
  }
  if (attribute.has(PERF_SAMPLE_DATA_SRC)) details.data_source = reader.u64();
  skip_words(PERF_SAMPLE_TRANSACTION);
  if (attribute.has(PERF_SAMPLE_REGS_INTR)) {
    details.interrupt_registers = registers(reader, attribute.sample_regs_intr);
  }
  if (attribute.has(PERF_SAMPLE_PHYS_ADDR)) details.physical_address = reader.u64();
  skip_words(PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
  if (attribute.has(PERF_SAMPLE_AUX)) reader.skip(reader.u64());
  if (reader.failed()) return std::nullopt;
  return details;
}

}  // namespace skid::perfdata
