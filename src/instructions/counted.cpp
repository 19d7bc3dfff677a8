#include "src/instructions/counted.h"

#include <array>
#include <cstddef>

namespace skid::instructions {
namespace {

constexpr std::array kCounted = std::to_array<std::string_view>({
    "",
    "cycles",
    "instructions",
    "instructions of some sort",
    "loads",
    "locked loads",
    "loads that hit the L1",
    "loads that hit the L2",
    "loads that hit the L3",
    "loads that miss the L1",
    "loads that miss the L2",
    "loads that miss the L3",
    "loads from local memory",
    "misses of the last cache",
    "loads that cross a cache line",
    "stores",
    "stores that cross a cache line",
    "accesses that cross a cache line",
    "branches",
    "conditional branches",
    "taken conditional branches",
    "taken forward conditional branches",
    "taken backward conditional branches",
    "conditional branches not taken",
    "taken branches",
    "calls",
    "returns",
    "mispredicted branches",
    "mispredicted conditional branches",
    "mispredicted taken conditional branches",
    "mispredicted taken forward conditional branches",
    "mispredicted taken backward conditional branches",
    "mispredicted conditional branches not taken",
    "mispredicted taken branches",
    "mispredicted returns",
    "divisions",
    "divisions of floating-point numbers",
    "repetitions of string instructions",
    "micro-ops of the divider",
    "cycles of the divider",
    "software prefetches",
    "flushes of cache lines",
    "CPUID instructions",
});
static_assert(kCounted.size() == static_cast<std::size_t>(Counted::cpuids) + 1);

constexpr std::array<std::string_view, 5> kVerdicts{"can", "conditional", "maybe", "unknown",
                                                    "never"};

}  // namespace

std::string_view name_of(Counted counted) {
  return kCounted.at(static_cast<std::size_t>(counted));
}

std::string_view name_of(Verdict verdict) {
  return kVerdicts.at(static_cast<std::size_t>(verdict));
}

}  // namespace skid::instructions
