// Records of a recording, and the decoded kinds other than samples.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <linux/perf_event.h>

namespace skid::perfdata {

struct Attribute;

/// A record, not yet decoded: any type, also ones that nothing here knows.
struct Record {
  std::uint32_t type = 0;    ///< RecordType, or something newer
  std::uint16_t misc = 0;    ///< PERF_RECORD_MISC_*
  std::uint64_t offset = 0;  ///< in bytes, of its header in the file, or of its compressed packet
  /// Bytes of records before it, decompressed: grows from record to record.
  std::uint64_t position = 0;
  std::span<const std::byte> body;  ///< after the 8-byte header; valid until the next record

  CpuMode mode() const noexcept {
    return static_cast<CpuMode>(misc & PERF_RECORD_MISC_CPUMODE_MASK);
  }
};

inline constexpr std::size_t kRecordHeader = 8;  // struct perf_event_header

/// Reads type and misc of `record` from the header at the front of `bytes`, of which there must be
/// kRecordHeader. Returns the record's size in bytes, header included, as it claims.
std::uint16_t read_record_header(std::span<const std::byte> bytes, ByteOrder order, Record& record);

/// Who and when, at the end of records that are no samples (sample_id_all).
struct SampleId {
  std::optional<std::uint64_t> time;  ///< ns; nullopt where the event does not record it
  std::optional<std::uint64_t> id;
};

/// Reads the trailer that `attribute` appends to every record. All nullopt without sample_id_all or
/// if the record is too short for it.
SampleId parse_sample_id(const Record& record, const Attribute& attribute, ByteOrder order);

/// PERF_RECORD_MMAP and MMAP2.
struct MappingRecord {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::uint64_t address = 0;      ///< first mapped byte
  std::uint64_t length = 0;       ///< bytes
  std::uint64_t page_offset = 0;  ///< of the first mapped byte in the file, in bytes
  std::string path;
  std::string build_id;  ///< lower-case hexadecimal, where the kernel recorded it
  bool executable = false;
  bool readable = true;  ///< where the record has the protection: PERF_RECORD_MMAP2
};

/// PERF_RECORD_FORK and EXIT.
struct TaskRecord {
  std::int32_t pid = 0, parent_pid = 0, tid = 0, parent_tid = 0;
  std::uint64_t time = 0;  ///< ns
  /// Whether perf wrote the record for a process that was running already. Its mappings follow in
  /// full and nothing is inherited.
  bool listed = false;
};

/// PERF_RECORD_COMM.
struct CommRecord {
  std::int32_t pid = 0, tid = 0;
  std::string comm;
  bool exec = false;  ///< the name changed because of an exec
};

/// PERF_RECORD_KSYMBOL: a piece of code that the kernel generated, such as a BPF program.
struct KernelSymbolRecord {
  std::uint64_t address = 0;
  std::uint32_t length = 0;  ///< bytes
  bool removed = false;      ///< it is gone; else it is new
  std::string name;          ///< "bpf_prog_12788b2d6399403d_name"
};

/// Each gives nullopt when the record is too short for its fixed fields.
std::optional<MappingRecord> parse_mapping(const Record& record, ByteOrder order);
std::optional<TaskRecord> parse_task(const Record& record, ByteOrder order);
std::optional<CommRecord> parse_comm(const Record& record, ByteOrder order);
std::optional<KernelSymbolRecord> parse_kernel_symbol(const Record& record, ByteOrder order);
/// PERF_RECORD_LOST: how many records the kernel could not write; PERF_RECORD_LOST_SAMPLES: how
/// many samples were lost.
std::optional<std::uint64_t> parse_lost(const Record& record, ByteOrder order);

}  // namespace skid::perfdata
