#include "src/locate/replay.h"

#include "src/locate/mapping_name.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace skid::locate {

using perfdata::Record;

static_assert(perfdata::kKernelAddressSpace == symbols::AddressSpaces::kKernel);

std::optional<std::int32_t> Replay::enter_mapping(perfdata::MappingRecord& mapping,
                                                  perfdata::CpuMode mode, std::uint64_t time) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  AddressRange range{mapping.address,
                     mapping.address + std::min(mapping.length, kMost - mapping.address)};
  switch (mode) {
    case perfdata::CpuMode::guest_kernel:
    case perfdata::CpuMode::guest_user:
      return std::nullopt;  // a guest's addresses, under pids of the host
    case perfdata::CpuMode::kernel: {
      auto name = kernel_mapping_name(mapping.path);
      if (name.is_kernel && range == AddressRange{}) range.end = kMost;  // as old perf wrote it
      if (name.is_kernel && mapping.page_offset != 0) {
        spaces_.set_kernel_reference({std::move(name.reference), mapping.page_offset});
      }
      // perf knows the file of a module from the build-ids that it noted at the end, or not at all.
      if (!name.is_kernel && !mapping.build_id.empty()) {
        name.dso = kernel_dso_name({std::move(name.dso), {}});
      }
      spaces_.map(time, symbols::AddressSpaces::kKernel, range, mapping.page_offset,
                  {std::move(name.dso), std::move(mapping.build_id)});
      return symbols::AddressSpaces::kKernel;
    }
    default:
      spaces_.map(time, mapping.pid, range, mapping.page_offset,
                  {user_mapping_name(mapping), std::move(mapping.build_id)});
      return mapping.pid;
  }
}

/// Whether one more event may be entered. Notes the first that may not.
bool Replay::has_room(std::uint64_t offset) {
  if (offset < offset_) files_before_ += offset_;  // the next file of a directory
  offset_ = offset;
  const std::uint64_t most = most_bytes_ + kBytesAByte * (files_before_ + offset_);
  if (spaces_.bytes() < most) return true;
  if (!std::exchange(is_full_, true)) {
    recording_.add_fault(
        {recording_.path().string(), offset,
         fmt::format("mappings that take more than {} bytes of memory", most),
         fmt::format("{} and {} for each byte before them", most_bytes_, kBytesAByte),
         "the mappings, forks and execs after it were left out, and samples in them have no "
         "place"});
  }
  return false;
}

std::optional<std::int32_t> Replay::take(const Record& record) {
  const perfdata::SampleDecoder& decoder = recording_.decoder();
  const auto too_short = [&]() -> std::optional<std::int32_t> {
    recording_.add_short_record(record);
    return std::nullopt;
  };
  switch (record.type) {
    case perfdata::PERF_RECORD_MMAP:
    case perfdata::PERF_RECORD_MMAP2: {
      auto mapping = perfdata::parse_mapping(record, decoder.order());
      if (!mapping) return too_short();
      if (!has_room(record.offset)) return std::nullopt;
      return enter_mapping(*mapping, record.mode(), decoder.time_of(record));
    }
    case perfdata::PERF_RECORD_FORK: {
      const auto task = perfdata::parse_task(record, decoder.order());
      if (!task) return too_short();
      if (task->listed || task->pid == task->parent_pid || !has_room(record.offset))
        return std::nullopt;
      spaces_.fork(decoder.time_of(record), task->parent_pid, task->pid);
      return task->pid;
    }
    case perfdata::PERF_RECORD_COMM: {
      const auto comm = perfdata::parse_comm(record, decoder.order());
      if (!comm) return too_short();
      if (!comm->exec || !has_room(record.offset)) return std::nullopt;
      spaces_.exec(decoder.time_of(record), comm->pid);
      return comm->pid;
    }
    default:
      return std::nullopt;
  }
}

void Replay::seal() {
  const auto& known = recording_.features().build_ids;
  for (; build_ids_ < known.size(); ++build_ids_) {
    spaces_.set_build_id(known[build_ids_].path, known[build_ids_].build_id);
  }
  spaces_.seal();
}

bool has_address_space(perfdata::SampleKind kind) {
  return kind.mode() == perfdata::CpuMode::kernel || kind.mode() == perfdata::CpuMode::user;
}

std::optional<symbols::FileLocation> locate(const symbols::AddressSpaces& spaces,
                                            perfdata::SampleKind kind, std::int32_t address_space,
                                            std::uint64_t ip, std::uint64_t time) {
  if (!has_address_space(kind)) return std::nullopt;
  return spaces.resolve(address_space, ip, time);
}

symbols::AddressSpaces read_address_spaces(perfdata::Recording& recording) {
  symbols::AddressSpaces spaces;
  Replay replay(recording, spaces);
  Record record;
  while (recording.next(record)) replay.take(record);
  replay.seal();
  return spaces;
}

}  // namespace skid::locate
