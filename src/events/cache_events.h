// perf's generic cache events ("L1-dcache-loads"), PERF_TYPE_HW_CACHE of perf_event_attr, and the
// codes that the kernel takes for them.
#pragma once

#include "src/events/cpu.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skid::events {

/// Returns perf_event_attr.config of a generic cache event: cache, operation << 8, result << 16.
/// Names are those that perf list prints (evsel__hw_cache in tools/perf/util/evsel.c), in any case.
/// Other names give nullopt.
std::optional<std::uint64_t> cache_event_config(std::string_view name);

/// Returns the code that the kernel takes for a generic cache event on a core.
/// Source: *_hw_cache_event_ids in arch/x86/events/intel/core.c and amd/core.c (Zen) of Linux 7.2.
/// `config`: perf_event_attr.config; the upper half, a PMU's number, is ignored. nullopt: the
/// kernel refuses it, needs an MSR besides (last level, nodes), or is none of x86.
std::optional<std::uint64_t> cache_event(Core core, ConfigLayout layout, std::uint64_t config);

}  // namespace skid::events
