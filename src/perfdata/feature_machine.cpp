#include "src/perfdata/feature_machine.h"

#include "src/perfdata/feature_list.h"

#include <bit>

namespace skid::perfdata {
namespace {

/// In pipe mode a section is padded to whole words, so less than one behind its content is nothing.
constexpr std::size_t kPadding = 8;
/// perf has written no other version of HEADER_CACHE and HEADER_MEM_TOPOLOGY so far.
constexpr std::uint64_t kKnownVersion = 1;
constexpr unsigned kWordBits = 64;

CpuPlace read_place(ByteReader& reader) {
  CpuPlace place;
  place.core_id = reader.i32();
  place.socket_id = reader.i32();
  return place;
}

CacheLevel read_cache(ByteReader& reader) {
  CacheLevel cache;
  cache.level = reader.u32();
  cache.line_size = reader.u32();
  cache.sets = reader.u32();
  cache.ways = reader.u32();
  cache.type = reader.counted_text();
  cache.size = reader.counted_text();
  cache.cpus = reader.counted_text();
  return cache;
}

MemoryNode read_memory_node(ByteReader& reader) {
  MemoryNode node;
  node.node = reader.u64();
  reader.skip(8);  // the size of the bitmap, which stands in front of its words once more
  node.size = reader.u64();
  const std::uint64_t words = node.size / kWordBits + (node.size % kWordBits != 0 ? 1 : 0);
  if (words > reader.remaining() / sizeof(std::uint64_t)) {
    reader.fail();
    return node;
  }
  node.blocks.reserve(static_cast<std::size_t>(words));
  for (std::uint64_t i = 0; i < words; ++i) node.blocks.push_back(reader.u64());
  return node;
}

}  // namespace

std::uint64_t MemoryNode::block_count() const noexcept {
  std::uint64_t count = 0;
  std::uint64_t left = size;
  for (const std::uint64_t word : blocks) {
    const std::uint64_t mask = left < kWordBits ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{};
    count += static_cast<std::uint64_t>(std::popcount(word & mask));
    left -= left < kWordBits ? left : kWordBits;
  }
  return count;
}

void read_cpu_topology(ByteReader& reader, const std::optional<CpuCounts>& cpus,
                       CpuTopology& topology) {
  topology = {};
  read_texts(reader, topology.sockets);
  read_texts(reader, topology.cores);
  // Before Linux 4.4 perf ended the section here, before 5.3 behind the places.
  if (!cpus || reader.failed() || reader.remaining() < kPadding) return;
  read_list(reader, cpus->available, topology.cpus, read_place);
  if (reader.failed() || reader.remaining() < kPadding) return;
  read_texts(reader, topology.dies);
  for (CpuPlace& place : topology.cpus) {
    const std::int32_t die = reader.i32();
    if (reader.failed()) return;
    place.die_id = die;
  }
}

void read_numa_topology(ByteReader& reader, std::vector<NumaNode>& nodes) {
  read_list(reader, reader.u32(), nodes, [](ByteReader& node) {
    NumaNode numa;
    numa.node = node.u32();
    numa.total_kib = node.u64();
    numa.free_kib = node.u64();
    numa.cpus = node.counted_text();
    return numa;
  });
}

void read_caches(ByteReader& reader, std::vector<CacheLevel>& caches) {
  const std::uint32_t version = reader.u32();
  if (reader.failed() || version != kKnownVersion) return;
  read_list(reader, reader.u32(), caches, read_cache);
}

void read_memory_topology(ByteReader& reader, std::optional<MemoryTopology>& topology) {
  const std::uint64_t version = reader.u64();
  if (reader.failed() || version != kKnownVersion) return;
  MemoryTopology memory;
  memory.block_bytes = reader.u64();
  const std::uint64_t nodes = reader.u64();
  if (reader.failed()) return;
  read_list(reader, nodes, memory.nodes, read_memory_node);
  topology = std::move(memory);
}

void read_hybrid_topology(ByteReader& reader, std::vector<HybridPmu>& pmus) {
  read_list(reader, reader.u32(), pmus, [](ByteReader& pmu) {
    HybridPmu hybrid;
    hybrid.pmu = pmu.counted_text();
    hybrid.cpus = pmu.counted_text();
    return hybrid;
  });
}

void read_pmu_capabilities(ByteReader& reader, PmuCapabilities& capabilities) {
  read_list(reader, reader.u32(), capabilities, [](ByteReader& capability) {
    std::string name(capability.counted_text());
    return std::pair(std::move(name), std::string(capability.counted_text()));
  });
}

void read_named_pmu_capabilities(ByteReader& reader, std::vector<NamedPmuCapabilities>& pmus) {
  read_list(reader, reader.u32(), pmus, [](ByteReader& pmu) {
    NamedPmuCapabilities named;
    read_pmu_capabilities(pmu, named.capabilities);
    named.pmu = pmu.counted_text();
    return named;
  });
}

}  // namespace skid::perfdata
