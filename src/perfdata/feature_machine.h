// The machine that recorded, as feature sections describe it: CPUs, caches, memory, PMUs.
#pragma once

#include "src/perfdata/bytes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::perfdata {

/// HEADER_NRCPUS.
struct CpuCounts {
  std::uint32_t available = 0;  ///< highest CPU number that is present, plus one
  std::uint32_t online = 0;
};

/// Where a CPU sits. -1 where the kernel did not know.
struct CpuPlace {
  std::int32_t core_id = -1;
  std::int32_t socket_id = -1;
  std::optional<std::int32_t> die_id;  ///< not before Linux 5.3
};

/// HEADER_CPU_TOPOLOGY. A list of CPUs is written as the kernel does: "0-3,8".
struct CpuTopology {
  std::vector<std::string> sockets;  ///< the CPUs of each socket ("cores" of the format)
  std::vector<std::string> dies;     ///< the CPUs of each die
  std::vector<std::string> cores;    ///< the CPUs of each core ("threads" of the format)
  std::vector<CpuPlace> cpus;        ///< by CPU number; bare where the recording does not tell
};

/// HEADER_NUMA_TOPOLOGY.
struct NumaNode {
  std::uint32_t node = 0;
  std::uint64_t total_kib = 0, free_kib = 0;
  std::string cpus;  ///< "0-3,8"
};

/// HEADER_CACHE, as /sys/devices/system/cpu/cpu*/cache shows it.
struct CacheLevel {
  std::uint32_t level = 0;
  std::uint32_t line_size = 0;  ///< bytes
  std::uint32_t sets = 0, ways = 0;
  std::string type;  ///< "Data", "Instruction", "Unified"
  std::string size;  ///< "32K"
  std::string cpus;  ///< those that share it, "0-1"
};

/// A node of HEADER_MEM_TOPOLOGY: the blocks of physical memory that belong to it.
struct MemoryNode {
  std::uint64_t node = 0;
  std::uint64_t size = 0;             ///< bits of `blocks` that mean something
  std::vector<std::uint64_t> blocks;  ///< bitmap; bit 0 of the first word is block 0

  /// How many blocks the node has.
  std::uint64_t block_count() const noexcept;
};

struct MemoryTopology {
  std::uint64_t block_bytes = 0;
  std::vector<MemoryNode> nodes;
};

/// HEADER_HYBRID_TOPOLOGY: a kind of core and its CPUs.
struct HybridPmu {
  std::string pmu;   ///< "cpu_core"
  std::string cpus;  ///< "0-3"
};

/// What a PMU says of itself in /sys/bus/event_source/devices/PMU/caps: name and value,
/// "max_precise" and "3".
using PmuCapabilities = std::vector<std::pair<std::string, std::string>>;

/// HEADER_PMU_CAPS: the capabilities of a PMU other than "cpu".
struct NamedPmuCapabilities {
  std::string pmu;
  PmuCapabilities capabilities;
};

// Each reads the content of one section and leaves `reader` failed when the section ends before its
// content does; what came before is kept.

/// `cpus`: of HEADER_NRCPUS. Without it the places of the CPUs cannot be told from what follows
/// them and are left out.
void read_cpu_topology(ByteReader& reader, const std::optional<CpuCounts>& cpus,
                       CpuTopology& topology);
void read_numa_topology(ByteReader& reader, std::vector<NumaNode>& nodes);
/// A version of the section that is not known here leaves `caches` or `topology` as they are.
void read_caches(ByteReader& reader, std::vector<CacheLevel>& caches);
void read_memory_topology(ByteReader& reader, std::optional<MemoryTopology>& topology);
void read_hybrid_topology(ByteReader& reader, std::vector<HybridPmu>& pmus);
void read_pmu_capabilities(ByteReader& reader, PmuCapabilities& capabilities);
void read_named_pmu_capabilities(ByteReader& reader, std::vector<NamedPmuCapabilities>& pmus);

}  // namespace skid::perfdata
