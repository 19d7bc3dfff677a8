// Recordings of a process that runs a program, with samples at chosen instructions.
#pragma once

#include "src/perfdata/byte_writer.h"
#include "src/symbols/module.h"
#include "tests/support/hex.h"
#include "tests/support/recording_builder.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace skid::test {

/// A branch as it is recorded.
struct BranchToBuild {
  std::uint64_t from = 0, to = 0;
  std::uint64_t flags = 2;  ///< predicted
};

/// One sample. Only the fields that its event records are written.
struct SampleToBuild {
  std::uint64_t ip = 0;
  std::uint64_t id = 0;
  std::uint64_t address = 0;                  ///< of data
  std::string read = {}, raw = {};            ///< bytes of PERF_SAMPLE_READ and _RAW
  std::vector<std::uint64_t> chain = {};      ///< call chain
  std::vector<BranchToBuild> branches = {};   ///< the newest first
  std::vector<std::uint64_t> registers = {};  ///< in the order of the bits of the event's mask
  std::uint64_t weight = 0;
  std::uint64_t data_source = 0;
  std::uint16_t misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP;
  std::int32_t pid = 1, tid = 1;
  std::uint64_t time = 2;
};

/// Adds a sample of this event.
inline void add_sample(const SampleToBuild& sample, const EventToBuild& event,
                       RecordingBuilder& builder) {
  ByteWriter body = builder.writer();
  const auto has = [&](std::uint64_t field) { return (event.sample_type & field) != 0; };
  const auto registers = [&] {
    body.u64(sample.registers.empty() ? 0 : 2);  // PERF_SAMPLE_REGS_ABI_64
    for (const std::uint64_t value : sample.registers) body.u64(value);
  };
  if (has(PERF_SAMPLE_IDENTIFIER)) body.u64(sample.id);
  if (has(PERF_SAMPLE_IP)) body.u64(sample.ip);
  if (has(PERF_SAMPLE_TID)) body.i32(sample.pid).i32(sample.tid);
  if (has(PERF_SAMPLE_TIME)) body.u64(sample.time);
  if (has(PERF_SAMPLE_ADDR)) body.u64(sample.address);
  if (has(PERF_SAMPLE_ID)) body.u64(sample.id);
  if (has(PERF_SAMPLE_READ)) body.raw(sample.read);
  if (has(PERF_SAMPLE_CALLCHAIN)) {
    body.u64(sample.chain.size());
    for (const std::uint64_t entry : sample.chain) body.u64(entry);
  }
  if (has(PERF_SAMPLE_RAW)) {
    body.u32(static_cast<std::uint32_t>(sample.raw.size())).raw(sample.raw);
  }
  if (has(PERF_SAMPLE_BRANCH_STACK)) {
    body.u64(sample.branches.size());
    if ((event.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) body.u64(0);
    for (const auto& [from, to, flags] : sample.branches) body.u64(from).u64(to).u64(flags);
  }
  if (has(PERF_SAMPLE_REGS_USER)) registers();
  if (has(PERF_SAMPLE_WEIGHT) || has(PERF_SAMPLE_WEIGHT_STRUCT)) body.u64(sample.weight);
  if (has(PERF_SAMPLE_DATA_SRC)) body.u64(sample.data_source);
  if (has(PERF_SAMPLE_REGS_INTR)) registers();
  builder.record(PERF_RECORD_SAMPLE, sample.misc, body.bytes());
}

/// How the recorded process mapped its program.
struct MappingToBuild {
  std::uint64_t bias = 0;        ///< added to the addresses of the link
  std::string file;              ///< as recorded
  bool has_build_id = true;      ///< in the record of the mapping
  std::uint32_t protection = 5;  ///< PROT_READ | PROT_EXEC
  std::int32_t pid = 1;
};

/// Adds the mapping of the code of `module` by a process, for events that record IP, TID and TIME.
inline void map_program(const symbols::Module& module, const MappingToBuild& mapping,
                        RecordingBuilder& builder) {
  const auto code = module.executable_mapping_at(module.executable_ranges().front().begin).value();
  auto body = builder.writer();
  body.i32(mapping.pid).i32(mapping.pid).u64(code.range.begin + mapping.bias);
  body.u64(code.range.size()).u64(code.file_offset);
  if (mapping.has_build_id) {
    const auto id = hex(module.build_id());
    body.u8(20).u8(0).u16(0);
    body.raw({reinterpret_cast<const char*>(id.data()), id.size()});
  } else {
    body.u32(8).u32(1).u64(99).u64(0);  // of the file: device, inode and its generation
  }
  body.u32(mapping.protection).u32(2).text(mapping.file);
  body.i32(mapping.pid).i32(mapping.pid).u64(1);
  builder.record(
      PERF_RECORD_MMAP2,
      PERF_RECORD_MISC_USER | (mapping.has_build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0),
      body.bytes());
}

/// Adds the mapping of the code of a file whose first byte would be at `begin`, without a build-id.
/// A file that cannot be opened is mapped as one of 1 MiB.
inline void map_file(const std::string& path, std::uint64_t begin, std::int32_t pid,
                     RecordingBuilder& builder) {
  symbols::Module::ExecutableMapping code{{0, 0x100000}, 0};
  if (std::filesystem::exists(path)) {
    const auto module = symbols::Module::open(path);
    code = module.executable_mapping_at(module.executable_ranges().front().begin).value();
  }
  builder.mmap(pid, begin + code.file_offset, code.range.size(), code.file_offset, path, 1);
}

/// Names the machine that recorded: "x86_64" and "GenuineIntel,6,94,3".
inline void name_machine(std::string_view arch, std::string_view cpuid, RecordingBuilder& builder) {
  builder.feature(perfdata::HEADER_ARCH, builder.writer().counted_text(arch).bytes());
  builder.feature(perfdata::HEADER_CPUID, builder.writer().counted_text(cpuid).bytes());
}

}  // namespace skid::test
