#include "src/locate/replay.h"

#include "src/locate/mapping_name.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace skid::locate {

using perfdata::Record;

static_assert(perfdata::kKernelSpace == symbols::AddressSpaces::kKernel);

namespace {

/// Returns the space that was changed; nullopt for none.
std::optional<std::int32_t> enter_mapping(perfdata::MappingRecord& mapping, perfdata::CpuMode mode,
                                          std::uint64_t time, symbols::AddressSpaces& spaces) {
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
        spaces.set_kernel_reference({std::move(name.reference), mapping.page_offset});
      }
      // perf knows the file of a module from the build-ids that it noted at the end, or not at all.
      if (!name.is_kernel && !mapping.build_id.empty()) {
        name.dso = kernel_dso_name({std::move(name.dso), {}});
      }
      spaces.map(time, symbols::AddressSpaces::kKernel, range, mapping.page_offset,
                 {std::move(name.dso), std::move(mapping.build_id)});
      return symbols::AddressSpaces::kKernel;
    }
    default:
      spaces.map(time, mapping.pid, range, mapping.page_offset,
                 {user_mapping_name(mapping), std::move(mapping.build_id)});
      return mapping.pid;
  }
}

}  // namespace

Replayed replay(const Record& record, const perfdata::SampleDecoder& decoder,
                symbols::AddressSpaces& spaces, std::int32_t* changed) {
  const auto entered = [changed](std::int32_t space) {
    if (changed != nullptr) *changed = space;
    return Replayed::entered;
  };
  switch (record.type) {
    case perfdata::PERF_RECORD_MMAP:
    case perfdata::PERF_RECORD_MMAP2: {
      auto mapping = perfdata::parse_mapping(record, decoder.order());
      if (!mapping) return Replayed::too_short;
      const auto space = enter_mapping(*mapping, record.mode(), decoder.time_of(record), spaces);
      return space ? entered(*space) : Replayed::nothing;
    }
    case perfdata::PERF_RECORD_FORK: {
      const auto task = perfdata::parse_task(record, decoder.order());
      if (!task) return Replayed::too_short;
      if (task->listed || task->pid == task->parent_pid) return Replayed::nothing;
      spaces.fork(decoder.time_of(record), task->parent_pid, task->pid);
      return entered(task->pid);
    }
    case perfdata::PERF_RECORD_COMM: {
      const auto comm = perfdata::parse_comm(record, decoder.order());
      if (!comm) return Replayed::too_short;
      if (!comm->exec) return Replayed::nothing;
      spaces.exec(decoder.time_of(record), comm->pid);
      return entered(comm->pid);
    }
    default:
      return Replayed::nothing;
  }
}

void replay_build_ids(const perfdata::Features& features, symbols::AddressSpaces& spaces) {
  for (const auto& entry : features.build_ids) spaces.set_build_id(entry.path, entry.build_id);
}

bool has_space(perfdata::SampleKind kind) {
  return kind.mode() == perfdata::CpuMode::kernel || kind.mode() == perfdata::CpuMode::user;
}

std::optional<symbols::FileLocation> locate(const symbols::AddressSpaces& spaces,
                                            perfdata::SampleKind kind, std::int32_t space,
                                            std::uint64_t ip, std::uint64_t time) {
  if (!has_space(kind)) return std::nullopt;
  return spaces.resolve(space, ip, time);
}

symbols::AddressSpaces read_address_spaces(perfdata::Recording& recording) {
  symbols::AddressSpaces spaces;
  Record record;
  while (recording.next(record)) {
    if (replay(record, recording.decoder(), spaces) == Replayed::too_short) {
      recording.add_short_record(record);
    }
  }
  replay_build_ids(recording.features(), spaces);
  spaces.seal();
  return spaces;
}

}  // namespace skid::locate
