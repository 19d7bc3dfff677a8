#include "src/perfdata/format.h"

#include "src/support/text.h"

#include <cstddef>

#include <fmt/format.h>

namespace skid::perfdata {

std::string name_of_feature(unsigned bit) {
  constexpr std::string_view kNames =
      "TRACING_DATA BUILD_ID HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC CPUID TOTAL_MEM "
      "CMDLINE EVENT_DESC CPU_TOPOLOGY NUMA_TOPOLOGY BRANCH_STACK PMU_MAPPINGS GROUP_DESC "
      "AUXTRACE STAT CACHE SAMPLE_TIME MEM_TOPOLOGY CLOCKID DIR_FORMAT BPF_PROG_INFO BPF_BTF "
      "COMPRESSED CPU_PMU_CAPS CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS CPU_DOMAIN_INFO";
  // Android's simpleperf, system/extras/simpleperf/record_file_format.h.
  constexpr std::string_view kSimpleperfNames =
      "FILE META_INFO DEBUG_UNWIND DEBUG_UNWIND_FILE FILE2 ETM_BRANCH_LIST INIT_MAP";
  const auto name = bit < HEADER_SIMPLEPERF
                        ? word_at(bit - std::size_t{1}, kNames)  // HEADER_RESERVED has none
                        : word_at(bit - HEADER_SIMPLEPERF, kSimpleperfNames);
  return name.empty() ? fmt::format("feature {}", bit) : std::string(name);
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

}  // namespace skid::perfdata
