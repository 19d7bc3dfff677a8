#include "src/events/perf_names.h"

#include "src/instructions/counted.h"
#include "src/perfdata/generic_event.h"
#include "src/support/text.h"

#include <array>
#include <cstddef>
#include <string>

#include <linux/perf_event.h>

namespace skid::events {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};
struct Generic {
  std::array<std::uint64_t, 3> codes = {kNone, kNone, kNone};  ///< codes by ConfigLayout
  Counted counted = Counted::other;
};
/// By PERF_COUNT_HW_*.
constexpr std::array<Generic, 10> kGeneric{{{{0x3c, 0x76, 0x11}, Counted::cycles},
                                            {{0xc0, 0xc0, 0x08}, Counted::instructions},
                                            {{0x4f2e, 0xff60, 0x04}},
                                            {{0x412e, 0x0964, 0x03}},
                                            {{0xc4, 0xc2, kNone}, Counted::branches},
                                            {{0xc5, 0xc3, 0x10}, Counted::mispredicted},
                                            {{0x013c, kNone, 0x1d}, Counted::cycles},
                                            {},  // stalled cycles
                                            {},
                                            {{0x0300, kNone, kNone}, Counted::cycles}}};

/// Returns the row of a generic hardware event of perf; null for other names.
const Generic* find_generic(std::string_view name) {
  const auto* const event = perfdata::find_generic_event(name);
  const bool is_known = event != nullptr && event->type == PERF_TYPE_HARDWARE;
  return is_known ? &kGeneric.at(event->config) : nullptr;
}

struct Fixed {
  std::string_view name;
  std::uint64_t config;
};
constexpr std::array<Fixed, 6> kFixed{{{"inst_retired.any", 0xc0},
                                       {"inst_retired.any_p", 0xc0},
                                       {"cpu_clk_unhalted.ref", 0x0300},
                                       {"cpu_clk_unhalted.thread", 0x3c},
                                       {"cpu_clk_unhalted.core", 0x3c},
                                       {"cpu_clk_unhalted.thread_any", 0x20'003c}}};

/// The events of the cores `first` to `last`; a config of 0: the cores have none.
struct MemoryEvents {
  Core first, last;
  KernelEvent loads, stores;
};
/// ldlat=3, the kernel's threshold of load latency in cycles.
constexpr std::uint64_t kLatency = 3;
constexpr std::array<MemoryEvents, 5> kMemoryEvents{{
    {Core::nehalem, Core::westmere, {0x100b, kLatency}, {}},
    {Core::sandy_bridge, Core::ivy_bridge, {0x01cd, kLatency}, {0x02cd}},
    {Core::haswell, Core::icelake, {0x01cd, kLatency}, {0x82d0}},
    {Core::golden_cove, Core::coyote_cove, {0x01cd, kLatency}, {0x02cd}},
    {Core::gracemont, Core::arctic_wolf, {0x05d0, kLatency}, {0x06d0}},
}};

}  // namespace

std::optional<std::uint64_t> generic_event(ConfigLayout layout, std::string_view name) {
  const Generic* found = find_generic(name);
  const std::uint64_t code =
      found == nullptr ? kNone : found->codes.at(static_cast<std::size_t>(layout));
  return code == kNone ? std::nullopt : std::optional(code);
}

Counted counted_by_generic(std::string_view name) {
  const Generic* found = find_generic(name);
  return found == nullptr ? Counted::other : found->counted;
}

std::optional<std::uint64_t> code_of(ConfigLayout layout, std::uint32_t type,
                                     std::uint64_t config) {
  if (type == PERF_TYPE_HW_CACHE) return std::nullopt;
  if (type != PERF_TYPE_HARDWARE) return config;
  return generic_event(layout, perfdata::generic_name(type, config));
}

std::optional<std::uint64_t> fixed_counter_event(std::string_view name) {
  const Fixed* found = find_by(kFixed, &Fixed::name, lower_case(name));
  return found == nullptr ? std::nullopt : std::optional(found->config);
}

std::optional<KernelEvent> kernel_event(Core core, std::string_view name, std::string_view cpu) {
  if (name == "branch-brs" && cpu == "amd64_fam19h_zen3") return KernelEvent{0xc4};
  for (const MemoryEvents& events : kMemoryEvents) {
    if (core < events.first || core > events.last) continue;
    const KernelEvent event = name == "mem-loads"    ? events.loads
                              : name == "mem-stores" ? events.stores
                                                     : KernelEvent{};
    if (event.config != 0) return event;
  }
  return std::nullopt;
}

}  // namespace skid::events
