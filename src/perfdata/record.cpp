#include "src/perfdata/record.h"

#include "src/perfdata/attribute.h"
#include "src/support/byte_reader.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/sysmacros.h>

namespace skid::perfdata {

std::string name_of_record_type(std::uint32_t type) {
  constexpr std::string_view kKernel =
      "MMAP LOST COMM EXIT THROTTLE UNTHROTTLE FORK READ SAMPLE MMAP2 AUX ITRACE_START "
      "LOST_SAMPLES SWITCH SWITCH_CPU_WIDE NAMESPACES KSYMBOL BPF_EVENT CGROUP TEXT_POKE "
      "AUX_OUTPUT_HW_ID CALLCHAIN_DEFERRED";
  constexpr std::string_view kPerf =
      "HEADER_ATTR HEADER_EVENT_TYPE HEADER_TRACING_DATA HEADER_BUILD_ID FINISHED_ROUND ID_INDEX "
      "AUXTRACE_INFO AUXTRACE AUXTRACE_ERROR THREAD_MAP CPU_MAP STAT_CONFIG STAT STAT_ROUND "
      "EVENT_UPDATE TIME_CONV HEADER_FEATURE COMPRESSED FINISHED_INIT COMPRESSED2 BPF_METADATA "
      "SCHEDSTAT_CPU SCHEDSTAT_DOMAIN";
  const bool is_of_kernel = type < PERF_RECORD_HEADER_ATTR;
  const auto name = is_of_kernel ? word_at(type - std::size_t{1}, kKernel)
                                 : word_at(type - PERF_RECORD_HEADER_ATTR, kPerf);
  if (!name.empty()) return fmt::format("PERF_RECORD_{}", name);
  return fmt::format("record type {}", type);
}

std::string name_of_trace_type(std::uint32_t type) {
  constexpr std::string_view kNames =
      "intel_pt intel_bts cs_etm arm_spe s390_cpumsf hisi_ptt vpa_dtl";
  const auto name = word_at(type - std::size_t{1}, kNames);
  return name.empty() ? fmt::format("of type {}", type) : std::string(name);
}

std::string_view name_of_event_type(std::uint32_t type) {
  return word_at(type, "hardware software tracepoint hw_cache raw breakpoint");
}

std::vector<std::string> names_of_sample_type(std::uint64_t sample_type) {
  constexpr std::string_view kNames =
      "IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER "
      "STACK_USER WEIGHT DATA_SRC IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP "
      "DATA_PAGE_SIZE CODE_PAGE_SIZE WEIGHT_STRUCT";
  std::vector<std::string> names;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((sample_type >> bit & 1u) == 0) continue;
    const auto name = word_at(bit, kNames);
    names.push_back(name.empty() ? fmt::format("bit {}", bit) : std::string(name));
  }
  return names;
}

std::uint16_t read_record_header(std::span<const std::byte> bytes, ByteOrder order,
                                 Record& record) {
  ByteReader reader(bytes.first(kRecordHeader), order);
  record.type = reader.u32();
  record.misc = reader.u16();
  return reader.u16();
}

SampleId parse_sample_id(const Record& record, const Attribute& attribute, ByteOrder order) {
  if (!attribute.sample_id_all) return {};
  // struct sample_id: TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER, each a u64 where present.
  constexpr std::array<std::uint64_t, 6> kFields = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
                                                    PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
                                                    PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
  const auto fields = static_cast<std::size_t>(
      std::ranges::count_if(kFields, [&](std::uint64_t field) { return attribute.has(field); }));
  const std::size_t size = fields * sizeof(std::uint64_t);
  if (record.body.size() < size) return {};
  ByteReader reader(record.body.last(size), order);
  SampleId result;
  for (const std::uint64_t field : kFields) {
    if (!attribute.has(field)) continue;
    if (field == PERF_SAMPLE_TID) {
      result.pid = reader.i32();
      result.tid = reader.i32();
      continue;
    }
    if (field == PERF_SAMPLE_CPU) {
      result.cpu = reader.u32();
      reader.skip(4);  // reserved
      continue;
    }
    const std::uint64_t value = reader.u64();
    if (field == PERF_SAMPLE_TIME) result.time = value;
    if (field == PERF_SAMPLE_ID || field == PERF_SAMPLE_IDENTIFIER) result.id = value;
  }
  return result;
}

std::optional<MappingRecord> parse_mapping(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  MappingRecord mapping;
  mapping.pid = reader.i32();
  mapping.tid = reader.i32();
  mapping.address = reader.u64();
  mapping.length = reader.u64();
  mapping.page_offset = reader.u64();
  mapping.executable = (record.misc & PERF_RECORD_MISC_MMAP_DATA) == 0;
  if (record.type == PERF_RECORD_MMAP2) {
    constexpr std::size_t kFileIdentity = 24;  // device and inode, or the build-id
    const auto identity = reader.take(kFileIdentity);
    constexpr std::uint32_t kProtRead = 1, kProtExec = 4;  // PROT_READ, PROT_EXEC
    const std::uint32_t protection = reader.u32();
    mapping.executable = (protection & kProtExec) != 0;
    mapping.readable = (protection & kProtRead) != 0;
    reader.skip(4);  // flags
    if (!identity.empty() && (record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
      constexpr std::size_t kDigest = 4;  // after its size and three reserved bytes
      const auto size =
          std::min<std::size_t>(std::to_integer<std::size_t>(identity[0]), kFileIdentity - kDigest);
      mapping.build_id = hexadecimal(identity.subspan(kDigest, size));
    } else {
      ByteReader numbers(identity, order);
      const std::uint32_t major = numbers.u32(), minor = numbers.u32();
      mapping.identity.device = makedev(major, minor);
      mapping.identity.inode = numbers.u64();
      mapping.identity.generation = numbers.u64();
    }
  }
  if (reader.failed()) return std::nullopt;
  mapping.path = std::string(reader.text());
  return mapping;
}

std::optional<TaskRecord> parse_task(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  TaskRecord task;
  task.pid = reader.i32();
  task.parent_pid = reader.i32();
  task.tid = reader.i32();
  task.parent_tid = reader.i32();
  task.time = reader.u64();
  task.listed = (record.misc & PERF_RECORD_MISC_FORK_EXEC) != 0;
  if (reader.failed()) return std::nullopt;
  return task;
}

std::optional<CommRecord> parse_comm(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  CommRecord comm;
  comm.pid = reader.i32();
  comm.tid = reader.i32();
  if (reader.failed()) return std::nullopt;
  comm.comm = std::string(reader.text());
  comm.exec = (record.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  return comm;
}

std::optional<KernelSymbolRecord> parse_kernel_symbol(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  KernelSymbolRecord symbol;
  symbol.address = reader.u64();
  symbol.length = reader.u32();
  reader.skip(2);  // PERF_RECORD_KSYMBOL_TYPE_*
  symbol.removed = (reader.u16() & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
  if (reader.failed()) return std::nullopt;
  symbol.name = std::string(reader.text());
  return symbol;
}

std::optional<std::uint64_t> parse_lost(const Record& record, ByteOrder order) {
  ByteReader reader(record.body, order);
  if (record.type == PERF_RECORD_LOST) reader.skip(8);  // id
  const std::uint64_t lost = reader.u64();
  if (reader.failed()) return std::nullopt;
  return lost;
}

}  // namespace skid::perfdata
