// Numbers of the perf.data format with the kernel's names. Those of the perf_event ABI are in the
// kernel's own header. Sources: tools/lib/perf/include/perf/event.h and
// tools/perf/Documentation/perf.data-file-format.txt of the Linux kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <linux/perf_event.h>

namespace skid::perfdata {

/// The user part of call chains that the kernel unwound later (Linux 6.19; not in older headers).
inline constexpr std::uint32_t PERF_RECORD_CALLCHAIN_DEFERRED = 22;

/// perf_event_header.type of the records that perf itself writes, as far as they are read here.
/// name_of_record_type() has the names of all.
enum RecordType : std::uint32_t {
  PERF_RECORD_HEADER_ATTR = 64,  ///< the first type of perf's records
  PERF_RECORD_HEADER_TRACING_DATA = 66,
  PERF_RECORD_HEADER_BUILD_ID = 67,
  PERF_RECORD_FINISHED_ROUND = 68,
  PERF_RECORD_AUXTRACE_INFO = 70,
  PERF_RECORD_AUXTRACE = 71,
  PERF_RECORD_EVENT_UPDATE = 78,
  PERF_RECORD_TIME_CONV = 79,
  PERF_RECORD_HEADER_FEATURE = 80,
  PERF_RECORD_COMPRESSED = 81,
  PERF_RECORD_COMPRESSED2 = 83,
};

/// A bit of perf_event_header.misc in perf's build-id sections
/// (tools/lib/perf/include/perf/event.h).
inline constexpr std::uint16_t PERF_RECORD_MISC_BUILD_ID_SIZE = 1u << 15;
/// The same bit in a PERF_RECORD_LOST_SAMPLES: perf's own filter (perf record --filter) dropped
/// the samples.
inline constexpr std::uint16_t PERF_RECORD_MISC_LOST_SAMPLES_BPF = 1u << 15;

/// The mode of the CPU when the record was made (PERF_RECORD_MISC_CPUMODE_MASK).
enum class CpuMode : std::uint8_t {
  unknown = 0,
  kernel = 1,
  user = 2,
  hypervisor = 3,
  guest_kernel = 4,
  guest_user = 5,
};

/// A bit of perf_event_attr.branch_sample_type that changes the layout of a sample (Linux 6.8).
inline constexpr std::uint64_t PERF_SAMPLE_BRANCH_COUNTERS = 1u << 19;

/// Bits of perf_file_header.adds_features.
enum FeatureBit : unsigned {
  HEADER_TRACING_DATA = 1,
  HEADER_BUILD_ID = 2,
  HEADER_HOSTNAME = 3,
  HEADER_OSRELEASE = 4,
  HEADER_VERSION = 5,
  HEADER_ARCH = 6,
  HEADER_NRCPUS = 7,
  HEADER_CPUDESC = 8,
  HEADER_CPUID = 9,
  HEADER_TOTAL_MEM = 10,
  HEADER_CMDLINE = 11,
  HEADER_EVENT_DESC = 12,
  HEADER_CPU_TOPOLOGY = 13,
  HEADER_NUMA_TOPOLOGY = 14,
  HEADER_BRANCH_STACK = 15,
  HEADER_PMU_MAPPINGS = 16,
  HEADER_GROUP_DESC = 17,
  HEADER_AUXTRACE = 18,
  HEADER_STAT = 19,
  HEADER_CACHE = 20,
  HEADER_SAMPLE_TIME = 21,
  HEADER_MEM_TOPOLOGY = 22,
  HEADER_CLOCKID = 23,
  HEADER_DIR_FORMAT = 24,
  HEADER_BPF_PROG_INFO = 25,
  HEADER_BPF_BTF = 26,
  HEADER_COMPRESSED = 27,
  HEADER_CPU_PMU_CAPS = 28,
  HEADER_CLOCK_DATA = 29,
  HEADER_HYBRID_TOPOLOGY = 30,
  HEADER_PMU_CAPS = 31,
  HEADER_CPU_DOMAIN_INFO = 32,
  HEADER_E_MACHINE = 33,
  HEADER_CLN_SIZE = 34,
  HEADER_SIMPLEPERF = 128,  ///< the first bit of Android's simpleperf
  HEADER_SIMPLEPERF_META_INFO = 129,
  HEADER_FEATURES = 256,
};

/// The value of Compression::type in HEADER_COMPRESSED.
inline constexpr std::uint32_t PERF_COMP_ZSTD = 1;

/// Returns "PERF_RECORD_MMAP2", or "record type 99" for unknown types.
std::string name_of_record_type(std::uint32_t type);

/// Returns "hardware", "tracepoint", …; empty for the number that the kernel assigned to a PMU.
std::string_view name_of_event_type(std::uint32_t type);

/// Returns the name of a kind of hardware trace (PERF_RECORD_AUXTRACE_INFO; enum auxtrace_type in
/// tools/perf/util/auxtrace.h): "intel_pt"; "of type 9" for unknown ones.
std::string name_of_trace_type(std::uint32_t type);

/// Whether a record of this type means that samples may be missing or damaged.
constexpr bool hides_samples(std::uint32_t type) {
  return type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES ||
         type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE ||
         type == PERF_RECORD_SAMPLE;
}

/// Returns the names of the fields of a sample, "IP" and "TID", in the order of the bits; "bit 40"
/// for an unknown one.
std::vector<std::string> names_of_sample_type(std::uint64_t sample_type);

}  // namespace skid::perfdata
