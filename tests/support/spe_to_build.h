// Recordings of Arm's Statistical Profiling Extension: packets, their AUX data and its records.
#pragma once

#include "src/perfdata/byte_writer.h"
#include "src/perfdata/format.h"
#include "src/perfdata/spe_record.h"
#include "src/symbols/module.h"
#include "tests/support/hex.h"
#include "tests/support/recorded_program.h"
#include "tests/support/recording_builder.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace skid::test {

/// The packets of records, as the hardware writes them: little-endian, payloads by their size.
class SpePackets {
 public:
  /// Headers of packets whose payload has one byte; larger ones by `header(…, bytes)`.
  static constexpr std::uint8_t kEvents = 0x42, kSource = 0x43, kOperation = 0x48, kContext = 0x64,
                                kCounter = 0x98, kAddress = 0xb0, kTimestamp = 0x71, kEnd = 0x01;

  /// A packet of 1, 2, 4 or 8 bytes of payload.
  SpePackets& packet(std::uint8_t header, std::uint64_t payload, unsigned bytes) {
    const unsigned size = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes / 2;
    bytes_ += static_cast<char>((header & 0xcf) | size << 4);
    return add(payload, bytes);
  }
  SpePackets& address(std::uint8_t index, std::uint64_t payload) {
    bytes_ += static_cast<char>(kAddress | index);
    return add(payload, 8);
  }
  /// The address of the instruction with its exception level, not secure.
  SpePackets& pc(std::uint64_t address_of, std::uint64_t level = 0) {
    return address(0, (address_of & kAddressBits) | 1ULL << 63 | level << 61);
  }
  SpePackets& target(std::uint64_t address_of, std::uint64_t level = 0) {
    return address(1, (address_of & kAddressBits) | 1ULL << 63 | level << 61);
  }
  SpePackets& data(std::uint64_t address_of) { return address(2, address_of); }
  SpePackets& physical(std::uint64_t address_of) { return address(3, address_of | 1ULL << 63); }
  SpePackets& operation(perfdata::SpeOperation operation) {
    return packet(kOperation | static_cast<std::uint8_t>(operation.kind), operation.bits, 1);
  }
  SpePackets& load(std::uint8_t bits = 0) {
    return operation({perfdata::SpeOperation::Class::load_store, bits});
  }
  SpePackets& store(std::uint8_t bits = 0) { return load(bits | 1); }
  SpePackets& branch(std::uint8_t bits = 0) {
    return operation({perfdata::SpeOperation::Class::branch, bits});
  }
  SpePackets& other(std::uint8_t bits = 0) {
    return operation({perfdata::SpeOperation::Class::other, bits});
  }
  SpePackets& events(std::uint64_t bits, unsigned bytes = 2) {
    return packet(kEvents, bits, bytes);
  }
  SpePackets& source(std::uint64_t bits, unsigned bytes = 1) {
    return packet(kSource, bits, bytes);
  }
  /// A counter: 0 total, 1 issue, 2 translation latency.
  SpePackets& latency(std::uint8_t index, std::uint16_t cycles) {
    bytes_ += static_cast<char>(kCounter | index);
    return add(cycles, 2);
  }
  SpePackets& context(std::uint32_t tid, std::uint8_t level = 1) {
    return packet(kContext | (level - 1), tid, 4);
  }
  SpePackets& timestamp(std::uint64_t counter) {
    bytes_ += static_cast<char>(kTimestamp);
    return add(counter, 8);
  }
  SpePackets& end() { return raw({"\x01", 1}); }
  SpePackets& padding(std::size_t bytes) { return raw(std::string(bytes, '\0')); }
  SpePackets& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr std::uint64_t kAddressBits = (1ULL << 56) - 1;

  SpePackets& add(std::uint64_t payload, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) bytes_ += static_cast<char>(payload >> (8 * i));
    return *this;
  }

  std::string bytes_;
};

/// What a recording of SPE is made with.
struct SpeRecordingToBuild {
  bool big_endian = false;
  bool has_times = true;             ///< recorded per CPU, as perf does without --per-thread
  std::uint32_t pmu = 11;            ///< number of arm_spe_0
  std::string cpuid = "0x413fd0c1";  ///< of a Neoverse N1
  int version = 1;                   ///< of PERF_RECORD_AUXTRACE_INFO
  /// Of the counter (PERF_RECORD_TIME_CONV): its values are ns.
  std::uint64_t shift = 0, multiplier = 1, zero = 0;
};

/// A recording of arm_spe_0 and of the dummy event that perf adds to it. Times are in ns.
class SpeRecording {
 public:
  explicit SpeRecording(SpeRecordingToBuild setup = {})
      : setup_(std::move(setup)), builder_(setup_.big_endian) {
    std::uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
    if (setup_.has_times) type |= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    builder_.event({.type = setup_.pmu,
                    .config = 0x7'0001'0001,
                    .period = 1024,
                    .sample_type = type | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR,
                    .ids = {21}});
    builder_.event({.config = PERF_COUNT_SW_DUMMY, .period = 1, .sample_type = type, .ids = {22}});
    builder_.record(perfdata::PERF_RECORD_TIME_CONV, 0,
                    writer()
                        .u64(setup_.shift)
                        .u64(setup_.multiplier)
                        .u64(setup_.zero)
                        .u64(0)
                        .u64(0)
                        .u64(0)
                        .bytes());
    auto info = writer().u32(4).u32(0);
    if (setup_.version == 1) {
      info.u64(setup_.pmu).u64(1);
    } else {
      // Version 2: two CPUs, of which CPU 1 has no SPE.
      info.u64(2).u64(4).u64(setup_.pmu).u64(2);
      info.u64(0x1010101010101010).u64(0).u64(3).u64(0x413fd0c1).u64(setup_.pmu).u64(1024);
      info.u64(0x1010101010101010).u64(1).u64(3).u64(0x413fd0c1).u64(UINT64_MAX).u64(0);
    }
    builder_.record(perfdata::PERF_RECORD_AUXTRACE_INFO, 0, info.bytes());
  }

  RecordingBuilder& builder() { return builder_; }
  ByteWriter writer() const { return builder_.writer(); }

  /// The end of records of the dummy event.
  std::string trailer(std::int32_t pid, std::int32_t tid, std::uint64_t time, std::uint32_t cpu = 0,
                      std::uint64_t id = 22) const {
    auto out = writer().i32(pid).i32(tid);
    if (setup_.has_times) out.u64(time).u32(cpu).u32(0);
    return out.u64(id).bytes();
  }
  SpeRecording& comm(std::int32_t pid, std::int32_t tid, std::uint64_t time) {
    return kernel(PERF_RECORD_COMM, 0, writer().i32(pid).i32(tid).text("spe"), {pid, tid, time, 0});
  }
  SpeRecording& fork(std::int32_t pid, std::int32_t tid, std::uint64_t time) {
    return kernel(PERF_RECORD_FORK, 0, writer().i32(pid).i32(pid).i32(tid).i32(pid).u64(time),
                  {pid, tid, time, 0});
  }
  SpeRecording& map(std::int32_t pid, std::uint64_t address, std::uint64_t length,
                    std::string_view path, std::uint64_t time) {
    return kernel(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER,
                  writer().i32(pid).i32(pid).u64(address).u64(length).u64(0).text(path),
                  {pid, pid, time, 0});
  }
  /// Process 1 maps the code of a program with its build-id. `bias`: added to the addresses of its
  /// link.
  SpeRecording& map_program(const std::filesystem::path& file, std::uint64_t bias = 0) {
    const auto module = symbols::Module::open(file);
    const auto code =
        module.executable_mapping_at(module.executable_ranges().front().begin).value();
    const auto id = hex(module.build_id());
    auto body = writer().i32(1).i32(1).u64(code.range.begin + bias).u64(code.range.size());
    body.u64(code.file_offset).u8(20).u8(0).u16(0);
    body.raw({reinterpret_cast<const char*>(id.data()), id.size()}).u32(5).u32(2);
    return kernel(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID,
                  body.text(file.string()), {1, 1, 2, 0});
  }
  /// A thread comes onto a CPU.
  SpeRecording& switch_in(std::int32_t pid, std::int32_t tid, std::uint64_t time,
                          std::uint32_t cpu) {
    // The record of the thread that leaves names the next one.
    kernel(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, writer().i32(pid).i32(tid),
           {0, 0, time - 1, cpu});
    return kernel(PERF_RECORD_SWITCH_CPU_WIDE, 0, writer().i32(0).i32(0), {pid, tid, time, cpu});
  }
  /// A PERF_RECORD_AUX of the data that was written until `time`.
  SpeRecording& aux(std::uint64_t offset, std::uint64_t size, std::uint64_t flags,
                    std::uint64_t time, std::uint32_t cpu = 0) {
    return kernel(PERF_RECORD_AUX, 0, writer().u64(offset).u64(size).u64(flags),
                  {0, 0, time, cpu, 21});
  }
  /// AUX data of a CPU; `tid`: of a buffer per thread. It is padded to eight bytes, as perf does.
  SpeRecording& trace(const SpePackets& packets, std::uint32_t cpu = 0, std::int32_t tid = -1,
                      std::uint64_t offset = 0) {
    std::string data = packets.bytes();
    data.resize((data.size() + 7) / 8 * 8, '\0');
    auto body = writer()
                    .u64(data.size())
                    .u64(offset)
                    .u64(1)
                    .u32(tid >= 0 ? static_cast<std::uint32_t>(tid) : cpu)
                    .i32(tid);
    body.u32(tid >= 0 ? UINT32_MAX : cpu).u32(0);
    builder_.record(perfdata::PERF_RECORD_AUXTRACE, 0, body.bytes()).raw(data);
    return *this;
  }

  /// Adds the features that name the machine, and returns the recording.
  RecordingBuilder finished() const {
    RecordingBuilder result = builder_;
    // perf reads no features of the other byte order without this one.
    result.feature(perfdata::HEADER_HOSTNAME, writer().counted_text("example").bytes());
    name_machine("aarch64", setup_.cpuid, result);
    auto pmus = writer().u32(2).u32(1).counted_text("software");
    pmus.u32(setup_.pmu).counted_text("arm_spe_0");
    result.feature(perfdata::HEADER_PMU_MAPPINGS, pmus.bytes());
    // An index without entries, by which perf knows that it has AUX data.
    return result.feature(perfdata::HEADER_AUXTRACE, writer().u64(0).bytes());
  }

 private:
  struct Of {
    std::int32_t pid, tid;
    std::uint64_t time;
    std::uint32_t cpu;
    std::uint64_t id = 22;
  };
  SpeRecording& kernel(std::uint32_t type, std::uint16_t misc, ByteWriter body, const Of& of) {
    body.raw(trailer(of.pid, of.tid, of.time, of.cpu, of.id));
    builder_.record(type, misc, body.bytes());
    return *this;
  }

  SpeRecordingToBuild setup_;
  RecordingBuilder builder_;
};

}  // namespace skid::test
