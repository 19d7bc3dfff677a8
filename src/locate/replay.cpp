#include "src/locate/replay.h"

#include "src/perfdata/format.h"

#include <algorithm>
#include <limits>

namespace skid::locate {

using perfdata::Record;

RecordingClock::RecordingClock(const perfdata::Recording& recording)
    : order_(recording.byte_order()) {
  const auto& attributes = recording.attributes();
  has_times_ = std::any_of(attributes.begin(), attributes.end(), [](const auto& attribute) {
    return attribute.has(perfdata::PERF_SAMPLE_TIME);
  });
  if (!attributes.empty()) trailer_ = attributes.front();
}

std::uint64_t RecordingClock::time_of(const Record& record) const {
  if (!has_times_) return record.offset;
  const auto id = perfdata::parse_sample_id(record, trailer_, order_);
  return id.time.value_or(0);
}

std::uint64_t RecordingClock::time_of(const Record& record, const perfdata::Sample& sample) const {
  return has_times_ ? sample.time : record.offset;
}

bool replay(const Record& record, perfdata::ByteOrder order, const RecordingClock& clock,
            symbols::AddressSpaces& spaces) {
  switch (record.type) {
    case perfdata::PERF_RECORD_MMAP:
    case perfdata::PERF_RECORD_MMAP2: {
      auto mapping = perfdata::parse_mapping(record, order);
      if (!mapping) return false;
      const auto most = std::numeric_limits<std::uint64_t>::max() - mapping->address;
      const AddressRange range{mapping->address,
                               mapping->address + std::min(mapping->length, most)};
      spaces.map(clock.time_of(record), mapping->pid, range, mapping->page_offset,
                 {std::move(mapping->path), std::move(mapping->build_id)});
      return true;
    }
    case perfdata::PERF_RECORD_FORK: {
      const auto task = perfdata::parse_task(record, order);
      if (!task) return false;
      if (!task->listed) spaces.fork(clock.time_of(record), task->parent_pid, task->pid);
      return true;
    }
    case perfdata::PERF_RECORD_COMM: {
      const auto comm = perfdata::parse_comm(record, order);
      if (!comm) return false;
      if (comm->exec) spaces.exec(clock.time_of(record), comm->pid);
      return true;
    }
    default:
      return true;
  }
}

void replay_build_ids(const perfdata::Features& features, symbols::AddressSpaces& spaces) {
  for (const auto& entry : features.build_ids) spaces.set_build_id(entry.path, entry.build_id);
}

std::optional<std::int32_t> space_of(const perfdata::SampleKey& key) {
  switch (key.mode) {
    case perfdata::CpuMode::kernel:
      return symbols::AddressSpaces::kKernel;
    case perfdata::CpuMode::user:
      return key.pid;
    default:
      return std::nullopt;
  }
}

std::optional<symbols::FileLocation> locate(const symbols::AddressSpaces& spaces,
                                            const perfdata::SampleKey& key, std::uint64_t time) {
  const auto space = space_of(key);
  if (!space) return std::nullopt;
  return spaces.resolve(*space, key.ip, time);
}

symbols::AddressSpaces read_address_spaces(perfdata::Recording& recording) {
  symbols::AddressSpaces spaces;
  const RecordingClock clock(recording);
  Record record;
  while (recording.next(record)) {
    if (!replay(record, recording.byte_order(), clock, spaces)) recording.add_short_record(record);
  }
  replay_build_ids(recording.features(), spaces);
  spaces.seal();
  return spaces;
}

}  // namespace skid::locate
