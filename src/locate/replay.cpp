#include "src/locate/replay.h"

#include "src/locate/mapping_name.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/support/file_identity.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/thread_names.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::locate {

using perfdata::Record;

void Replay::enter_mapping(perfdata::MappingRecord& mapping, perfdata::CpuMode mode,
                           std::uint64_t time) {
  AddressRange range = AddressRange::of_size(mapping.address, mapping.length);
  switch (mode) {
    case perfdata::CpuMode::guest_kernel:
    case perfdata::CpuMode::guest_user:
      return;  // a guest's addresses, under pids of the host
    case perfdata::CpuMode::kernel: {
      auto name = kernel_mapping_name(mapping.path);
      if (name.is_kernel && range == AddressRange{})
        range.end = UINT64_MAX;  // as old perf wrote it
      if (name.is_kernel && mapping.page_offset != 0) {
        spaces_.set_kernel_reference({std::move(name.reference), mapping.page_offset});
      }
      // perf has the file of a module only from the build-ids that it noted at the end.
      if (!name.is_kernel && !mapping.build_id.empty()) {
        name.dso = kernel_dso_name({std::move(name.dso), {}});
      }
      // The page offset of the kernel is the address of its reference symbol.
      const std::uint64_t offset = name.is_kernel ? range.begin : mapping.page_offset;
      spaces_.map(time, symbols::AddressSpaces::kKernel, range, offset,
                  {std::move(name.dso), std::move(mapping.build_id)});
      break;
    }
    default: {
      std::string name = user_mapping_name(mapping);
      // A perf map lists addresses. The recorded offset of such a mapping depends on the kernel.
      const bool is_memory = is_perf_map(name);
      const std::uint64_t offset = is_memory ? range.begin : mapping.page_offset;
      // The kernel records whole pages. perf inject --jit does not, and makes up a generation
      // (jit_repipe_code_load() in tools/perf/util/jitdump.c).
      constexpr std::uint64_t kPage = 4096;
      const bool is_of_kernel = offset % kPage == 0;
      const bool is_code = mapping.executable && !is_memory && !is_pseudo_file(name);
      symbols::MappedFile file{.path = std::move(name),
                               .build_id = std::move(mapping.build_id),
                               .is_execute_only = mapping.executable && !mapping.readable,
                               .is_memory = is_memory,
                               .is_code = is_code,
                               .identity = is_of_kernel ? mapping.identity : FileIdentity{}};
      if (is_code && is_of_kernel && file.build_id.empty()) {
        file.executable = AddressRange::of_size(offset, mapping.length);
      }
      spaces_.map(time, mapping.pid, range, offset, std::move(file));
    }
  }
}

/// Enters code that the kernel generated, mapped from the time of its record on. Removed code stays
/// mapped until other code is at its addresses.
void Replay::enter_symbol(perfdata::KernelSymbolRecord& symbol, std::uint64_t time) {
  spaces_.map(time, symbols::AddressSpaces::kKernel,
              AddressRange::of_size(symbol.address, symbol.length), 0,
              {std::move(symbol.name), {}, symbol.length});
}

/// Whether there is memory for one more event. Lists the first event without as a fault.
bool Replay::has_room(std::uint64_t offset) {
  if (offset < offset_) files_before_ += offset_;  // the next file of a directory
  offset_ = offset;
  const std::uint64_t most = most_bytes_ + kBytesAByte * (files_before_ + offset_);
  if (spaces_.bytes() + (names_ != nullptr ? names_->bytes() : 0) < most) return true;
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

void Replay::take(const Record& record) {
  const perfdata::SampleDecoder& decoder = recording_.decoder();
  // Whether a record was long enough to be parsed; if not, it is listed as a fault.
  const auto is_whole = [&](const auto& parsed) {
    if (!parsed) recording_.add_short_record(record);
    return parsed.has_value();
  };
  switch (record.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: {
      auto mapping = perfdata::parse_mapping(record, decoder.order());
      if (is_whole(mapping) && has_room(record.offset)) {
        enter_mapping(*mapping, record.mode(), decoder.time_of(record));
      }
      break;
    }
    case PERF_RECORD_KSYMBOL: {
      auto symbol = perfdata::parse_kernel_symbol(record, decoder.order());
      if (is_whole(symbol) && !symbol->removed && has_room(record.offset)) {
        enter_symbol(*symbol, decoder.time_of(record));
      }
      break;
    }
    case PERF_RECORD_FORK: {
      const auto task = perfdata::parse_task(record, decoder.order());
      if (!is_whole(task)) break;
      const bool maps = !task->listed && task->pid != task->parent_pid;
      if ((!maps && names_ == nullptr) || !has_room(record.offset)) break;
      const auto time = decoder.time_of(record);
      if (maps) spaces_.fork(time, task->parent_pid, task->pid);
      if (names_ != nullptr) names_->fork(time, task->parent_tid, task->tid);
      break;
    }
    case PERF_RECORD_COMM: {
      auto comm = perfdata::parse_comm(record, decoder.order());
      if (!is_whole(comm) || (!comm->exec && names_ == nullptr) || !has_room(record.offset)) break;
      const auto time = decoder.time_of(record);
      if (comm->exec) spaces_.exec(time, comm->pid);
      if (names_ != nullptr) names_->rename(time, comm->tid, std::move(comm->comm));
      break;
    }
    default:
      break;
  }
}

void Replay::seal() {
  for (const auto& known : recording_.features().build_ids) {
    if (!known.guest) spaces_.set_build_id(known.path, known.build_id);
  }
  spaces_.seal();
  if (names_ != nullptr) names_->seal();
}

symbols::AddressSpaces read_address_spaces(perfdata::Recording& recording,
                                           symbols::ThreadNames* names, bool takes_copies) {
  symbols::AddressSpaces spaces;
  if (takes_copies) spaces.take_replaced_code_for_copies();
  Replay replay(recording, spaces, Replay::kMostBytes, names);
  Record record;
  while (recording.next(record)) replay.take(record);
  replay.seal();
  return spaces;
}

}  // namespace skid::locate
