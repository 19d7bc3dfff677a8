#include "src/perfdata/spe_samples.h"

#include "src/perfdata/attribute.h"
#include "src/perfdata/byte_writer.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/sample.h"
#include "src/support/byte_reader.h"
#include "src/support/text.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include <linux/perf_event.h>

namespace skid::perfdata {
namespace {

/// Largest number of bytes of a record: that of PMSIDR_EL1.MaxSize (2 KiB).
constexpr std::size_t kLargestRecord = std::size_t{2} << 10;

/// Maximum number of threads, and of context switches, that are kept: 100 MB. Bounds memory for
/// compressed recordings.
constexpr std::size_t kMostThreads = std::size_t{1} << 19, kMostSwitches = std::size_t{1} << 22;

/// Fields of the trailers of other records, which samples have, too.
constexpr std::uint64_t kTrailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
constexpr std::uint64_t kOfRecord = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW |
                                    PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
                                    PERF_SAMPLE_PHYS_ADDR;

/// Returns the last entry of a map for `first` whose time is not after `time`; null if there is
/// none.
template <typename Map, typename First>
const typename Map::mapped_type* last_before(const Map& map, First first, std::uint64_t time) {
  const auto after = map.upper_bound({first, time});
  const bool is_any = after != map.begin() && std::prev(after)->first.first == first;
  return is_any ? &std::prev(after)->second : nullptr;
}

CpuMode mode_of(const SpeRecord& record) {
  if (record.exception_level == 0) return CpuMode::user;
  return *record.pc >> 63 != 0 ? CpuMode::kernel : CpuMode::hypervisor;
}

}  // namespace

std::uint64_t TimeConversion::time_of(std::uint64_t counter) const noexcept {
  if (is_short) counter = cycles + ((counter - cycles) & mask);
  constexpr std::uint64_t kMostShift = 63;
  const std::uint64_t bits = std::min(shift, kMostShift);
  const std::uint64_t rest = counter & ((std::uint64_t{1} << bits) - 1);
  return zero + (counter >> bits) * multiplier + (rest * multiplier >> bits);
}

std::optional<TimeConversion> parse_time_conversion(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  TimeConversion clock;
  clock.shift = reader.u64();
  clock.multiplier = reader.u64();
  clock.zero = reader.u64();
  if (reader.failed()) return std::nullopt;
  // Since Linux 5.9.
  clock.cycles = reader.u64();
  clock.mask = reader.u64();
  reader.skip(1);  // cap_user_time_zero
  clock.is_short = reader.u8() != 0;
  return clock;
}

std::optional<AuxData> parse_aux_data(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  AuxData data{.position = record.position};
  data.size = reader.u64();
  data.aux_offset = reader.u64();
  reader.skip(12);  // reference, idx
  data.tid = reader.i32();
  data.cpu = reader.u32();
  return reader.failed() ? std::nullopt : std::optional(data);
}

std::uint64_t spe_sample_type(std::uint64_t sample_type) {
  return (sample_type & (kTrailer | PERF_SAMPLE_PERIOD)) | kOfRecord;
}

void SpeSamples::set_task(Task task, std::uint64_t time) {
  const auto* known = last_before(processes_, task.tid, time);
  if (known != nullptr && *known == task.pid) return;
  if (processes_.size() >= kMostThreads) {
    has_room_ = false;
  } else {
    processes_[{task.tid, time}] = task.pid;
  }
}

void SpeSamples::switch_to(Task task, std::uint32_t cpu, std::uint64_t time) {
  if (switch_count_ >= kMostSwitches) {
    has_room_ = false;
    return;
  }
  ++switch_count_;
  is_sorted_ = false;
  switches_[cpu].push_back({time, task});
}

/// Returns the thread that was switched onto a CPU last; null: none was.
const SpeSamples::Task* SpeSamples::running_on(std::uint32_t cpu, std::uint64_t time) {
  if (!std::exchange(is_sorted_, true)) {
    for (auto& [of_cpu, switches] : switches_) {
      std::ranges::stable_sort(switches, {}, &Switch::time);
    }
  }
  const auto found = switches_.find(cpu);
  if (found == switches_.end()) return nullptr;
  const auto after = std::ranges::upper_bound(found->second, time, {}, &Switch::time);
  return after == found->second.begin() ? nullptr : &std::prev(after)->task;
}

bool SpeSamples::take_info(const Record& record, ByteOrder order,
                           std::vector<Attribute>& attributes) {
  constexpr std::uint32_t kArmSpe = 4;     // PERF_AUXTRACE_ARM_SPE
  constexpr std::uint64_t kVersion1 = 16;  // bytes: the type of the PMU, and a flag
  ByteReader reader(record.body, order);
  // perf writes one; others would only need memory.
  if (reader.u32() != kArmSpe || !types_.empty()) return false;
  reader.skip(4);
  const bool is_version_1 = reader.remaining() == kVersion1;
  const std::uint64_t first = reader.u64(), header = reader.u64();
  types_.insert(is_version_1 ? first : reader.u64());
  if (!is_version_1) {
    constexpr std::uint64_t kRead = 3;  // numbers of the header that were read
    reader.skip(header < kRead ? 0 : (header - kRead) * sizeof(std::uint64_t));
    while (reader.remaining() > 0) {
      reader.skip(sizeof(std::uint64_t));  // magic number
      const std::uint64_t cpu = reader.u64(), numbers = reader.u64();
      ByteReader of_cpu(reader.take(numbers * sizeof(std::uint64_t)), order);
      const std::uint64_t midr = of_cpu.u64(), type = of_cpu.u64();
      if (of_cpu.failed() || reader.failed()) break;
      cpus_[static_cast<std::uint32_t>(cpu)] = {midr, type};
      types_.insert(type);
    }
  }
  bool is_any = false;
  for (Attribute& attribute : attributes) {
    if (!types_.contains(attribute.type)) continue;
    attribute.sample_type = spe_sample_type(attribute.sample_type);
    is_any = true;
  }
  return is_any;
}

bool SpeSamples::take(const Record& record, const SampleDecoder& decoder) {
  if (record.position < next_) return true;
  next_ = record.position + 1;
  if (record.type == PERF_RECORD_TIME_CONV) {
    if (const auto clock = parse_time_conversion(record, decoder.order())) clock_ = clock;
    return true;
  }
  if (types_.empty() || record.type >= PERF_RECORD_HEADER_ATTR) return true;
  const std::uint64_t time = decoder.has_times() ? decoder.time_of(record) : 0;
  last_time_ = std::max(last_time_, time);
  ByteReader body(record.body, decoder.order());
  switch (record.type) {
    case PERF_RECORD_FORK: {
      const auto task = parse_task(record, decoder.order());
      if (task) set_task({task->pid, task->tid}, time);
      break;
    }
    case PERF_RECORD_COMM:
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_ITRACE_START: {
      const Task task{body.i32(), body.i32()};
      // perf gives the kernel's mappings pid -1.
      if (!body.failed() && task.pid != -1) set_task(task, time);
      if (record.type != PERF_RECORD_ITRACE_START) break;
      [[fallthrough]];
    }
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE: {
      if ((record.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0) break;
      const SampleId in = decoder.sample_id(record);
      if (in.cpu && in.tid) switch_to({in.pid.value_or(-1), *in.tid}, *in.cpu, time);
      break;
    }
    default:
      break;
  }
  return has_room_ || std::exchange(is_told_, true);
}

void SpeSamples::add(const AuxData& data) {
  // When the recording is read again, the data is known.
  if (!data_.empty() && data.position <= data_.back().position) return;
  data_.push_back(data);
  data_.back().time = last_time_;
}

void SpeSamples::rewind() {
  at_ = 0;
  stream_.reset();
  counts_ = {};
}

void SpeSamples::open(ByteStream stream) {
  stream_ = std::move(stream);
  context_.reset();
  malformed_ = 0;
}

std::optional<bool> SpeSamples::read_record() {
  const AuxData& data = data_[at_];
  record_ = {};
  packets_.clear();
  bool is_whole = true;
  for (;;) {
    stream_->fill(kLargestSpePacket);
    const auto bytes = stream_->buffered();
    const std::uint64_t at = stream_->position() - data.stored;
    if (bytes.empty()) {
      if (packets_.empty() && is_whole) return std::nullopt;
      return false;
    }
    // An alignment can extend past what is buffered.
    const bool may_align = bytes.size() > 1 && (bytes[0] & std::byte{0xfc}) == std::byte{0x20};
    if (may_align && bytes[1] == std::byte{0}) stream_->fill(ByteStream::kLargestFill);
    const auto rest = stream_->buffered();
    const SpePacket packet = parse_spe_packet(rest, data.aux_offset + at);
    const bool is_first = packets_.empty() && is_whole;
    if (packet.type == SpePacket::Type::malformed) {
      if (malformed_++ == 0) first_malformed_ = data.offset + at;
      ++counts_.malformed;
      is_whole = false;
    } else if (packet.type == SpePacket::Type::truncated) {
      is_whole = false;
    } else if (packet.type != SpePacket::Type::padding) {
      if (is_first) record_offset_ = data.offset + at;
      if (packets_.size() + packet.size > kLargestRecord) is_whole = false;
      if (is_whole) {
        packets_.insert(packets_.end(), rest.begin(),
                        rest.begin() + static_cast<std::ptrdiff_t>(packet.size));
        record_.add(packet);
      }
    }
    stream_->consume(packet.size);
    if (packet.type == SpePacket::Type::end || packet.type == SpePacket::Type::timestamp) {
      return is_whole && record_.pc;
    }
  }
}

const Attribute* SpeSamples::attribute_of(const AuxData& data,
                                          const std::vector<Attribute>& attributes) const {
  const auto cpu = cpus_.find(data.cpu);
  const auto found = std::ranges::find_if(attributes, [&](const Attribute& attribute) {
    return cpu != cpus_.end() ? attribute.type == cpu->second.pmu_type
                              : types_.contains(attribute.type);
  });
  return found == attributes.end() ? nullptr : &*found;
}

bool SpeSamples::next(const std::vector<Attribute>& attributes, const Features& features,
                      ByteOrder order, Record& record) {
  const AuxData& data = data_[at_];
  const Attribute* const attribute = attribute_of(data, attributes);
  const auto cpu = cpus_.find(data.cpu);
  const std::uint64_t midr =
      cpu != cpus_.end() ? cpu->second.midr : hexadecimal_number(features.cpuid).value_or(0);
  while (const auto is_complete = attribute != nullptr ? read_record() : std::nullopt) {
    if (record_.context) context_ = static_cast<std::int32_t>(*record_.context);
    if (!*is_complete) {
      ++counts_.incomplete;
      continue;
    }
    ++counts_.records;
    write_sample(*attribute, midr, order);
    record.type = PERF_RECORD_SAMPLE;
    record.misc = static_cast<std::uint16_t>(mode_of(record_));
    record.offset = record_offset_;
    record.body = std::as_bytes(std::span(body_));
    return true;
  }
  stream_.reset();
  ++at_;
  return false;
}

/// Returns the task of the record, by its context packet, the context switches of its CPU, or the
/// thread of its buffer.
SpeSamples::Task SpeSamples::task_of(std::optional<std::uint64_t> time) {
  const AuxData& data = data_[at_];
  Task task{-1, data.tid};
  if (context_) {
    task.tid = *context_;
  } else if (const Task* running = running_on(data.cpu, time.value_or(UINT64_MAX))) {
    return *running;
  }
  if (const auto* pid = last_before(processes_, task.tid, time.value_or(UINT64_MAX))) {
    task.pid = *pid;
  }
  if (task.tid == 0) task.pid = 0;  // the idle task
  return task;
}

/// Writes the body of the sample into `body_`.
void SpeSamples::write_sample(const Attribute& attribute, std::uint64_t midr, ByteOrder order) {
  const AuxData& data = data_[at_];
  std::optional<std::uint64_t> time;
  if (record_.timestamp && clock_) time = clock_->time_of(*record_.timestamp);
  if (!time && data.time != 0) time = data.time;
  const Task task = task_of(time);
  const std::uint64_t id = attribute.ids.empty() ? 0 : attribute.ids.front();
  ByteWriter body(order);
  const auto word = [&](std::uint64_t field, std::uint64_t value) {
    if (attribute.has(field)) body.u64(value);
  };
  word(PERF_SAMPLE_IDENTIFIER, id);
  word(PERF_SAMPLE_IP, *record_.pc);
  if (attribute.has(PERF_SAMPLE_TID)) body.i32(task.pid).i32(task.tid);
  word(PERF_SAMPLE_TIME, time.value_or(0));
  word(PERF_SAMPLE_ADDR, record_.data_address.value_or(0));
  word(PERF_SAMPLE_ID, id);
  word(PERF_SAMPLE_STREAM_ID, id);
  if (attribute.has(PERF_SAMPLE_CPU)) body.u32(data.cpu).u32(0);
  word(PERF_SAMPLE_PERIOD, attribute.period_or_frequency);
  // The payload is padded, so that the fields after it are aligned; zeros are padding packets.
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t size =
      (packets_.size() + sizeof(std::uint32_t) + kWord - 1) / kWord * kWord - sizeof(std::uint32_t);
  packets_.resize(size);
  body.u32(static_cast<std::uint32_t>(size));
  body.raw({reinterpret_cast<const char*>(packets_.data()), packets_.size()});
  word(PERF_SAMPLE_WEIGHT, record_.total_latency.value_or(0));
  word(PERF_SAMPLE_DATA_SRC, data_source_of(record_, midr));
  word(PERF_SAMPLE_PHYS_ADDR, record_.physical_address.value_or(0));
  body_ = body.bytes();
}

}  // namespace skid::perfdata
