// Numbers of the perf.data format and of the perf_event ABI, under the kernel's names.
// Sources: include/uapi/linux/perf_event.h, tools/lib/perf/include/perf/event.h and
// tools/perf/Documentation/perf.data-file-format.txt of the Linux kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfdata {

/// perf_event_header.type. From 64 on, perf itself writes them.
enum RecordType : std::uint32_t {
  PERF_RECORD_MMAP = 1,
  PERF_RECORD_LOST = 2,
  PERF_RECORD_COMM = 3,
  PERF_RECORD_EXIT = 4,
  PERF_RECORD_THROTTLE = 5,
  PERF_RECORD_UNTHROTTLE = 6,
  PERF_RECORD_FORK = 7,
  PERF_RECORD_READ = 8,
  PERF_RECORD_SAMPLE = 9,
  PERF_RECORD_MMAP2 = 10,
  PERF_RECORD_AUX = 11,
  PERF_RECORD_ITRACE_START = 12,
  PERF_RECORD_LOST_SAMPLES = 13,
  PERF_RECORD_SWITCH = 14,
  PERF_RECORD_SWITCH_CPU_WIDE = 15,
  PERF_RECORD_NAMESPACES = 16,
  PERF_RECORD_KSYMBOL = 17,
  PERF_RECORD_BPF_EVENT = 18,
  PERF_RECORD_CGROUP = 19,
  PERF_RECORD_TEXT_POKE = 20,
  PERF_RECORD_AUX_OUTPUT_HW_ID = 21,
  PERF_RECORD_CALLCHAIN_DEFERRED = 22,

  PERF_RECORD_HEADER_ATTR = 64,
  PERF_RECORD_HEADER_EVENT_TYPE = 65,
  PERF_RECORD_HEADER_TRACING_DATA = 66,
  PERF_RECORD_HEADER_BUILD_ID = 67,
  PERF_RECORD_FINISHED_ROUND = 68,
  PERF_RECORD_ID_INDEX = 69,
  PERF_RECORD_AUXTRACE_INFO = 70,
  PERF_RECORD_AUXTRACE = 71,
  PERF_RECORD_AUXTRACE_ERROR = 72,
  PERF_RECORD_THREAD_MAP = 73,
  PERF_RECORD_CPU_MAP = 74,
  PERF_RECORD_STAT_CONFIG = 75,
  PERF_RECORD_STAT = 76,
  PERF_RECORD_STAT_ROUND = 77,
  PERF_RECORD_EVENT_UPDATE = 78,
  PERF_RECORD_TIME_CONV = 79,
  PERF_RECORD_HEADER_FEATURE = 80,
  PERF_RECORD_COMPRESSED = 81,
  PERF_RECORD_FINISHED_INIT = 82,
  PERF_RECORD_COMPRESSED2 = 83,
  PERF_RECORD_BPF_METADATA = 84,
};

/// perf_event_header.misc.
inline constexpr std::uint16_t PERF_RECORD_MISC_CPUMODE_MASK = 7;
inline constexpr std::uint16_t PERF_RECORD_MISC_MMAP_DATA = 1u << 13;
inline constexpr std::uint16_t PERF_RECORD_MISC_COMM_EXEC = 1u << 13;
inline constexpr std::uint16_t PERF_RECORD_MISC_FORK_EXEC = 1u << 13;
inline constexpr std::uint16_t PERF_RECORD_MISC_EXACT_IP = 1u << 14;
inline constexpr std::uint16_t PERF_RECORD_MISC_MMAP_BUILD_ID = 1u << 14;
inline constexpr std::uint16_t PERF_RECORD_MISC_BUILD_ID_SIZE = 1u << 15;

/// Of the flags of PERF_RECORD_KSYMBOL.
inline constexpr std::uint16_t PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER = 1;

/// The mode of the CPU when the record was made (PERF_RECORD_MISC_CPUMODE_MASK).
enum class CpuMode : std::uint8_t {
  unknown = 0,
  kernel = 1,
  user = 2,
  hypervisor = 3,
  guest_kernel = 4,
  guest_user = 5,
};

/// perf_event_attr.sample_type, in the order of the bits (not of the fields in a record).
enum SampleType : std::uint64_t {
  PERF_SAMPLE_IP = 1u << 0,
  PERF_SAMPLE_TID = 1u << 1,
  PERF_SAMPLE_TIME = 1u << 2,
  PERF_SAMPLE_ADDR = 1u << 3,
  PERF_SAMPLE_READ = 1u << 4,
  PERF_SAMPLE_CALLCHAIN = 1u << 5,
  PERF_SAMPLE_ID = 1u << 6,
  PERF_SAMPLE_CPU = 1u << 7,
  PERF_SAMPLE_PERIOD = 1u << 8,
  PERF_SAMPLE_STREAM_ID = 1u << 9,
  PERF_SAMPLE_RAW = 1u << 10,
  PERF_SAMPLE_BRANCH_STACK = 1u << 11,
  PERF_SAMPLE_REGS_USER = 1u << 12,
  PERF_SAMPLE_STACK_USER = 1u << 13,
  PERF_SAMPLE_WEIGHT = 1u << 14,
  PERF_SAMPLE_DATA_SRC = 1u << 15,
  PERF_SAMPLE_IDENTIFIER = 1u << 16,
  PERF_SAMPLE_TRANSACTION = 1u << 17,
  PERF_SAMPLE_REGS_INTR = 1u << 18,
  PERF_SAMPLE_PHYS_ADDR = 1u << 19,
  PERF_SAMPLE_AUX = 1u << 20,
  PERF_SAMPLE_CGROUP = 1u << 21,
  PERF_SAMPLE_DATA_PAGE_SIZE = 1u << 22,
  PERF_SAMPLE_CODE_PAGE_SIZE = 1u << 23,
  PERF_SAMPLE_WEIGHT_STRUCT = 1u << 24,
};

/// perf_event_attr.read_format.
enum ReadFormat : std::uint64_t {
  PERF_FORMAT_TOTAL_TIME_ENABLED = 1u << 0,
  PERF_FORMAT_TOTAL_TIME_RUNNING = 1u << 1,
  PERF_FORMAT_ID = 1u << 2,
  PERF_FORMAT_GROUP = 1u << 3,
  PERF_FORMAT_LOST = 1u << 4,
};

/// Bits of perf_event_attr.branch_sample_type: whose branches are recorded, and which.
enum BranchSampleType : std::uint64_t {
  PERF_SAMPLE_BRANCH_USER = 1u << 0,
  PERF_SAMPLE_BRANCH_KERNEL = 1u << 1,
  PERF_SAMPLE_BRANCH_HV = 1u << 2,
  PERF_SAMPLE_BRANCH_ANY = 1u << 3,
  PERF_SAMPLE_BRANCH_ANY_CALL = 1u << 4,
  PERF_SAMPLE_BRANCH_ANY_RETURN = 1u << 5,
  PERF_SAMPLE_BRANCH_ABORT_TX = 1u << 7,
  PERF_SAMPLE_BRANCH_IN_TX = 1u << 8,
  PERF_SAMPLE_BRANCH_NO_TX = 1u << 9,
  PERF_SAMPLE_BRANCH_COND = 1u << 10,
  PERF_SAMPLE_BRANCH_CALL_STACK = 1u << 11,
  PERF_SAMPLE_BRANCH_CALL = 1u << 13,
};
/// Those that change the layout of a sample.
inline constexpr std::uint64_t PERF_SAMPLE_BRANCH_HW_INDEX = 1u << 17;
inline constexpr std::uint64_t PERF_SAMPLE_BRANCH_COUNTERS = 1u << 19;

/// perf_event_attr.type.
enum EventType : std::uint32_t {
  PERF_TYPE_HARDWARE = 0,
  PERF_TYPE_SOFTWARE = 1,
  PERF_TYPE_TRACEPOINT = 2,
  PERF_TYPE_HW_CACHE = 3,
  PERF_TYPE_RAW = 4,
  PERF_TYPE_BREAKPOINT = 5,
};

/// Used values of perf_event_attr.config of PERF_TYPE_SOFTWARE.
inline constexpr std::uint64_t PERF_COUNT_SW_CPU_CLOCK = 0;
inline constexpr std::uint64_t PERF_COUNT_SW_TASK_CLOCK = 1;
inline constexpr std::uint64_t PERF_COUNT_SW_DUMMY = 9;
inline constexpr std::uint64_t PERF_COUNT_SW_BPF_OUTPUT = 10;

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
  HEADER_SIMPLEPERF = 128,  ///< the first of Android's simpleperf
  HEADER_SIMPLEPERF_META_INFO = 129,
  HEADER_FEATURES = 256,
};

/// Compression::type of HEADER_COMPRESSED.
inline constexpr std::uint32_t PERF_COMP_ZSTD = 1;

/// "PERF_RECORD_MMAP2", or "record type 99".
std::string name_of_record_type(std::uint32_t type);

/// "HOSTNAME", or "feature 99".
std::string name_of_feature(unsigned bit);

/// "hardware", "tracepoint", …; empty for the number of a PMU that the kernel gave out.
std::string_view name_of_event_type(std::uint32_t type);

/// The fields of a sample by name, "IP" and "TID", in the order of the bits; "bit 40" for one that
/// is not known here.
std::vector<std::string> names_of_sample_type(std::uint64_t sample_type);

}  // namespace skid::perfdata
