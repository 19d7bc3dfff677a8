// Records of a recording: their headers, and the decoded types other than samples.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"
#include "src/support/byte_order.h"
#include "src/support/file_identity.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <linux/perf_event.h>

namespace skid::perfdata {

struct Attribute;

/// A record that is not decoded, of any type, including unknown ones.
struct Record {
  std::uint32_t type = 0;    ///< PERF_RECORD_*; may be unknown
  std::uint16_t misc = 0;    ///< PERF_RECORD_MISC_*
  std::uint64_t offset = 0;  ///< offset in the file of its header, or of its compressed packet
  /// Size of all records before it, decompressed, in bytes. It increases from record to record.
  std::uint64_t position = 0;
  std::span<const std::byte> body;  ///< after the 8-byte header; valid until the next record

  CpuMode mode() const noexcept {
    return static_cast<CpuMode>(misc & PERF_RECORD_MISC_CPUMODE_MASK);
  }
};

inline constexpr std::size_t kRecordHeader = 8;  // struct perf_event_header

/// Reads type and misc of `record` from the header at the start of `bytes`, which must have at
/// least kRecordHeader bytes. Returns the size that the header states, in bytes and with the
/// header.
std::uint16_t read_record_header(std::span<const std::byte> bytes, ByteOrder order, Record& record);

/// Thread, CPU, time and event at the end of records that are not samples (sample_id_all).
struct SampleId {
  std::optional<std::int32_t> pid, tid;
  std::optional<std::uint32_t> cpu;
  std::optional<std::uint64_t> time;  ///< ns; nullopt if the event does not record it
  std::optional<std::uint64_t> id;
};

/// Reads the trailer that `attribute` appends to every record. All fields are nullopt without
/// sample_id_all, or if the record is too short.
SampleId parse_sample_id(const Record& record, const Attribute& attribute, ByteOrder order);

/// A PERF_RECORD_MMAP or MMAP2.
struct MappingRecord {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::uint64_t address = 0;      ///< address of the first mapped byte
  std::uint64_t length = 0;       ///< bytes
  std::uint64_t page_offset = 0;  ///< offset of that byte in the file
  std::string path;
  std::string build_id;        ///< lower-case hexadecimal; empty if the kernel did not record it
  FileIdentity identity = {};  ///< only in a PERF_RECORD_MMAP2 without a build-id
  bool executable = false;
  bool readable = true;  ///< known only from PERF_RECORD_MMAP2
};

/// A PERF_RECORD_FORK or EXIT.
struct TaskRecord {
  std::int32_t pid = 0, parent_pid = 0, tid = 0, parent_tid = 0;
  std::uint64_t time = 0;  ///< ns
  /// Whether perf wrote the record for a process that was running already. All of its mappings
  /// follow, and none is inherited.
  bool listed = false;
};

/// A PERF_RECORD_COMM.
struct CommRecord {
  std::int32_t pid = 0, tid = 0;
  std::string comm;
  bool exec = false;  ///< the name changed because of an exec
};

/// A PERF_RECORD_KSYMBOL: code that the kernel generated, such as a BPF program.
struct KernelSymbolRecord {
  std::uint64_t address = 0;
  std::uint32_t length = 0;  ///< bytes
  bool removed = false;      ///< the code was removed; else it was added
  std::string name;          ///< "bpf_prog_12788b2d6399403d_name"
};

/// Decodes a record. nullopt if it is too short for its fixed fields.
std::optional<MappingRecord> parse_mapping(const Record& record, ByteOrder order);
std::optional<TaskRecord> parse_task(const Record& record, ByteOrder order);
std::optional<CommRecord> parse_comm(const Record& record, ByteOrder order);
std::optional<KernelSymbolRecord> parse_kernel_symbol(const Record& record, ByteOrder order);
/// Returns how many records the kernel could not write (PERF_RECORD_LOST), or how many samples were
/// lost (PERF_RECORD_LOST_SAMPLES). nullopt if the record is too short.
std::optional<std::uint64_t> parse_lost(const Record& record, ByteOrder order);

}  // namespace skid::perfdata
