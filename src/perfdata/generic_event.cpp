#include "src/perfdata/generic_event.h"

#include "src/support/text.h"

#include <array>

#include <linux/perf_event.h>

namespace skid::perfdata {
namespace {

constexpr std::uint32_t kHardware = PERF_TYPE_HARDWARE;
constexpr std::uint32_t kSoftware = PERF_TYPE_SOFTWARE;
/// Aliases follow the name that perf prints.
constexpr auto kGenericEvents =
    std::to_array<GenericEvent>({{"cycles", kHardware, 0},
                                 {"cpu-cycles", kHardware, 0},
                                 {"instructions", kHardware, 1},
                                 {"cache-references", kHardware, 2},
                                 {"cache-misses", kHardware, 3},
                                 {"branches", kHardware, 4},
                                 {"branch-instructions", kHardware, 4},
                                 {"branch-misses", kHardware, 5},
                                 {"bus-cycles", kHardware, 6},
                                 {"stalled-cycles-frontend", kHardware, 7},
                                 {"idle-cycles-frontend", kHardware, 7},
                                 {"stalled-cycles-backend", kHardware, 8},
                                 {"idle-cycles-backend", kHardware, 8},
                                 {"ref-cycles", kHardware, 9},
                                 {"cpu-clock", kSoftware, 0},
                                 {"task-clock", kSoftware, 1},
                                 {"page-faults", kSoftware, 2},
                                 {"faults", kSoftware, 2},
                                 {"context-switches", kSoftware, 3},
                                 {"cs", kSoftware, 3},
                                 {"cpu-migrations", kSoftware, 4},
                                 {"migrations", kSoftware, 4},
                                 {"minor-faults", kSoftware, 5},
                                 {"major-faults", kSoftware, 6},
                                 {"alignment-faults", kSoftware, 7},
                                 {"emulation-faults", kSoftware, 8},
                                 {"dummy", kSoftware, 9},
                                 {"bpf-output", kSoftware, 10},
                                 {"cgroup-switches", kSoftware, 11}});

}  // namespace

const GenericEvent* find_generic_event(std::string_view name) {
  return find_by(kGenericEvents, &GenericEvent::name, name);
}

std::string_view generic_name(std::uint32_t type, std::uint64_t config) {
  if (type == kHardware) config &= 0xffff'ffff;
  for (const GenericEvent& event : kGenericEvents) {
    if (event.type == type && event.config == config) return event.name;
  }
  return {};
}

}  // namespace skid::perfdata
